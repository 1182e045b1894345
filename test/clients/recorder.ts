import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request of a client and its response, as sent over the network. */
export interface Exchange {
  readonly method: string;
  /** Path and query string, as sent. */
  readonly path: string;
  readonly requestBody: string;
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
}

/** A proxy between a client and the service that records every request and changes nothing. */
export interface Recorder {
  readonly endpoint: string;
  /** Exchanges since the last call. */
  take(): Exchange[];
  close(): void;
}

export const startRecorder = async (port: number): Promise<Recorder> => {
  let exchanges: Exchange[] = [];

  const forward = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = "", url = "", rawHeaders } = incoming;
    const requestBody = await buffer(incoming);
    const onward = request({ host: "127.0.0.1", port, method, path: url, headers: rawHeaders });
    onward.end(requestBody);
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      onward.once("response", resolve);
      onward.once("error", reject);
    });
    const body = await buffer(reply);
    exchanges.push({
      method,
      path: url,
      requestBody: requestBody.toString(),
      status: reply.statusCode ?? 0,
      contentType: reply.headers["content-type"],
      body: body.toString(),
    });
    answer.writeHead(reply.statusCode ?? 0, reply.rawHeaders);
    answer.end(body);
  };

  const server = createServer((incoming, answer) => {
    forward(incoming, answer).catch(() => answer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = exchanges;
      exchanges = [];
      return taken;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
