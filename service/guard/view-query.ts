import { invalid, ServiceError } from "../errors.ts";
import { maxSizes } from "../query/lists.ts";
import type { VerifiedExpression } from "./expression/index.ts";
import { type Refuse, type Token, tokenize } from "./expression/tokens.ts";

/** A query over one table, as a materialized view keeps it. */
export interface ViewQuery {
  /** The names of the table's namespaces, then its own. */
  readonly source: readonly string[];
  /** Pairs of column and expression; undefined: all columns of the table. */
  readonly select: readonly (readonly [name: string, expression: VerifiedExpression])[] | undefined;
  readonly filter: VerifiedExpression | undefined;
  readonly limit: number | undefined;
}

/** Bytes of the whole query; each expression has the guard's own limits. */
const maxBytes = 1_048_576;

const shape = "write SELECT columns FROM table [WHERE predicate] [LIMIT n]";

/** Words of SQL that a view could hold, and that cannot be computed row by row. */
const clauses: ReadonlyMap<string, string> = new Map([
  ["distinct", "DISTINCT"],
  ["group", "GROUP BY"],
  ["having", "HAVING"],
  ["order", "ORDER BY"],
  ["offset", "OFFSET"],
  ["window", "WINDOW"],
  ["qualify", "QUALIFY"],
  ...["union", "intersect", "except"].map((word) => [word, `${word.toUpperCase()} of queries`] as const),
  ...["join", "inner", "left", "right", "full", "cross", "natural"].map((word) => [word, "a join"] as const),
]);

const unsupported = (what: string): ServiceError =>
  new ServiceError(0, { message: `query: ${what} is not supported in a materialized view: ${shape}` });

const opening = new Set(["(", "["]);
const closing = new Set([")", "]"]);

/** A text of SQL as tokens, with the text of each part as it reaches the engine. */
class Reader {
  readonly #sql: string;
  readonly #tokens: readonly Token[];
  next = 0;

  constructor(sql: string) {
    const refuse: Refuse = (problem, at, wayOut) => {
      throw invalid(`query: ${problem} at character ${at + 1}: ${wayOut}`);
    };
    this.#sql = sql;
    this.#tokens = tokenize(sql, refuse);
  }

  get token(): Token {
    return this.#tokens[this.next] ?? { kind: "end", value: "", at: this.#sql.length };
  }

  is(kind: Token["kind"], ...values: readonly string[]): boolean {
    return this.token.kind === kind && values.includes(this.token.value);
  }

  take(kind: Token["kind"], value: string): boolean {
    if (!this.is(kind, value)) return false;
    this.next++;
    return true;
  }

  refuse(wanted: string): never {
    const { kind, value, at } = this.token;
    const clause = kind === "word" ? clauses.get(value) : undefined;
    if (clause !== undefined) throw unsupported(clause);
    throw invalid(`query: ${wanted} is missing at character ${at + 1}: ${shape}`);
  }

  /** A name, as it was written: the engine tells letters of different case apart. */
  name(what: string): string {
    const { kind, value, at } = this.token;
    if (kind !== "word" && kind !== "quoted") return this.refuse(what);
    this.next++;
    return kind === "word" ? this.#sql.slice(at, at + value.length) : value;
  }

  /** The tokens before the first of these words or symbols that is in no bracket. */
  until(...ends: readonly string[]): readonly [from: number, to: number] {
    const from = this.next;
    for (let depth = 0; this.token.kind !== "end"; this.next++) {
      const { kind, value } = this.token;
      const isBare = kind === "word" || kind === "symbol";
      if (isBare && opening.has(value)) depth++;
      if (isBare && closing.has(value)) depth--;
      if (depth > 0 || !isBare) continue;
      if (ends.includes(value)) break;
      const clause = kind === "word" ? clauses.get(value) : undefined;
      // `left(a, 1)` is a call, and no join.
      if (clause !== undefined && this.#tokens[this.next + 1]?.value !== "(") throw unsupported(clause);
    }
    return [from, this.next];
  }

  /** The text of tokens. A name in double quotes is a text for the engine, so it gets backquotes. */
  text([from, to]: readonly [number, number]): string {
    const parts = this.#tokens.slice(from, to).map(({ kind, quote, value, at }, index) => {
      const end = this.#tokens[from + index + 1]?.at ?? this.#sql.length;
      const text = this.#sql.slice(at, end);
      if (kind !== "quoted" || quote !== '"') return text;
      return `\`${value.replaceAll("`", "``")}\`${text.slice(text.trimEnd().length)}`;
    });
    return parts.join("").trim();
  }

  at(index: number): Token | undefined {
    return this.#tokens[index];
  }
}

