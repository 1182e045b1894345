import { createHash } from "node:crypto";
import { z } from "zod";
import { type ErrorCode, errorKinds, transportStatuses } from "../errors.ts";
import { operations } from "../operations/index.ts";
import { addressOf, type Media, type Operation, type Targets } from "../operations/operation.ts";
import { commonShape } from "../operations/shared/common-fields.ts";
import { unlimited } from "../query/fields.ts";
import { fullTextDefinitions } from "../query/full-text-schema.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

/** Shared definitions of all schemas; in an OpenAPI document they have one common place. */
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
    error: { type: "string", description: "What is wrong and the way out, in one sentence" },
    code: {
      type: "integer",
      minimum: 0,
      maximum: 23,
      description: `Lance error code: ${Object.entries(errorKinds)
        .map(([code, { name }]) => `${code} ${name}`)
        .join(", ")}`,
    },
    detail: { type: "string" },
    instance: { type: "string", description: "The request's id, as in x-request-id" },
  },
};

const header = (description: string): JsonSchema => ({ description, required: true, schema: { type: "string" } });

const requestId = { "x-request-id": header("The caller's own id where it sent one, else a new one") };

/** Headers that belong to a status. */
const errorHeaders: Readonly<Record<string, JsonSchema>> = {
  401: { "www-authenticate": header("The scheme, and what is wrong with the credentials") },
  403: { "www-authenticate": header("The scope that is missing") },
  405: { allow: header("The methods that the address takes") },
  429: { "retry-after": header("Seconds") },
  503: { "retry-after": header("Seconds") },
};

const errorAnswer = (status: string, description: string): JsonSchema => ({
  description,
  headers: { ...requestId, ...errorHeaders[status] },
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
});

const conflict = 409;

/** Every status that an operation can answer, with the codes behind it: from the one registry, so that nothing is forgotten. */
const errorAnswers = ({ scope }: Operation): Record<string, JsonSchema> => {
  const names = new Map<number, string[]>();
  const add = (status: number, text: string): void => {
    names.set(status, [...(names.get(status) ?? []), text]);
  };
  for (const [code, { name, status }] of Object.entries(errorKinds)) add(status, `${code} ${name}`);
  for (const [kind, { status, code }] of Object.entries(transportStatuses))
    if (!names.has(status)) add(status, `${code} ${errorKinds[code as ErrorCode].name} (${kind})`);
  return Object.fromEntries(
    [...names]
      // Who changes nothing conflicts with nobody.
      .filter(([status]) => status !== conflict || scope === "tags:write")
      .map(([status, texts]) => [status, errorAnswer(String(status), texts.join(", "))]),
  );
};

const common = z.object(commonShape);

const requestBody = (operation: Operation, definitions: Definitions): JsonSchema => {
  const own = toSchema(operation.documentedBody ?? operation.body, "input", definitions);
  const shared = toSchema(common, "input", definitions);
  const properties = { ...(shared.properties as object), ...(own.properties as object) };
  const required = (own.required as readonly string[] | undefined) ?? [];
  // A body that may be empty may be null as well: one client family sends it so.
  const schema =
    required.length > 0 ? { type: "object", properties, required } : { type: ["object", "null"], properties };
  return {
    required: required.length > 0,
    content: { "application/json": { schema, example: operation.example ?? {} } },
  };
};

const idDescriptions: Readonly<Record<keyof Targets, string | undefined>> = {
  table: "Namespaces and table name, joined by the delimiter",
  namespace: "Names of a namespace, joined by the delimiter; the delimiter alone is the root",
  root: undefined,
};

const delimiter: JsonSchema = {
  name: "delimiter",
  in: "query",
  schema: { type: "string", default: "$", minLength: 1, maxLength: 8 },
};

const ownParameters = (operation: Operation, definitions: Definitions): readonly JsonSchema[] => {
  if (operation.parameters === undefined) return [];
  // They arrive as text: what the text is read to is what a caller wants to know.
  const { properties = {}, required = [] } = toSchema(operation.parameters, "output", definitions) as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: addressOf(operation).includes(`{${name}}`) ? "path" : "query",
    ...(required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
};

const parameters = (operation: Operation, definitions: Definitions): readonly JsonSchema[] => {
  const description = idDescriptions[operation.target];
  const id = { name: "id", in: "path", required: true, schema: { type: "string", minLength: 1 }, description };
  return [...(description === undefined ? [] : [id]), delimiter, ...ownParameters(operation, definitions)];
};

const content = ({ media = "json", answer }: Operation, definitions: Definitions): JsonSchema => {
  const contents: Readonly<Record<Media, () => JsonSchema>> = {
    json: () => ({ content: { "application/json": { schema: toSchema(answer, "output", definitions) } } }),
    arrow: () => ({
      content: { "application/vnd.apache.arrow.file": { schema: { type: "string", format: "binary" } } },
    }),
    empty: () => ({}),
  };
  return contents[media]();
};

const pathItem = (operation: Operation, definitions: Definitions): JsonSchema =>
  Object.fromEntries(
    operation.methods.map((method) => [
      method.toLowerCase(),
      {
        tags: [operation.target],
        operationId: method === "POST" ? operation.name : `${operation.name}_${method.toLowerCase()}`,
        summary: operation.summary,
        description:
          operation.scope === null ? "Needs any scope of this service." : `Needs the scope \`${operation.scope}\`.`,
        parameters: parameters(operation, definitions),
        ...(method === "GET" ? {} : { requestBody: requestBody(operation, definitions) }),
        responses: {
          "200": {
            description: "Done",
            headers: {
              ...requestId,
              ...Object.fromEntries(
                Object.entries(operation.headers ?? {}).map(([name, value]) => [name, header(`Always ${value}`)]),
              ),
            },
            ...content(operation, definitions),
          },
          ...errorAnswers(operation),
        },
      },
    ]),
  );

/** The document as it is served: made once, with its entity tag. */
export const createOpenApi = (version: string): { readonly text: string; readonly etag: string } => {
  const definitions: Definitions = {};
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Lakehead table service",
      version,
      description:
        "Query plans, statistics, tags and the read side of Lance tables, as the Lance Namespace REST catalog has them",
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
  // JavaScript has no number 2^63-1: the document shows what clients write.
  const text = JSON.stringify(document).replaceAll(String(unlimited), "9223372036854775807");
  return { text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"` };
};
