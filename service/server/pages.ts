import { Hono } from "hono";
import { paths } from "../contract.ts";
import { ServiceError } from "../errors.ts";
import { type ObserveParts, observe } from "./observe.ts";
import { type AppEnv, answerHeaders, newRecord, notModified, type Reply, replyToFailure } from "./request.ts";

export interface PagesParts extends ObserveParts {
  /** The OpenAPI document and its entity tag. */
  readonly openapi: { readonly text: string; readonly etag: string };
  /** Pages for browsers. */
  readonly pages: readonly Hono<AppEnv>[];
}

const toResponse = ({ status, headers, body }: Reply): Response => new Response(body, { status, headers });

/** What the service serves beside its operations. */
export const createPages = ({ openapi, pages, ...telemetry }: PagesParts): Hono<AppEnv> => {
  const app = new Hono<AppEnv>({ strict: false });
  app.use(async (context, next) => {
    const header = (name: string) => context.req.header(name);
    const record = newRecord(header("x-request-id"));
    context.set("record", record);
    await observe(telemetry, record, context.req.method, header, async () => {
      await next();
      return context.res;
    });
  });
  app.get(paths.openapi, notModified, (context) => {
    const headers = { ...answerHeaders(context.get("record")), etag: openapi.etag, "cache-control": "no-cache" };
    return context.body(openapi.text, 200, { ...headers, "content-type": "application/json" });
  });
  for (const page of pages) app.route("/", page);
  app.all("*", () => {
    throw new ServiceError(0, { transport: "noSuchRoute", message: `not found; see ${paths.openapi}` });
  });
  app.onError((error, context) => toResponse(replyToFailure(error, context.get("record") ?? newRecord(undefined))));
  return app;
};
