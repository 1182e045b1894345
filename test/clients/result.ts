/**
 * Output of a client's program, one JSON object a line: first the client, then each case when it has run. After each line
 * the program waits for one on its standard input, so that all requests until then belong to the case.
 */
export interface Introduction {
  readonly client: string;
  readonly version: string;
}

export interface CaseResult {
  readonly client: string;
  /** The operation that the client calls, named as in `addressOf`. */
  readonly operation: string;
  readonly case: string;
  readonly ok: boolean;
  /** The client's error text. */
  readonly detail: string;
}

const namespaceOperation = /^namespace\/(.+)$/;
const named = /\{\w+\}/g;

/**
 * The address that an operation's name stands for: `namespace/…` is of a namespace, `/…` is of the root, anything else
 * is of a table; what is in braces may be any name.
 */
export const addressOf = (operation: string): RegExp => {
  const [, ofNamespace] = namespaceOperation.exec(operation) ?? [];
  const pattern = (text: string) => text.replaceAll(named, "[^/]+");
  if (operation.startsWith("/")) return new RegExp(`^/v1${pattern(operation)}/?$`);
  if (ofNamespace !== undefined) return new RegExp(`^/v1/namespace/[^/]+/${pattern(ofNamespace)}/?$`);
  return new RegExp(`^/v1/table/[^/]+/${pattern(operation)}/?$`);
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** A parsed line of a program; undefined for other text, such as a library's warning. */
export const readLine = (line: string): Introduction | CaseResult | undefined => {
  const value = parsed(line);
  if (!isObject(value) || typeof value.client !== "string") return undefined;
  const { client, version, operation, case: name, ok, detail } = value;
  if (typeof version === "string") return { client, version };
  if (typeof operation !== "string" || typeof name !== "string" || typeof ok !== "boolean") return undefined;
  return { client, operation, case: name, ok, detail: String(detail ?? "") };
};
