import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { tryDecode, tryDecodeURIComponent } from "hono/utils/url";
import { paths } from "../contract.ts";
import { errorKinds, ServiceError } from "../errors.ts";
import { type Operation, prefixes } from "../operations/operation.ts";
import { ApiRequest, readHeaders } from "./api-request.ts";
import { type ObserveParts, observe } from "./observe.ts";
import { type PipelineParts, pipeline, type Serve } from "./pipeline.ts";
import { newRecord, type Reply, type RequestRecord, replyToFailure } from "./request.ts";

export interface EntryParts extends PipelineParts, ObserveParts {
  /** The operations to serve. */
  readonly operations: readonly Operation[];
  /** Serves what is not under `/v1`. */
  readonly pages: RequestListener;
  /** Called for every request that failed at the store. */
  readonly onStoreFailure: () => void;
}

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

const send = (outgoing: ServerResponse, { status, headers, body, recycle }: Reply): void => {
  if (body instanceof ReadableStream) {
    outgoing.writeHead(status, headers);
    void sendStream(outgoing, body, recycle);
    return;
  }
  const length = body === null ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  outgoing.writeHead(status, { "content-length": length, ...headers });
  outgoing.end(body);
};

/**
 * The id `.` or `..`, which is the root namespace beside an equal delimiter. The URL standard removes such a segment, even
 * if it is escaped. Others of the same path are left to it.
 */
const dotId = /^\/v1\/(?:namespace|table)\/(?:\.|%2e){1,2}\/(?!(?:[^?]*\/)?(?:\.|%2e){1,2}(?:[/?]|$))/i;

/** A target that the URL standard leaves unchanged, if no segment is dots. */
const plainTarget = /^\/[!$%&'()*+,\-.\w:;=@~/]*(?:\?[!$%&()*+,\-./\w:;=?@~]*)?$/;
const dotSegment = /\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

/** Path and query string, escaped as a URL has them. */
const readAddress = (target: string): { readonly path: string; readonly query: string } => {
  if (dotId.test(target) || (plainTarget.test(target) && !dotSegment.test(target))) {
    const at = target.indexOf("?");
    return at === -1 ? { path: target, query: "" } : { path: target.slice(0, at), query: target.slice(at) };
  }
  const { pathname, search } = new URL(target.startsWith("/") ? `http://localhost${target}` : target);
  return { path: pathname, query: search };
};

/** A path as routes name it: unescaped, except for slashes, and without the slash that LanceDB's client appends. */
const routedPath = (path: string): string => {
  const unescaped = path.includes("%") ? tryDecode(path.replaceAll("%25", "%2525"), decodeURI) : path;
  return unescaped.endsWith("/") && unescaped.length > 1 ? unescaped.slice(0, -1) : unescaped;
};

/** Why operations of the catalog's specification are missing that a client may count on. */
const unsupported: Readonly<Record<string, string>> = {
  register:
    "the catalog gives each table its directory; copy the files with create and insert, or write them after declare",
  deregister: "a table is its files; drop removes both",
};

/** Tells how a method is served, or throws. */
type Route = (method: string) => Serve;

const operationRoute =
  ({ methods }: Operation, serve: Serve): Route =>
  (method) => {
    if (methods.some((each) => each === method) || (method === "HEAD" && methods.includes("GET"))) return serve;
    const allow = methods.join(", ");
    throw new ServiceError(0, {
      transport: "methodNotAllowed",
      message: `method not allowed; use ${allow}`,
      headers: { allow },
    });
  };

const notSupported =
  (message: string): Route =>
  () => {
    throw new ServiceError(0, { message });
  };

/** An operation of the catalog that this server lacks is 406: clients read 404 as "no such table" and retry 5xx. */
const unknownOperation = notSupported(`${errorKinds[0].message}; see ${paths.openapi}`);

interface Found {
  readonly serve: Serve;
  readonly parameters: Readonly<Record<string, string>>;
}

const idSegment = /^(\/v1\/[a-z]+\/)[^/]+/;

/** Finds the operation at a path that {@link routedPath} returned, and the parameters of the path. */
const routesOf = (parts: EntryParts): ((method: string, path: string) => Found) => {
  const routes = new Map<string, Route>();
  for (const operation of parts.operations)
    routes.set(`${prefixes[operation.target]}${operation.path}`, operationRoute(operation, pipeline(operation, parts)));
  for (const [path, reason] of Object.entries(unsupported))
    routes.set(`${prefixes.table}${path}`, notSupported(`${path} is not supported: ${reason}`));
  const patterns = [...routes].map(([path, route]) => ({
    pattern: new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
    route,
  }));
  return (method, path) => {
    // Most have no parameter but the id.
    const known = routes.get(path) ?? routes.get(path.replace(idSegment, "$1:id"));
    if (known !== undefined) return { serve: known(method), parameters: {} };
    for (const { pattern, route } of patterns) {
      const sent = pattern.exec(path)?.groups;
      if (sent === undefined) continue;
      const parameters = Object.entries(sent).map(([name, value]) => [name, tryDecodeURIComponent(value)]);
      return { serve: route(method), parameters: Object.fromEntries(parameters) };
    }
    return { serve: unknownOperation(method), parameters: {} };
  };
};

const isOperation = /^\/v1(?:\/|$)/;

/**
 * The way in of every request. Operations are served on Node's own messages: hono's web requests and responses take a seventh of
 * the CPU of `stats`. Pages keep them.
 */
export const createEntry = (parts: EntryParts): RequestListener => {
  const find = routesOf(parts);
  const fail = (error: unknown, record: RequestRecord): Reply => {
    const reply = replyToFailure(error, record);
    if (record.failure?.dependency === "store") parts.onStoreFailure();
    return reply;
  };
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { path, query } = readAddress(incoming.url ?? "");
    const routed = routedPath(path);
    if (!isOperation.test(routed)) {
      parts.pages(incoming, outgoing);
      return;
    }
    const { method = "" } = incoming;
    const headers = readHeaders(incoming);
    const record = newRecord(headers.get("x-request-id"));
    const respond = async (): Promise<Reply> => {
      const { serve, parameters } = find(method, routed);
      return serve(new ApiRequest({ incoming, outgoing, headers, path, query, parameters }), record);
    };
    void observe(
      parts,
      record,
      method,
      (name) => headers.get(name),
      () => respond().catch((error: unknown) => fail(error, record)),
    ).then((reply) => send(outgoing, reply));
  };
};
