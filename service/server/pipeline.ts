import type { Context } from "hono";
import { type Authenticator, authorize, authorizeNamespace, readCredentials } from "../auth/index.ts";
import type { RequestLimits } from "../guard/limits.ts";
import { type IdInRequest, readDelimiter, readNamespaceId, readTableId, rootNamespace } from "../guard/table-id.ts";
import {
  Answer,
  type GateName,
  type Media,
  type Operation,
  prefixes,
  type Targets,
  type Tools,
} from "../operations/operation.ts";
import { commonBody } from "../operations/shared/common-fields.ts";
import type { Gate } from "./admission.ts";
import { readBody } from "./body.ts";
import { readAtLeast } from "./consistency-headers.ts";
import { contextEntries } from "./context-entries.ts";
import { parseInput } from "./parse-input.ts";
import type { PrincipalCap } from "./principal-limit.ts";
import { type AppEnv, answerHeaders } from "./request.ts";

export interface EndpointParts {
  readonly tools: Tools;
  readonly authenticator: Authenticator;
  readonly limits: RequestLimits;
  readonly gates: Readonly<Record<GateName, Gate>>;
  readonly cap: PrincipalCap;
}

/** The id's segment of the path as it was sent: the router's own parameter is decoded, and a decoded `+` is ambiguous. */
const rawId = (url: string, before: string): string => {
  const start = url.indexOf(before) + before.length;
  return url.slice(start, url.indexOf("/", start));
};

/** Whether the path ends with a slash; the router has taken it off its own. */
const endsWithSlash = (url: string): boolean => {
  const query = url.indexOf("?");
  return url.charAt((query === -1 ? url.length : query) - 1) === "/";
};

const readTarget: {
  readonly [Kind in keyof Targets]: (request: IdInRequest, limits: RequestLimits) => Targets[Kind];
} = {
  table: readTableId,
  namespace: readNamespaceId,
  root: () => rootNamespace,
};

const authorizeTarget: Readonly<Record<keyof Targets, typeof authorize>> = {
  table: authorize,
  namespace: authorizeNamespace,
  root: authorizeNamespace,
};

const mediaTypes: Readonly<Record<Media, Readonly<Record<string, string>>>> = {
  json: { "content-type": "application/json" },
  arrow: { "content-type": "application/vnd.apache.arrow.file" },
  empty: {},
};

const encode: Readonly<Record<Media, (content: unknown) => string | Uint8Array<ArrayBuffer> | null>> = {
  json: (content) => JSON.stringify(content),
  arrow: (content) => content as Uint8Array<ArrayBuffer>,
  empty: () => null,
};

/**
 * The way of every request, in this order: who is it (before its body costs anything), what does it say, what is it
 * about, may they, is there room, and only then the operation.
 */
export const endpoint = (operation: Operation, parts: EndpointParts) => {
  const { tools, authenticator, limits, gates, cap } = parts;
  const { target: kind, media = "json" } = operation;
  const { gate } = operation;
  const gateOf =
    typeof gate === "function"
      ? (body: unknown, parameters: Readonly<Record<string, unknown>>) => gates[gate(body, parameters)]
      : () => gates[gate];
  const before = prefixes[kind].slice(0, prefixes[kind].indexOf(":id"));
  return async (context: Context<AppEnv>): Promise<Response> => {
    const record = context.get("record");
    record.operation = operation.name;
    const { headers } = context.req.raw;
    const principal = await authenticator.authenticate(readCredentials(headers));
    record.principal = principal.subject;

    const raw = context.req.method === "GET" ? {} : await readBody(context, limits);
    record.body = raw;
    const common = parseInput(commonBody, raw);
    record.context = contextEntries(headers, common.context);
    const sent = context.req.query("delimiter");
    const delimiter = readDelimiter(sent);
    const rawPath = rawId(context.req.url, before);
    const target = readTarget[kind]({ rawPath, delimiter: sent, body: common.id }, limits);
    record.table = target.key;
    authorizeTarget[kind](principal, operation.scope, target.parts);

    const body = parseInput(operation.body, raw);
    const parameters =
      operation.parameters === undefined
        ? {}
        : parseInput(operation.parameters, { ...context.req.query(), ...context.req.param() });
    const dialect = endsWithSlash(context.req.url) ? "lancedb" : "catalog";
    const call = { parameters, dialect, delimiter, principal, atLeast: readAtLeast(headers) } as const;
    // The issuer and the operator may have given the same name to two callers.
    const caller = `${principal.method} ${principal.subject}`;
    const { signal } = context.req.raw;
    const result = await cap.run(caller, () =>
      gateOf(body, parameters).run(() => operation.handle(tools, target, body, call), { caller, signal }),
    );
    const answer = result instanceof Answer ? result : new Answer(result, {});
    // Made in one go: headers that are set one by one cost a `Headers` object, an eighth of what a small answer costs.
    return new Response(encode[media](answer.content), {
      headers: { ...answerHeaders(record), ...mediaTypes[media], ...operation.headers, ...answer.headers },
    });
  };
};
