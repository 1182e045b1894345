import { createHash } from "node:crypto";
import { z } from "zod";
import { errorKinds, lancedbFailures, transportStatuses } from "../errors.ts";
import {
  addressOf,
  errorsOf,
  hasContent,
  isWrite,
  type Media,
  type Operation,
  type Success,
  type Targets,
} from "../operations/operation.ts";
import { commonShape } from "../operations/shared/common-fields.ts";
import { unlimited, unlimitedDigits } from "../query/fields.ts";
import { fullTextDefinitions } from "../query/full-text-schema.ts";
import { unset } from "../query/unknown-field.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Definitions that schemas share, for `components.schemas`. */
type Definitions = Record<string, unknown>;

const toSchema = (schema: z.ZodType, io: "input" | "output", definitions: Definitions): JsonSchema => {
  const { $schema: _, ...own } = z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" });
  const { $defs, ...rest } = JSON.parse(JSON.stringify(own).replaceAll('"#/$defs/', '"#/components/schemas/'));
  Object.assign(definitions, $defs);
  return rest;
};

const errorSchema: JsonSchema = {
  type: "object",
  required: ["error", "code", "instance"],
  properties: {
    error: { type: "string", description: "What is wrong and how to correct it" },
    code: {
      type: "integer",
      minimum: 0,
      maximum: 23,
      description: `Lance error code: ${Object.entries(errorKinds)
        .map(([code, { name }]) => `${code} ${name}`)
        .join(", ")}`,
    },
    detail: { type: "string" },
    instance: { type: "string", description: "The request id, as in x-request-id" },
  },
};

const header = (description: string): JsonSchema => ({ description, required: true, schema: { type: "string" } });

const requestId = { "x-request-id": header("The id that the caller sent, else a new one") };

/** Headers of each status. */
const errorHeaders: Readonly<Record<string, JsonSchema>> = {
  401: { "www-authenticate": header("The authentication scheme, and the fault of the credentials") },
  403: { "www-authenticate": header("The missing scope") },
  405: { allow: header("The allowed methods") },
  416: { "content-range": header("The size, as bytes */<size>") },
  429: { "retry-after": header("Seconds") },
  503: { "retry-after": header("Seconds") },
};

const errorAnswer = (status: string, description: string): JsonSchema => ({
  description,
  headers: { ...requestId, ...errorHeaders[status] },
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
});

/** Transport failures that any operation can answer, and those of reading a body. */
const transportOf = (operation: Operation, method: string): readonly (keyof typeof transportStatuses)[] => [
  ...(["methodNotAllowed", "requestTimeout", "headersTooLarge"] as const),
  ...(method === "GET" ? [] : (["bodyTooLarge", "mediaTypeNotSupported"] as const)),
  ...(isWrite(operation) ? (["outcomeUnknown"] as const) : []),
  ...((operation.successes ?? []).includes(206) ? (["rangeNotSatisfiable"] as const) : []),
  ...operation.errors.flatMap((code) => lancedbFailures[code] ?? []),
];

/** The error statuses of an operation, each with the codes behind it. */
const errorAnswers = (operation: Operation, method: string): Record<string, JsonSchema> => {
  const answers = [
    ...errorsOf(operation).map((code) => ({
      status: errorKinds[code].status,
      text: `${code} ${errorKinds[code].name}`,
    })),
    ...transportOf(operation, method).map((kind) => {
      const { status, code } = transportStatuses[kind];
      return { status, text: `${code} ${errorKinds[code].name} (${kind})` };
    }),
  ];
  return Object.fromEntries(
    Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, of]) => [
      status,
      errorAnswer(status, of.map(({ text }) => text).join(", ")),
    ]),
  );
};

const common = z.object(commonShape);

const arrowBody = {
  required: true,
  content: { "application/vnd.apache.arrow.stream": { schema: { type: "string", format: "binary" } } },
};

const requestBody = (operation: Operation, definitions: Definitions): JsonSchema => {
  if (operation.input === "arrow") return arrowBody;
  const own = toSchema(operation.documentedBody ?? operation.body, "input", definitions);
  const shared = toSchema(common, "input", definitions);
  const properties = { ...(shared.properties as object), ...(own.properties as object) };
  const required = (own.required as readonly string[] | undefined) ?? [];
  // One client family sends null for an empty body.
  const schema =
    required.length > 0
      ? { type: "object", properties, required, additionalProperties: unset }
      : { type: ["object", "null"], properties, additionalProperties: unset };
  return {
    required: required.length > 0,
    content: {
      "application/json": { schema, example: operation.example ?? {} },
      ...(operation.takesSchema === true ? arrowBody.content : {}),
    },
  };
};

const namespaceRule = "a namespace has no slash, backslash, $ or control character";

const tableId: JsonSchema = {
  schema: { type: "string", minLength: 1, pattern: "[A-Za-z0-9_.-]$" },
  description: `Namespaces and table name, joined by the delimiter. A table's name has letters, digits, _ - and . alone; ${namespaceRule}`,
};

