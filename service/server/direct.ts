import type { IncomingMessage, ServerResponse } from "node:http";
import type { Operation } from "../operations/operation.ts";
import { NodeRequest, readHeaders } from "./api-request.ts";
import type { BodyLimits } from "./body.ts";
import { type ObserveParts, observe } from "./observe.ts";
import type { Serve } from "./pipeline.ts";
import { newRecord, type Reply, type RequestRecord } from "./request.ts";

/** Handles a request, or returns false and leaves it to the router. */
export type Direct = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/** An address that the URL standard leaves unchanged: one id, one operation, a query string. */
const plainTarget =
  /^\/v1\/(table|namespace)\/([!$%&'()*+,\-.0-9:;=@A-Z[\]_a-z~]+)\/([a-z_/]+?)\/?(?:\?[!$%&-;=?@A-Z[\]_a-z~]*)?$/;
const dotId = /^(?:\.|%2e){1,2}$/i;
const plainHost = /^[a-z0-9._-]+(?::(?:\d{1,4}|[1-5]\d{4}))?$/;

/** Whether the whole body is small enough to be read, or absent. */
const hasPlainBody = (method: string, headers: ReadonlyMap<string, string>, maxBytes: number): boolean => {
  if (headers.has("transfer-encoding")) return false;
  const declared = headers.get("content-length");
  return method === "GET" ? declared === undefined : declared !== undefined && Number(declared) <= maxBytes;
};

/** Resolves when the system has the bytes, or the connection has ended. */
const written = (outgoing: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      outgoing.off("close", end);
      resolve();
    };
    outgoing.once("close", end);
    outgoing.write(bytes, end);
  });

/**
 * Writes a stream as fast as its client takes it: the next part is asked for when the one before it is sent. A failure, of
 * which the client has read a part, closes the connection.
 */
const sendStream = async (
  outgoing: ServerResponse,
  body: ReadableStream<Uint8Array>,
  recycle: Reply["recycle"],
): Promise<void> => {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  outgoing.once("close", cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return;
      if (done) break;
      await written(outgoing, value);
      if (outgoing.destroyed) return;
      recycle?.(value);
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
};

export const send = (outgoing: ServerResponse, { status, headers, body, recycle }: Reply): void => {
  if (body instanceof ReadableStream) {
    outgoing.writeHead(status, headers);
    void sendStream(outgoing, body, recycle);
    return;
  }
  const length = body === null ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  outgoing.writeHead(status, { ...headers, "content-length": length });
  outgoing.end(body);
};

const keyOf = (method: string, target: string, path: string): string => `${method} ${target} ${path}`;

export interface DirectParts extends ObserveParts {
  readonly pipelines: readonly { readonly operation: Operation; readonly serve: Serve }[];
  readonly limits: BodyLimits;
  /** The response to a request that failed. */
  readonly fail: (error: unknown, record: RequestRecord) => Reply;
}

/**
 * Serves operations on Node's own messages. Requests whose address, Host or body needs more care are left to the router,
 * and so is all that is not an operation: the router's web requests and responses take a tenth of a small operation's time.
 */
export const serveDirectly = ({ pipelines, limits, fail, ...telemetry }: DirectParts): Direct => {
  const routes = new Map<string, { readonly serve: Serve; readonly receivesRows: boolean }>();
  for (const { operation, serve } of pipelines)
    for (const method of operation.methods)
      routes.set(keyOf(method, operation.target, operation.path), { serve, receivesRows: operation.input === "arrow" });

  return (incoming, outgoing) => {
    const [, target = "", id = "", path = ""] = plainTarget.exec(incoming.url ?? "") ?? [];
    const { method = "" } = incoming;
    const route = routes.get(keyOf(method, target, path));
    if (route === undefined || dotId.test(id)) return false;
    const { serve, receivesRows } = route;
    const headers = readHeaders(incoming);
    if (!plainHost.test(headers.get("host") ?? "localhost")) return false;
    // The rows of a write may be large or of unknown length: the pipeline limits them.
    if (!receivesRows && !hasPlainBody(method, headers, limits.maxBodyBytes)) return false;
    const request = new NodeRequest(incoming, outgoing, headers);
    const record = newRecord(headers.get("x-request-id"));
    const header = (name: string) => headers.get(name);
    void observe(telemetry, record, request.method, header, () =>
      serve(request, record).catch((error: unknown) => fail(error, record)),
    ).then((reply) => send(outgoing, reply));
    return true;
  };
};
