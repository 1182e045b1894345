import { isDeepStrictEqual } from "node:util";
import { parseAccept } from "hono/utils/accept";
import { z } from "zod";
import {
  type Authenticator,
  authorize,
  authorizeNamespace,
  type HeaderSource,
  type Principal,
  readCredentials,
} from "../auth/index.ts";
import { forLanceDb, invalid, type ServiceError } from "../errors.ts";
import {
  type IdInRequest,
  type IdLimits,
  readDelimiter,
  readFunctionId,
  readNamespaceId,
  readTableId,
  rootNamespace,
} from "../guard/table-id.ts";
import { maxPlanLength } from "../lance/reads/plan-text.ts";
import {
  type AdmissionClass,
  ByteStream,
  hasContent,
  isWrite,
  type Media,
  type Operation,
  OperationResponse,
  type Targets,
  type Tools,
} from "../operations/operation.ts";
import { commonBody, commonShape, nestedCommonBody, nestingKeys } from "../operations/shared/common-fields.ts";
import { currentCall } from "../operations/shared/current-call.ts";
import type { MinimumState } from "../query/model.ts";
import { unknownField } from "../query/unknown-field.ts";
import type { Log } from "../telemetry/log.ts";
import { scrub } from "../telemetry/scrub.ts";
import type { AdmissionLimit } from "./admission.ts";
import type { ApiRequest } from "./api-request.ts";
import { type BodyLimits, isArrow, mostBytesOf, readBody, readSmallBytes } from "./body.ts";
import { type ByteBudget, Reservation, smallBytes } from "./byte-budget.ts";
import { contextEntries } from "./context-entries.ts";
import { parseInput } from "./parse-input.ts";
import type { PrincipalLimit } from "./principal-limit.ts";
import { answerHeaders, type Reply, type RequestRecord } from "./request.ts";
import { sendStream } from "./send-stream.ts";
import type { Turns } from "./turns.ts";
import type { Uploads } from "./uploads.ts";

/** Sent by LanceDB's clients: the last version that the client read, and a time if it requires consistency. */
const versionHeader = "x-lancedb-min-read-version";
const timeHeader = "x-lancedb-min-timestamp";

/** The oldest state that a client accepts. A malformed header is ignored: it could only ask for fresher data. */
const readMinimumState = (headers: HeaderSource): MinimumState | undefined => {
  const [sentVersion, sentTime] = [headers.get(versionHeader), headers.get(timeHeader)];
  if (typeof sentVersion !== "string" && typeof sentTime !== "string") return undefined;
  const version = Number(sentVersion ?? Number.NaN);
  const time = Date.parse(sentTime ?? "");
  const known = { ...(Number.isSafeInteger(version) ? { version } : {}), ...(Number.isNaN(time) ? {} : { time }) };
  return Object.keys(known).length === 0 ? undefined : known;
};

export interface PipelineParts {
  readonly tools: Tools;
  readonly authenticator: Authenticator;
  readonly limits: IdLimits & BodyLimits;
  readonly admission: Readonly<Record<AdmissionClass, AdmissionLimit>>;
  readonly principalLimit: PrincipalLimit;
  readonly turns: Turns;
  readonly budgets: Readonly<Record<"responses" | "bodies", ByteBudget>>;
  /** Maximum bytes of a response. */
  readonly maxResponseBytes: number;
  readonly log: Log;
  /** Receives the rows of writes; absent without writes. */
  readonly uploads?: Uploads | undefined;
}