/** The id's path parameter for each target. Its rules for single parts depend on the delimiter, so the text has them. */
const ids: Readonly<Record<keyof Targets, JsonSchema | undefined>> = {
  table: tableId,
  view: tableId,
  namespace: {
    schema: { type: "string", minLength: 1 },
    description: `Names of the namespace, joined by the delimiter; the delimiter alone is the root namespace. The name of ${namespaceRule}`,
  },
  root: undefined,
  function: {
    schema: { type: "string", minLength: 1, pattern: "[A-Za-z0-9_.-]$" },
    description: `Namespaces and name of a Function, joined by the delimiter. The name has letters, digits, _ - and . alone; ${namespaceRule}`,
  },
};

const delimiter: JsonSchema = {
  name: "delimiter",
  in: "query",
  schema: { type: "string", default: "$", minLength: 1, maxLength: 8 },
};

const ownParameters = (operation: Operation, definitions: Definitions): readonly JsonSchema[] => {
  if (operation.parameters === undefined) return [];
  // Parameters arrive as text: the output schema has the types that callers expect.
  const { properties = {} } = toSchema(operation.parameters, "output", definitions) as {
    properties?: Record<string, JsonSchema>;
  };
  // A parameter with a default is always there when it is read, and need not be sent.
  const { required = [] } = toSchema(operation.parameters, "input", definitions) as { required?: readonly string[] };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: addressOf(operation).includes(`{${name}}`) ? "path" : "query",
    ...(required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
};

const parameters = (operation: Operation, definitions: Definitions): readonly JsonSchema[] => {
  const id = ids[operation.target];
  return [
    ...(id === undefined ? [] : [{ name: "id", in: "path", required: true, ...id }]),
    delimiter,
    ...ownParameters(operation, definitions),
  ];
};

const content = ({ media = "json", answer, alternative }: Operation, definitions: Definitions): JsonSchema => {
  const other = (): JsonSchema =>
    alternative === undefined
      ? {}
      : {
          [alternative.mediaType]: {
            schema: toSchema(alternative.answer, "output", definitions),
            example: alternative.example,
          },
        };
  const contents: Readonly<Record<Media, () => JsonSchema>> = {
    json: () => ({
      content: { "application/json": { schema: toSchema(answer, "output", definitions) }, ...other() },
    }),
    arrow: () => ({
      content: { "application/vnd.apache.arrow.file": { schema: { type: "string", format: "binary" } } },
    }),
    arrowStream: () => ({
      content: { "application/vnd.apache.arrow.stream": { schema: { type: "string", format: "binary" } } },
    }),
    bytes: () => ({ content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } } }),
    empty: () => ({}),
  };
  return contents[media]();
};

const successes: Readonly<Record<Success, string>> = {
  200: "Success",
  202: "Kept until the upload is completed",
  204: "The value is null",
  206: "The range that was asked for",
};

const success = (operation: Operation, status: Success, definitions: Definitions): JsonSchema => ({
  description: status === 202 && hasContent(status, operation) ? "Accepted as a job" : successes[status],
  headers: {
    ...requestId,
    ...Object.fromEntries(
      Object.entries(operation.headers ?? {}).map(([name, value]) => [name, header(`Always ${value}`)]),
    ),
    ...(status === 206 ? { "content-range": header("The first byte, the last one and the size of the whole") } : {}),
  },
  ...(hasContent(status, operation) ? content(operation, definitions) : {}),
});

const descriptionOf = ({ scope, extension }: Operation): string => {
  const own =
    extension !== undefined ? "An extension of this service: the catalog's specification has no such operation. " : "";
  return `${own}${scope === null ? "Requires any scope." : `Requires the scope \`${scope}\`.`}`;
};

const pathItem = (operation: Operation, definitions: Definitions): JsonSchema =>
  Object.fromEntries(
    operation.methods.map((method) => [
      method.toLowerCase(),
      {
        tags: [operation.target],
        operationId: method === "POST" ? operation.name : `${operation.name}_${method.toLowerCase()}`,
        summary: operation.summary,
        description: descriptionOf(operation),
        ...(operation.extension !== undefined ? { "x-lakehead-extension": true } : {}),
        parameters: parameters(operation, definitions),
        ...(method === "GET" ? {} : { requestBody: requestBody(operation, definitions) }),
        responses: {
          ...Object.fromEntries(
            (operation.successes ?? [200]).map((status) => [status, success(operation, status, definitions)]),
          ),
          ...errorAnswers(operation, method),
        },
      },
    ]),
  );

/** The OpenAPI document as text, and its entity tag. */
export const createOpenApi = (
  version: string,
  operations: readonly Operation[],
): { readonly text: string; readonly etag: string } => {
  const definitions: Definitions = {};
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Lakehead table service",
      version,
      description:
        "Query plans, statistics, tags and read operations of Lance tables, as in the Lance Namespace REST catalog",
    },
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: Object.fromEntries(operations.map((operation) => [addressOf(operation), pathItem(operation, definitions)])),
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
      schemas: { Error: errorSchema, ...fullTextDefinitions, ...definitions },
    },
  };
  const text = unlimited.reduce<string>(
    (written, number, index) => written.replaceAll(String(number), unlimitedDigits[index] ?? ""),
    JSON.stringify(document),
  );
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
};
