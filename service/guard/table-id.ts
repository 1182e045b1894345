import { invalid } from "../errors.ts";

/**
 * A table's place: the names of its namespaces, then its own. Parsed once from the request's path, before authorization
 * or anything else looks at it, so that no delimiter or encoding reaches a table by another name.
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
  /** Characters of one part at the most. */
  readonly maxPartLength: number;
  /** Parts at the most, the table's own name included. */
  readonly maxParts: number;
}

/** A namespace's place: its names from the root on; no names are the root itself. */
export interface NamespaceId {
  readonly parts: readonly string[];
  /** The parts joined by `$`; `$` for the root. */
  readonly key: string;
}

export const rootNamespace: NamespaceId = { parts: [], key: "$" };

/** The SDK's own rule for tables. Namespaces may have any name that is no path and no other id in disguise. */
const tableName = /^[A-Za-z0-9_.-]+$/;
const namespaceName = /^[^/\\$\p{Cc}\p{Cs}\u2028\u2029]+$/u;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // LanceDB's client does not escape names, so a lone percent sign is a character like any other.
    return text;
  }
};

const verifyPart = (part: string, isTable: boolean, limits: IdLimits): string | undefined => {
  if (part === "") return "has an empty part";
  if (part.length > limits.maxPartLength) return `has a part longer than ${limits.maxPartLength} characters`;
  if (part === "." || part === "..") return `has the part "${part}"`;
  if (isTable && !tableName.test(part)) return "has a table name with characters other than letters, digits, _ - and .";
  if (!isTable && !namespaceName.test(part))
    return "has a namespace with a slash, a backslash, a $ or a control character";
  return undefined;
};

const verifyParts = (parts: readonly string[], kind: "table" | "namespace", limits: IdLimits): void => {
  if (parts.length > limits.maxParts) throw invalid(`the ${kind} id has more than ${limits.maxParts} parts`);
  for (const [index, part] of parts.entries()) {
    const fault = verifyPart(part, kind === "table" && index === parts.length - 1, limits);
    if (fault !== undefined) throw invalid(`the ${kind} id ${fault}`);
  }
};

/**
 * Splits and checks the parts of an id.
 * @throws ServiceError code 13 for an id that names no table that could exist.
 */
export const tableIdFromParts = (parts: readonly string[], limits: IdLimits): TableId => {
  verifyParts(parts, "table", limits);
  const name = parts.at(-1);
  if (name === undefined) throw invalid("the table id is empty: the root namespace is not a table");
  return { namespace: parts.slice(0, -1), name, parts, key: parts.join("$") };
};

/** @throws ServiceError code 13 for an id that names no namespace that could exist. */
export const namespaceIdFromParts = (parts: readonly string[], limits: IdLimits): NamespaceId => {
  verifyParts(parts, "namespace", limits);
  return parts.length === 0 ? rootNamespace : { parts, key: parts.join("$") };
};

export interface IdInRequest {
  /** The path's segment as it was sent, not decoded. */
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
 * What joins the parts of ids in a request and its answer.
 * @param sent the `delimiter` of the query string.
 * @throws ServiceError code 13
 */
export const readDelimiter = (sent: string | undefined): string => {
  const delimiter = sent ?? defaultDelimiter;
  // Characters, not the halves of some that a string's length counts.
  if (delimiter === "" || [...delimiter].length > 8)
    throw invalid("delimiter must have 1 to 8 characters; leave it out for the default $");
  return delimiter;
};

/**
 * Whether only a form-encoding client would have written a path so: LanceDB's own never sends the default delimiter, and
 * who escapes a plus does not mean one by a bare `+`.
 */
const isFormEncoded = (rawPath: string, delimiter: string | undefined): boolean =>
  delimiter === defaultDelimiter || (delimiter === undefined && /%2b/i.test(rawPath));

/**
 * The parts that a request names.
 *
 * A `+` in the path is a space to the form-encoding clients and a plus to LanceDB's own. A body's `id` decides; without one
 * a plus is a plus, unless the request shows who sent it.
 *
 * @throws ServiceError code 13 where path and body differ.
 */
const readParts = ({ rawPath, delimiter: sent, body }: IdInRequest): readonly string[] => {
  const delimiter = readDelimiter(sent);
  const literal = split(decode(rawPath), delimiter);
  const formDecoded = split(decode(rawPath.replaceAll("+", " ")), delimiter);
  if (body === undefined) return isFormEncoded(rawPath, sent) ? formDecoded : literal;
  if (equal(literal, body)) return literal;
  if (equal(formDecoded, body)) return formDecoded;
  throw invalid("id in the body differs from the id in the path: send the same, or leave it out of the body");
};

/** @throws ServiceError code 13 where path and body differ or the id names no table that could exist. */
export const readTableId = (request: IdInRequest, limits: IdLimits): TableId =>
  tableIdFromParts(readParts(request), limits);

/** @throws ServiceError code 13 where path and body differ or the id names no namespace that could exist. */
export const readNamespaceId = (request: IdInRequest, limits: IdLimits): NamespaceId =>
  namespaceIdFromParts(readParts(request), limits);
