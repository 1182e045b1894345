import { document } from "../../support/openapi.ts";

/**
 * Requests with a canary in every field of an operation's OpenAPI document. They are generated from the document, so that
 * new operations are covered.
 */

/** One of the test tables, with one vector column of so many dimensions. */
const table = "plain";
const dimensions = 4;

/** In quotes where a string constant is meant, and bare where a name is. */
export const word = "canary7f3a91";
/** As an element of a vector, and as any other number. */
export const fraction = 0.7316490281;
export const whole = 731_649_028;

const strings: readonly string[] = [
  word,
  `'${word}`,
  `text = '${word}'`,
  `no_such = '${word}'`,
  `upper('${word}') = upper(`,
  `lower(text, '${word}', 1) > cast('${word}' as int)`,
];

// biome-ignore lint/suspicious/noExplicitAny: a schema is walked by hand
type Schema = any;

const at = (reference: string): Schema =>
  reference
    .split("/")
    .slice(1)
    .reduce((part: Schema, key) => part[key], document);

/**
 * What a schema admits, with a canary in one place each.
 * @param inside the definitions that lead here: a tree that may go on for ever is entered once.
 */
function* variants(schema: Schema, inside: readonly string[]): Generator<unknown> {
  if (typeof schema.$ref === "string") {
    if (!inside.includes(schema.$ref)) yield* variants(at(schema.$ref), [...inside, schema.$ref]);
    return;
  }
  for (const alternative of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* variants(alternative, inside);
  const types: readonly string[] = [schema.type].flat();
  if (types.includes("string")) yield* strings;
  if (types.includes("number")) yield fraction;
  if (types.includes("integer")) yield* [whole, fraction];
  if (types.includes("array"))
    for (const item of variants(schema.items ?? { type: "string" }, inside))
      yield* item === fraction ? [[item], Array.from({ length: dimensions }, () => item)] : [[item]];
  yield* objects(schema, inside);
}

function* objects(
  { properties = {}, additionalProperties }: Schema,
  inside: readonly string[] = [],
): Generator<unknown> {
  for (const [name, property] of Object.entries(properties))
    for (const value of variants(property, inside)) yield { [name]: value };
  if (typeof additionalProperties === "object")
    for (const value of [word, ...variants(additionalProperties, inside)]) yield { [word]: value };
}

/** `context` goes to log and trace by design, and `id` is the table's name. */
const shown = new Set(["context", "id"]);

/** What must not go there even as a part of `context`. */
const credentials = (token: string): Readonly<Record<string, unknown>> => ({
  headers: { Authorization: `Bearer ${word}` },
  list: [word],
  bearer: word,
  note: `Bearer ${word}`,
  line: `-H 'authorization: Basic ${word}'`,
  claims: `eyJhbGciOiJub25lIn0.${word}.`,
  mine: token,
  [token]: word,
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A body that works, changed in the place that the variant has; a query stays one. */
const merged = (base: unknown, change: unknown): unknown => {
  if (!isObject(base) || !isObject(change)) return change;
  const keys = new Set([...Object.keys(base), ...Object.keys(change)]);
  return Object.fromEntries([...keys].map((key) => [key, key in change ? merged(base[key], change[key]) : base[key]]));
};

export interface CanaryRequest {
  readonly method: string;
  /** Path and query string. */
  readonly address: string;
  readonly body: unknown;
}

const escaped = (text: string): string => encodeURIComponent(text);

/** Addresses of an operation: the plain one, and one with a canary in each parameter but the table's name. */
const addresses = (path: string, parameters: readonly Schema[]): string[] => {
  const fill = (values: Readonly<Record<string, string>>): string =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => escaped(values[name] ?? (name === "id" ? table : word)));
  const own = parameters.filter(({ name }) => name !== "id" && name !== "delimiter");
  return [
    fill({}),
    ...own.flatMap((parameter) =>
      strings.map((text) =>
        parameter.in === "path" ? fill({ [parameter.name]: text }) : `${fill({})}?${parameter.name}=${escaped(text)}`,
      ),
    ),
  ];
};

/**
 * Every request of one operation, by its place in the document.
 * @param token the one that they are sent with.
 */
export function* canaryRequests(path: string, method: string, token: string): Generator<CanaryRequest> {
  const { parameters, requestBody } = document.paths[path][method];
  const content = requestBody?.content["application/json"];
  const base = content?.example ?? {};
  for (const address of addresses(path, parameters))
    yield { method: method.toUpperCase(), address, body: content === undefined ? undefined : base };
  if (content === undefined) return;
  const address = addresses(path, [])[0] ?? path;
  yield { method: method.toUpperCase(), address, body: merged(base, { context: credentials(token) }) };
  for (const change of objects(content.schema))
    if (!Object.keys(change as object).some((key) => shown.has(key)))
      yield { method: method.toUpperCase(), address, body: merged(base, change) };
}
