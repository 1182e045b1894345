import { invalid } from "../errors.ts";

/**
 * The names of a table's namespaces, then its own. Parsed once from the request's path, before authorization, so that no
 * delimiter or encoding reaches a table by another name.
 */
export interface TableId {
  readonly namespace: readonly string[];
  readonly name: string;
  /** Namespaces and name in one list. */
  readonly parts: readonly string[];
  /** The parts joined by `$`: unique, because no part may contain it. For logs, caches and messages. */
  readonly key: string;
}

export interface IdLimits {
  /** Maximum characters of one part. */
  readonly maxPartLength: number;
  /** Maximum parts, the table's own name included. */
  readonly maxParts: number;
}

/** The names of a namespace from the root; an empty list is the root itself. */
export interface NamespaceId {
  readonly parts: readonly string[];
  /** The parts joined by `$`; `$` for the root. */
  readonly key: string;
}

export const rootNamespace: NamespaceId = { parts: [], key: "$" };

/** The SDK's rule for tables. A namespace may have any name that is not a path and does not contain the separator `$`. */
const tableName = /^[A-Za-z0-9_.-]+$/;
const namespaceName = /^[^/\\$\p{Cc}\p{Cs}\u2028\u2029]+$/u;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // LanceDB's client does not escape names, so a single percent sign is an ordinary character.
    return text;
  }
};

/** As LanceDB's client requires it. */
const functionName = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

type Kind = "table" | "namespace" | "function";

const verifyPart = (part: string, kind: Kind, limits: IdLimits): string | undefined => {
  if (part === "") return "has an empty part";
  if (part.length > limits.maxPartLength) return `has a part longer than ${limits.maxPartLength} characters`;
  if (part === "." || part === "..") return `has the part "${part}"`;
  if (kind === "function" && !functionName.test(part))
    return "has a name that is not a letter or _, followed by letters, digits, _ - and .";
  if (kind === "table" && !tableName.test(part))
    return "has a table name with characters other than letters, digits, _ - and .";
  if (kind === "namespace" && !namespaceName.test(part))
    return "has a namespace with a slash, a backslash, a $ or a control character";
  return undefined;
};

const verifyParts = (parts: readonly string[], kind: Kind, limits: IdLimits): void => {
  if (parts.length > limits.maxParts) throw invalid(`the ${kind} id has more than ${limits.maxParts} parts`);
  for (const [index, part] of parts.entries()) {
    const fault = verifyPart(part, index === parts.length - 1 ? kind : "namespace", limits);
    if (fault !== undefined) throw invalid(`the ${kind} id ${fault}`);
  }
};

/**
 * Splits and checks the parts of an id.
 * @throws ServiceError code 13 for an id that cannot name a table.
 */
export const tableIdFromParts = (parts: readonly string[], limits: IdLimits): TableId => {
  verifyParts(parts, "table", limits);
  const name = parts.at(-1);
  if (name === undefined) throw invalid("the table id is empty: the root namespace is not a table");
  return { namespace: parts.slice(0, -1), name, parts, key: parts.join("$") };
};

/** @throws ServiceError code 13 for an id that cannot name a namespace. */
export const namespaceIdFromParts = (parts: readonly string[], limits: IdLimits): NamespaceId => {
  verifyParts(parts, "namespace", limits);
  return parts.length === 0 ? rootNamespace : { parts, key: parts.join("$") };
};

export interface IdInRequest {
  /** The path segment as sent, not decoded. */
  readonly rawPath: string;
  /** The `delimiter` of the query string. */
  readonly delimiter: string | undefined;
  /** The body's `id`. */
  readonly body: readonly string[] | undefined;
}

const split = (text: string, delimiter: string): string[] => (text === delimiter ? [] : text.split(delimiter));

const equal = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((part, index) => part === right[index]);

const defaultDelimiter = "$";

/**
 * The delimiter between the parts of ids in a request and its response.
 * @param sent the `delimiter` of the query string.
 * @throws ServiceError code 13
 */
export const readDelimiter = (sent: string | undefined): string => {
  const delimiter = sent ?? defaultDelimiter;
  // Counts characters: `length` counts some as two.
  if (delimiter === "" || [...delimiter].length > 8)
    throw invalid("delimiter must have 1 to 8 characters; leave it out for the default $");
  return delimiter;
};

/**
 * Whether a form-encoding client wrote the path: LanceDB's own client never sends the default delimiter, and a client that
 * escapes a plus does not send a bare `+` for one.
 */
const isFormEncoded = (rawPath: string, delimiter: string | undefined): boolean =>
  delimiter === defaultDelimiter || (delimiter === undefined && /%2b/i.test(rawPath));

/**
 * The parts of the id in a request.
 *
 * A `+` in the path is a space for form-encoding clients and a plus for LanceDB's own client. The body's `id` decides.
 * Without one, it is a plus unless the request shows that a form-encoding client sent it. DuckDB's extension repeats the whole
 * id as one part, which no id has: a part cannot contain the delimiter of its own request.
 *
 * @throws ServiceError code 13 if path and body differ.
 */
const readParts = ({ rawPath, delimiter: sent, body: repeated }: IdInRequest): readonly string[] => {
  const delimiter = readDelimiter(sent);
  const [only] = repeated ?? [];
  const body = repeated?.length === 1 && only !== undefined ? split(only, delimiter) : repeated;
  const literal = split(decode(rawPath), delimiter);
  const formDecoded = split(decode(rawPath.replaceAll("+", " ")), delimiter);
  if (body === undefined) return isFormEncoded(rawPath, sent) ? formDecoded : literal;
  if (equal(literal, body)) return literal;
  if (equal(formDecoded, body)) return formDecoded;
  throw invalid("id in the body differs from the id in the path: send the same, or leave it out of the body");
};

/** @throws ServiceError code 13 if path and body differ or the id cannot name a table. */
export const readTableId = (request: IdInRequest, limits: IdLimits): TableId =>
  tableIdFromParts(readParts(request), limits);

/** @throws ServiceError code 13 if path and body differ or the id cannot name a namespace. */
export const readNamespaceId = (request: IdInRequest, limits: IdLimits): NamespaceId =>
  namespaceIdFromParts(readParts(request), limits);

/** The names of a Function's namespaces, then its own. @throws ServiceError code 13 for an id that cannot name one. */
export const functionIdFromParts = (parts: readonly string[], limits: IdLimits): NamespaceId => {
  verifyParts(parts, "function", limits);
  if (parts.length === 0) throw invalid("the function id is empty: the root namespace is not a Function");
  return { parts, key: parts.join("$") };
};

/** @throws ServiceError code 13 if path and body differ or the id cannot name a Function. */
export const readFunctionId = (request: IdInRequest, limits: IdLimits): NamespaceId =>
  functionIdFromParts(readParts(request), limits);