/** Names of an operation's fields. */
const keysOf = (operation: Operation): readonly string[] => {
  const documented = operation.documentedBody ?? operation.body;
  const own = documented instanceof z.ZodObject ? Object.keys(documented.shape) : [];
  return [...own, ...(operation.nestsQuery === true ? nestingKeys : []), ...Object.keys(commonShape)];
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const refuseUnknown = (raw: Readonly<Record<string, unknown>>, known: readonly string[]): void => {
  const unknown = unknownField(raw, known);
  if (unknown !== undefined) throw invalid(`${unknown.sent} ${unknown.message}`);
};

interface Common {
  readonly id: readonly string[] | undefined;
  readonly context: Readonly<Record<string, unknown>> | undefined;
}

const commonKeys = Object.keys(commonShape);
const noCommon: Common = { id: undefined, context: undefined };

/** The common fields of a body, and of the query inside it. */
const readCommon = (raw: Readonly<Record<string, unknown>>, nestsQuery: boolean): Common => {
  if (!("query" in raw) && !commonKeys.some((key) => key in raw)) return noCommon;
  if (!nestsQuery || !isObject(raw.query)) return parseInput(commonBody, raw);
  const { id, context, query } = parseInput(nestedCommonBody, raw);
  if (id !== undefined && query.id !== undefined && !isDeepStrictEqual(id, query.id))
    throw invalid("query.id differs from id: send one of them");
  return { id: id ?? query.id, context: context === undefined ? query.context : { ...query.context, ...context } };
};

/** Parameters of the path and the query string; those that may be repeated are lists. */
const parametersOf = (request: ApiRequest, { repeatable }: Operation): Readonly<Record<string, unknown>> => {
  if (repeatable === undefined) return request.parameters;
  const lists = repeatable.map((name) => [name, request.listOf(name)] as const);
  return { ...request.parameters, ...Object.fromEntries(lists.filter(([, list]) => list !== undefined)) };
};

const readTarget: {
  readonly [Kind in keyof Targets]: (request: IdInRequest, limits: IdLimits) => Targets[Kind];
} = {
  table: readTableId,
  namespace: readNamespaceId,
  root: () => rootNamespace,
  function: readFunctionId,
  view: readTableId,
};

const authorizeTarget: Readonly<Record<keyof Targets, typeof authorize>> = {
  table: authorize,
  namespace: authorizeNamespace,
  root: authorizeNamespace,
  // Patterns of tables are those of Functions, too.
  function: authorize,
  view: authorize,
};

const mediaTypes: Readonly<Record<Media, Readonly<Record<string, string>>>> = {
  json: { "content-type": "application/json" },
  arrow: { "content-type": "application/vnd.apache.arrow.file" },
  arrowStream: { "content-type": "application/vnd.apache.arrow.stream" },
  bytes: { "content-type": "application/octet-stream" },
  empty: {},
};

type Content = string | Uint8Array<ArrayBuffer> | null;

const encode: Readonly<Record<Media, (content: unknown) => Content>> = {
  json: (content) => JSON.stringify(content),
  arrow: (content) => content as Uint8Array<ArrayBuffer>,
  arrowStream: () => null,
  bytes: () => null,
  empty: () => null,
};

/** Whether `Accept` names the other form of the response; wildcards get the usual one. */
const asksFor = (headers: HeaderSource, { alternative }: Operation): boolean => {
  const sent = alternative === undefined ? undefined : headers.get("accept");
  if (alternative === undefined || typeof sent !== "string") return false;
  const forms = ["application/json", alternative.mediaType];
  const preferred = parseAccept(sent).find(({ type, q }) => q > 0 && forms.includes(type.toLowerCase()));
  return preferred?.type.toLowerCase() === alternative.mediaType;
};

const bytesOf = (content: Content): number => {
  if (content === null || content.length * 3 <= smallBytes) return 0;
  return typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
};

const tooLong = (bytes: number, limit: number): ServiceError =>
  invalid(
    `the response has ${bytes} bytes, more than ${limit}: request less at once, or ask the operator to raise LAKEHEAD_MAX_RESULT_BYTES`,
  );

/** `Range`, unless `If-Range` asks for all that has changed: nothing tells whether it has. */
const readRangeOf = (headers: HeaderSource): string | undefined =>
  typeof headers.get("if-range") === "string" ? undefined : (headers.get("range") ?? undefined);

/** @throws ServiceError code 13. */
const readTimeout = (headers: HeaderSource): number | undefined => {
  const sent = headers.get("x-request-timeout-ms") ?? undefined;
  if (sent === undefined) return undefined;
  if (!/^\d{1,15}$/.test(sent)) throw invalid("x-request-timeout-ms must be a whole number of milliseconds");
  return Math.min(Number(sent), 2 ** 31);
};

/** A JSON body, or an Arrow schema in its place. */
interface Body {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly schema?: Uint8Array;
}

export type Serve = (request: ApiRequest, record: RequestRecord) => Promise<Reply>;

/** Pipeline of every request: authenticate, parse, authorize, admit, run. Authentication comes before reading the body. */
export const pipeline = (operation: Operation, parts: PipelineParts): Serve => {
  const { tools, authenticator, limits, principalLimit, turns, budgets, maxResponseBytes } = parts;
  const { target: kind, media = "json", admission } = operation;
  const limitOf =
    typeof admission === "function"
      ? (body: unknown, parameters: Readonly<Record<string, unknown>>, target: Targets[typeof kind]) =>
          parts.admission[admission(body, parameters, tools.database, target)]
      : () => parts.admission[admission];
  const known = keysOf(operation);
  const knownParameters = [...Object.keys(operation.parameters?.shape ?? {}), "delimiter", "id"];
  const changes = isWrite(operation);
  const produced = { rows: maxResponseBytes, plan: Math.min(maxPlanLength, maxResponseBytes), little: 0 };
  const expected = produced[operation.produces ?? "little"];
  const fixed = { ...mediaTypes[media], ...operation.headers };
  const read = async (request: ApiRequest, caller: string): Promise<Body> =>
    operation.takesSchema === true && isArrow(request)
      ? { raw: {}, schema: await readSmallBytes(request, limits) }
      : { raw: await readBody(request, limits, (parse) => turns.run(caller, parse)) };
  const handle = async (
    request: ApiRequest,
    record: RequestRecord,
    principal: Principal,
    caller: string,
    { raw, schema }: Body,
  ): Promise<Reply> => {
    const { headers, path } = request;
    record.body = raw;
    const common = readCommon(raw, operation.nestsQuery === true);
    record.context = contextEntries(headers, common.context);
    const { delimiter: sent } = request.parameters;
    const delimiter = readDelimiter(sent);
    // Not the parameter, which is decoded: a `+` would be ambiguous then.
    const [, , , rawPath = ""] = path.split("/", 4);
    const target = readTarget[kind]({ rawPath, delimiter: sent, body: common.id }, limits);
    if (kind !== "function") record.table = target.key;
    authorizeTarget[kind](principal, operation.scope, target.parts);

    refuseUnknown(raw, known);
    refuseUnknown(request.parameters, knownParameters);
    const parameters =
      operation.parameters === undefined ? {} : parseInput(operation.parameters, parametersOf(request, operation));
    const dialect = path.endsWith("/") ? "lancedb" : "catalog";
    const alternative = asksFor(headers, operation);
    const minimumState = readMinimumState(headers);
    const call = {
      parameters,
      dialect,
      delimiter,
      principal,
      alternative,
      minimumState,
      timeoutMs: readTimeout(headers),
      range: readRangeOf(headers),
    } as const;
    const arrival = { caller, client: request, endsSoon: operation.endsSoon === true };
    const run = (body: unknown): Promise<unknown> =>
      limitOf(body, parameters, target)
        .run((stop) => {
          const handle = (): Promise<unknown> => operation.handle(tools, target, body, call);
          return currentCall.run(changes ? { caller, stop } : { caller }, handle);
        }, arrival)
        .catch((error: unknown) => {
          throw dialect === "lancedb" ? forLanceDb(error) : error;
        });
    const reservation = new Reservation(budgets.responses, caller);
    const serve = async (): Promise<unknown> => {
      await reservation.wait(expected, request);
      if (operation.input !== "arrow") return run(parseInput(operation.body, schema ?? raw));
      if (parts.uploads === undefined) throw new Error("an operation receives rows, but the service takes no writes");
      const room = await currentCall.run({ caller }, async () => operation.room?.(tools, parameters));
      const upload = await parts.uploads.receive(request, caller, room);
      record.bytes = upload.bytes;
      try {
        return await run(upload.data);
      } finally {
        // The response does not wait for it.
        void upload.release();
      }
    };
    try {
      const result = await principalLimit.run(caller, serve);
      const answer = result instanceof OperationResponse ? result : new OperationResponse(result, {});
      Object.assign(record, answer.audit);
      const { status } = answer;
      if (answer.pending) record.writes = false;
      const described = hasContent(status, operation) ? fixed : operation.headers;
      const replyHeaders = { ...answerHeaders(record), ...described, ...answer.headers };
      if (answer.content instanceof ByteStream) {
        const { bytes, heldBytes } = answer.content;
        const length = { "content-length": String(bytes) };
        if (request.method === "HEAD") return { status, headers: { ...replyHeaders, ...length }, body: null };
        await reservation.wait(heldBytes, request);
        const onFailure = (error: unknown): void =>
          parts.log.warn(
            { requestId: record.id, operation: operation.name, cause: scrub(error, raw) },
            "a stream has ended early",
          );
        const body = sendStream(answer.content, { caller, request, reservation, onFailure });
        return { status, headers: { ...replyHeaders, ...length }, body, recycle: answer.content.recycle };
      }
      const content = hasContent(status, operation)
        ? await turns.run(caller, () => encode[media](answer.content))
        : null;
      const bytes = bytesOf(content);
      // The database has limited rows.
      if (bytes > maxResponseBytes && media !== "arrow") throw tooLong(bytes, maxResponseBytes);
      reservation.resize(bytes);
      if (bytes > smallBytes) request.whenSent(bytes, () => reservation.release());
      return { status, headers: replyHeaders, body: content };
    } catch (error) {
      reservation.release();
      throw error;
    }
  };
  return async (request, record) => {
    record.operation = operation.name;
    record.writes = changes;
    const principal = await authenticator.authenticate(readCredentials(request.headers));
    record.principal = principal.subject;
    // A JWT and a static token may have the same subject.
    const caller = `${principal.method} ${principal.subject}`;

    const hasJson = request.method === "POST" && operation.input !== "arrow";
    if (!hasJson) return handle(request, record, principal, caller, { raw: {} });
    const most = mostBytesOf(request, limits);
    if (most <= smallBytes) return handle(request, record, principal, caller, await read(request, caller));
    const body = new Reservation(budgets.bodies, caller);
    await body.wait(most, request);
    try {
      return await handle(request, record, principal, caller, await read(request, caller));
    } finally {
      body.release();
    }
  };
};
