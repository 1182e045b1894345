import type { getRequestListener, HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { paths } from "../contract.ts";
import { errorKinds, ServiceError } from "../errors.ts";
import { type Operation, prefixes } from "../operations/operation.ts";
import { RoutedRequest } from "./api-request.ts";
import { type Direct, send, serveDirectly } from "./direct.ts";
import { type ObserveParts, observe } from "./observe.ts";
import { type PipelineParts, pipeline } from "./pipeline.ts";
import {
  type AppEnv,
  answerHeaders,
  newRecord,
  notModified,
  type Reply,
  type RequestRecord,
  replyToFailure,
} from "./request.ts";
import { routedPath } from "./request-url.ts";

type FetchCallback = Parameters<typeof getRequestListener>[0];

export interface AppParts extends PipelineParts, ObserveParts {
  /** The operations to serve. */
  readonly operations: readonly Operation[];
  /** The OpenAPI document and its entity tag. */
  readonly openapi: { readonly text: string; readonly etag: string };
  /** Called for every request that failed at the store. */
  readonly onStoreFailure: () => void;
  /** Pages for browsers beside the API. */
  readonly pages: readonly Hono<AppEnv>[];
}

export interface App {
  /** Serves every request. Without a socket or an environment: tests use `router.request()`. */
  readonly router: Hono<AppEnv>;
  /** The same with Node's own messages, to which it writes streams itself. */
  readonly fetch: FetchCallback;
  /** Serves most requests for operations, without the router. */
  readonly direct: Direct;
}

/** Why operations of the catalog's specification are missing that a client may count on. */
const unsupported: Readonly<Record<string, string>> = {
  register:
    "the catalog gives each table its directory; copy the files with create and insert, or write them after declare",
  deregister: "a table is its files; drop removes both",
};

/** Responses that are streams. */
const streams = new WeakMap<Response, Reply>();

const toResponse = (reply: Reply): Response => {
  const { status, headers, body } = reply;
  const response = new Response(body, { status, headers });
  if (body instanceof ReadableStream) streams.set(response, reply);
  return response;
};

/** The API as a function of its parts. */
export const createApp = (parts: AppParts): App => {
  const fail = (error: unknown, record: RequestRecord): Reply => {
    const reply = replyToFailure(error, record);
    if (record.failure?.dependency === "store") parts.onStoreFailure();
    return reply;
  };
  const pipelines = parts.operations.map((operation) => ({ operation, serve: pipeline(operation, parts) }));

  // LanceDB's client appends a slash to every table route.
  const app = new Hono<AppEnv>({ getPath: routedPath });

  app.use(async (context, next) => {
    const header = (name: string) => context.req.header(name);
    const record = newRecord(header("x-request-id"));
    context.set("record", record);
    await observe(parts, record, context.req.method, header, async () => {
      await next();
      return context.res;
    });
  });

  for (const { operation, serve } of pipelines) {
    const path = `${prefixes[operation.target]}${operation.path}`;
    app.on([...operation.methods], path, async (context) =>
      toResponse(await serve(new RoutedRequest(context), context.get("record"))),
    );
    app.all(path, () => {
      const allow = operation.methods.join(", ");
      throw new ServiceError(0, {
        transport: "methodNotAllowed",
        message: `method not allowed; use ${allow}`,
        headers: { allow },
      });
    });
  }

  app.get(paths.openapi, notModified, (context) => {
    const { text, etag } = parts.openapi;
    const headers = { ...answerHeaders(context.get("record")), etag, "cache-control": "no-cache" };
    return context.body(text, 200, { ...headers, "content-type": "application/json" });
  });

  for (const page of parts.pages) app.route("/", page);

  for (const [path, reason] of Object.entries(unsupported))
    app.all(`/v1/table/:id/${path}`, () => {
      throw new ServiceError(0, { message: `${path} is not supported: ${reason}` });
    });

  // An operation of the catalog that this server lacks is 406: clients read 404 as "no such table" and retry 5xx.
  app.all("/v1/*", () => {
    throw new ServiceError(0, { message: `${errorKinds[0].message}; see ${paths.openapi}` });
  });
  app.all("*", () => {
    throw new ServiceError(0, {
      transport: "noSuchRoute",
      message: `not found; see ${paths.openapi}`,
    });
  });

  app.onError((error, context) => toResponse(fail(error, context.get("record") ?? newRecord(undefined))));
  const fetch: FetchCallback = async (request, bindings) => {
    const response = await app.fetch(request, bindings);
    const stream = streams.get(response);
    if (stream === undefined) return response;
    // An adapter's own loop does not tell when a part is sent, and reads ahead of it.
    send((bindings as HttpBindings).outgoing, stream);
    return RESPONSE_ALREADY_SENT;
  };
  return { router: app, fetch, direct: serveDirectly({ ...parts, pipelines, fail }) };
};
