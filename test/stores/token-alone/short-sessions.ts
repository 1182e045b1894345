import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface ShortSessions {
  /** Address for clients, and of STS. */
  readonly base: string;
  /** Life of the next sessions, in seconds. */
  seconds: number;
  /** Sessions that were opened. */
  readonly opened: () => number;
  /** Sessions whose keys signed a request that writes. */
  readonly wroteWith: () => number;
  /** Requests that came with keys past their end. */
  readonly late: () => number;
  close(): void;
}

const textBetween = (text: string, tag: string): string => new RegExp(`<${tag}>(.*?)</${tag}>`).exec(text)?.[1] ?? "";

/**
 * MinIO whose sessions end after some seconds: the least that STS knows is 15 minutes. The proxy tells an early end, and
 * refuses the keys after it. The signature covers the host, which therefore passes as it came.
 */
export const startShortSessions = async (to: string): Promise<ShortSessions> => {
  const { hostname, port } = new URL(to);
  const ends = new Map<string, number>();
  const writers = new Set<string>();
  let late = 0;
  const pass = (
    incoming: IncomingMessage,
    body: Buffer,
  ): Promise<{ status: number; headers: string[]; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const { method, url: path, rawHeaders: headers } = incoming;
      const sent = request({ hostname, port, method, path, headers }, (answer) => {
        buffer(answer).then(
          (text) => resolve({ status: answer.statusCode ?? 502, headers: answer.rawHeaders, body: text }),
          reject,
        );
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(incoming);
    const [, key = ""] = /Credential=([^/]+)\//.exec(incoming.headers.authorization ?? "") ?? [];
    const end = ends.get(key);
    if (end !== undefined && Date.now() > end) {
      late++;
      response.writeHead(403, { "content-type": "application/xml" });
      response.end("<Error><Code>ExpiredToken</Code><Message>The session has ended</Message></Error>");
      return;
    }
    if (end !== undefined && incoming.method === "PUT") writers.add(key);
    const answer = await pass(incoming, body);
    const isSession = incoming.method === "POST" && incoming.url === "/" && body.includes("Action=AssumeRole");
    if (!isSession) {
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body);
      return;
    }
    const told = Math.floor(Date.now() / 1000 + sessions.seconds) * 1000;
    const text = answer.body
      .toString()
      .replace(/<Expiration>.*?<\/Expiration>/, `<Expiration>${new Date(told).toISOString()}</Expiration>`);
    ends.set(textBetween(text, "AccessKeyId"), told);
    response.writeHead(answer.status, { "content-type": "application/xml" });
    response.end(text);
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sessions: ShortSessions = {
    seconds: 900,
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    opened: () => ends.size,
    wroteWith: () => writers.size,
    late: () => late,
    close: () => void server.close(),
  };
  return sessions;
};