type Range = readonly [from: number, to: number];

/** The column that an item of SELECT names: `a`, `a.b`. */
const ownName = (reader: Reader, [from, to]: Range): string | undefined => {
  for (let at = from; at < to; at++) {
    const token = reader.at(at);
    const wanted = (at - from) % 2 === 0 ? ["word", "quoted"] : ["symbol"];
    if (token === undefined || !wanted.includes(token.kind)) return undefined;
    if (token.kind === "symbol" && token.value !== ".") return undefined;
  }
  const last = reader.at(to - 1);
  return last?.kind === "quoted" ? last.value : last?.kind === "word" ? reader.text([to - 1, to]) : undefined;
};

const readColumns = (
  reader: Reader,
  verify: (expression: string, field: string) => VerifiedExpression,
): (readonly [string, VerifiedExpression])[] => {
  const columns: (readonly [string, VerifiedExpression])[] = [];
  do {
    const range = reader.until(",", "as", "from");
    if (range[0] === range[1]) reader.refuse("a column");
    const expression = reader.text(range);
    if (expression === "*") throw invalid("query: * must be the only column selected");
    const name = reader.take("word", "as") ? reader.name("a name after AS") : ownName(reader, range);
    if (name === undefined) throw invalid("query: an expression has no name: write it as expression AS name");
    if (name === "" || /[`.]/.test(name))
      throw invalid("query: the name of a column is empty, or has a backtick or a full stop: choose another after AS");
    if (columns.length >= maxSizes.columns) throw invalid(`query: selects more than ${maxSizes.columns} columns`);
    columns.push([name, verify(expression, `the query's column ${name.slice(0, 64)}`)]);
  } while (reader.take("symbol", ","));
  return columns;
};

const readSource = (reader: Reader): readonly string[] => {
  if (reader.is("symbol", "(")) throw unsupported("a query in FROM");
  const source = [reader.name("the name of a table")];
  while (reader.take("symbol", ".")) source.push(reader.name("the name of a table"));
  if (reader.is("symbol", ",")) throw unsupported("a second table or function in FROM");
  if (reader.is("symbol", "(")) throw unsupported("a function in FROM");
  if (reader.is("word", "as") || reader.token.kind === "quoted") throw unsupported("another name of the table");
  return source;
};

const readLimit = (reader: Reader): number => {
  const { kind, value } = reader.token;
  const limit = Number(value);
  if (kind !== "number" || !/^\d+$/.test(value) || !Number.isSafeInteger(limit))
    throw invalid("query: LIMIT takes the digits of a whole number");
  reader.next++;
  return limit;
};

/**
 * Reads the query of a materialized view: columns, a filter and a limit of one table. Whatever else SQL knows is refused by its name.
 * @param verify the guard, for each expression.
 * @throws ServiceError code 0 for a query of another kind, 13 for one that is malformed or whose expressions the guard refuses.
 */
export const readViewQuery = (
  sql: string,
  verify: (expression: string, field: string) => VerifiedExpression,
): ViewQuery => {
  if (Buffer.byteLength(sql) > maxBytes) throw invalid(`query has more than ${maxBytes} bytes: shorten it`);
  const reader = new Reader(sql);
  if (reader.is("word", "with")) throw unsupported("WITH");
  if (!reader.take("word", "select")) reader.refuse("SELECT");
  const isAll = reader.is("symbol", "*") && reader.at(reader.next + 1)?.value === "from";
  if (isAll) reader.next++;
  const select = isAll ? undefined : readColumns(reader, verify);
  if (!reader.take("word", "from")) reader.refuse("FROM");
  const source = readSource(reader);
  const filter = reader.take("word", "where")
    ? verify(reader.text(reader.until("limit")), "the query's WHERE")
    : undefined;
  const limit = reader.take("word", "limit") ? readLimit(reader) : undefined;
  if (reader.token.kind !== "end") reader.refuse("WHERE, LIMIT or the end");
  return { source, select, filter, limit };
};
