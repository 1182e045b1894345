import { Ajv2020 } from "ajv/dist/2020.js";
import { operations } from "../../service/operations/index.ts";
import { createOpenApi } from "../../service/server/openapi.ts";
import type { Answer } from "./request.ts";

/** The document that the service serves, read as a client would. */
// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is walked by hand
export const document: any = JSON.parse(createOpenApi("0.0.0-test", operations).text);

const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { "date-time": true } });
ajv.addSchema(document, "openapi");

const pointer = (text: string): string => text.replaceAll("~", "~0").replaceAll("/", "~1");

const templates = Object.keys(document.paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}/?$`),
}));

/** The document's path for an address; the most specific one if several match. */
const templateOf = (address: string): string | undefined =>
  templates
    .filter(({ pattern }) => pattern.test(address))
    .map(({ template }) => template)
    .sort((left, right) => left.split("{").length - right.split("{").length)[0];

/** An operation's name in messages and in the run's summary: `stats`, `namespace/{id}/list`. */
export const labelOf = (address: string): string =>
  (templateOf(address) ?? address).replace(/^\/v1\/(table\/[^/]+\/)?/, "");

interface Documented {
  /** The schema's place, for an answer that is JSON. */
  readonly schema: string | undefined;
  readonly mediaType: string | null;
}

const isJson = (mediaType: string | null): boolean =>
  mediaType !== null && /^application\/(.+\+)?json$/.test(mediaType);

/**
 * The documented schema and media type of a response; the common error for an unknown address.
 * @param sent the media type of the response, which chooses among several documented ones.
 */
const documented = (address: string, method: string, status: number, sent: string | undefined): Documented => {
  const path = templateOf(address);
  if (path === undefined) return { schema: "openapi#/components/schemas/Error", mediaType: "application/json" };
  const methods = document.paths[path];
  // A method that the path does not document has the 405 response of the documented one.
  const known = methods[method.toLowerCase()] === undefined ? Object.keys(methods)[0] : method.toLowerCase();
  const response = methods[known as string].responses[String(status)];
  if (response === undefined) throw new Error(`returned ${status}, which its OpenAPI document does not list`);
  const listed = Object.keys(response.content ?? {});
  const mediaType = listed.find((type) => type === sent) ?? listed[0] ?? null;
  const schema = `openapi#/paths/${pointer(path)}/${known}/responses/${status}/content/${pointer(mediaType ?? "")}/schema`;
  return { schema: isJson(mediaType) ? schema : undefined, mediaType };
};

/**
 * Checks a response against the document: the operation must list its status, and its body must match the schema. Unknown
 * paths return the common error.
 * @param address the path as it was asked, without its query string.
 */
export const checkAgainstOpenApi = (address: string, method: string, { status, headers, body }: Answer): void => {
  const fail = (text: string): never => {
    throw new Error(`${method} ${address} returned ${status} ${text}`);
  };
  const type = headers.get("content-type");
  const { schema, mediaType } = documented(address, method, status, type?.split(";")[0]);
  if (type !== mediaType && type?.startsWith(`${mediaType};`) !== true) fail(`with content-type ${type}`);
  if (headers.get("x-request-id") === null) fail("without x-request-id");
  if (status >= 300 && body.instance !== headers.get("x-request-id"))
    fail("with an instance that is not the request's id");
  if (schema === undefined) return;
  const validate = ajv.getSchema(encodeURI(schema)) ?? fail(`, for which there is no schema at ${schema}`);
  if (!validate(body as unknown)) fail(`against its schema: ${ajv.errorsText(validate.errors)}`);
};
