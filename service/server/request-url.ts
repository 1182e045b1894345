import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { getPathNoStrict } from "hono/utils/url";

/**
 * The id `.` or `..`, which is the root namespace beside an equal delimiter. The URL standard removes such a segment, even
 * if it is escaped. Others of the same path are left to it.
 */
const dotId = /^\/v1\/(?:namespace|table)\/(?:\.|%2e){1,2}\/(?!(?:[^?]*\/)?(?:\.|%2e){1,2}(?:[/?]|$))/i;

const rawTarget = (env: unknown): string | undefined => {
  const target = (env as { incoming?: IncomingMessage } | undefined)?.incoming?.url;
  return target !== undefined && dotId.test(target) ? target : undefined;
};

/** The request's URL, or its target as sent where a URL cannot express it. */
export const requestUrl = (context: Context): string => rawTarget(context.env) ?? context.req.url;

/** The path that the router sees: without a slash at the end, which LanceDB's client appends to every table route. */
export const routedPath = (request: Request, options?: { readonly env?: unknown }): string => {
  const target = rawTarget(options?.env);
  return target === undefined ? getPathNoStrict(request) : target.replace(/\/?(?:\?.*)?$/s, "");
};
