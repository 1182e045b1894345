import { isDeepStrictEqual } from "node:util";

/** Thrown by a check that cannot run; the message says why. */
export class Skipped extends Error {}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  // biome-ignore lint/suspicious/noExplicitAny: a check knows what it asked for
  readonly json: () => any;
}

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the token's header; undefined sends none. */
  readonly authorization?: string | undefined;
}

export interface Client {
  send(path: string, request: Sent): Promise<Reply>;
}

const timeoutMilliseconds = 60_000;

export const createClient = (base: URL, token: string): Client => ({
  send: async (path, request) => {
    const { method = "POST", body = {}, contentType = "application/json", headers = {} } = request;
    const authorization = "authorization" in request ? request.authorization : `Bearer ${token}`;
    const content = body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body);
    const response = await fetch(new URL(base.pathname.replace(/\/$/, "") + path, base), {
      method,
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMilliseconds),
      headers: {
        ...(method === "GET" ? {} : { "content-type": contentType }),
        ...(authorization === undefined ? {} : { authorization }),
        ...headers,
      },
      ...(method === "GET" ? {} : { body: content }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const json = () => {
      try {
        return JSON.parse(Buffer.from(bytes).toString());
      } catch {
        throw new Error(`${method} ${path} returned ${response.status} with a body that is not JSON`);
      }
    };
    return { status: response.status, headers: response.headers, bytes, json };
  },
});

/** @throws Skipped if the token lacks the scope */
export const expectStatus = (expected: number, reply: Reply): Reply => {
  if (reply.status === expected) return reply;
  const text = Buffer.from(reply.bytes).toString().slice(0, 300);
  if (reply.status === 403 && expected !== 401) throw new Skipped(`the token does not permit it: ${text}`);
  throw new Error(`status ${reply.status} instead of ${expected}: ${text}`);
};

export const expectEqual = (what: string, found: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(found, expected))
    throw new Error(`${what} is ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
};
