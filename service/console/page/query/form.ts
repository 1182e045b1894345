import type { Query } from "../api.ts";
import { type Field, type FieldKind, fields } from "./fields.ts";

/** The text of each field by its key; a flag is "true" or empty. */
export type Form = Readonly<Record<string, string>>;

export interface Problem {
  readonly key: string;
  readonly message: string;
}

class FieldError extends Error {}

const fail = (message: string): never => {
  throw new FieldError(message);
};

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return fail("is not valid JSON");
  }
};

const numberOf = (text: string): number => {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? fail(`${JSON.stringify(text)} is not a number`) : value;
};

/** Numbers separated by commas or spaces, or a JSON array of numbers or of such arrays. */
export const parseVector = (text: string): readonly number[] | readonly (readonly number[])[] => {
  if (!text.startsWith("["))
    return text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(numberOf);
  const value = json(text);
  const isNumbers = (entry: unknown): entry is number[] =>
    Array.isArray(entry) && entry.length > 0 && entry.every((number) => typeof number === "number");
  if (isNumbers(value) || (Array.isArray(value) && value.length > 0 && value.every(isNumbers))) return value;
  return fail("must be an array of numbers, or of arrays of numbers");
};

const names = (text: string): readonly string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);

const ordering = /^(?<name>.+?)(?:\s+(?<direction>asc|desc))?(?:\s+nulls\s+(?<nulls>first|last))?$/i;

const parseOrder = (text: string) =>
  names(text).map((entry) => {
    const { name = entry, direction, nulls } = ordering.exec(entry)?.groups ?? {};
    return {
      column_name: name,
      ascending: direction?.toLowerCase() !== "desc",
      nulls_first: nulls?.toLowerCase() === "first",
    };
  });

const parse: Readonly<Record<FieldKind, (text: string) => unknown>> = {
  count: (text) => (/^\d+$/.test(text) ? Number(text) : fail("must be a whole number, 0 or greater")),
  number: numberOf,
  flag: () => true,
  text: (text) => text,
  choice: (text) => text,
  vector: parseVector,
  columns: (text) => (text.startsWith("{") ? json(text) : names(text)),
  fullText: (text) =>
    text.startsWith("{") ? { structured_query: { query: json(text) } } : { string_query: { query: text, columns: [] } },
  order: parseOrder,
};

/** The query of a form. Empty fields are left out. `k` is 10 unless it is set. */
export const toQuery = (form: Form): { readonly query: Query; readonly problems: readonly Problem[] } => {
  const problems: Problem[] = [];
  const entries = fields.flatMap(({ key, kind }: Field) => {
    const text = (form[key] ?? "").trim();
    if (text === "") return [];
    try {
      return [[key, parse[kind](text)] as const];
    } catch (error) {
      problems.push({ key, message: (error as Error).message });
      return [];
    }
  });
  return { query: { k: 10, ...Object.fromEntries(entries) }, problems };
};

interface Ordering {
  readonly column_name: string;
  readonly ascending?: boolean;
  readonly nulls_first?: boolean;
}

interface FullText {
  readonly string_query?: { readonly query: string };
  readonly structured_query?: { readonly query: unknown };
}

const print: Readonly<Record<FieldKind, (value: unknown) => string>> = {
  count: String,
  number: String,
  flag: (value) => (value === true ? "true" : ""),
  text: String,
  choice: String,
  vector: (value) => JSON.stringify(value),
  columns: (value) => (Array.isArray(value) ? value.join(", ") : JSON.stringify(value)),
  fullText: (value) => {
    const { string_query: words, structured_query: clause } = value as FullText;
    return words?.query ?? JSON.stringify(clause?.query);
  },
  order: (value) =>
    (value as readonly Ordering[])
      .map(
        ({ column_name: name, ascending, nulls_first: first }) =>
          `${name}${ascending === false ? " desc" : ""}${first === true ? " nulls first" : ""}`,
      )
      .join(", "),
};

/** The form of a query, the inverse of {@link toQuery}. */
export const fromQuery = (query: Query): Form =>
  Object.fromEntries(
    fields.flatMap(({ key, kind }) => {
      const value = query[key];
      return value === undefined || value === null ? [] : [[key, print[kind](value)]];
    }),
  );

/** Random numbers from -1 to 1 with four digits. */
export const randomVector = (dimensions: number, random: () => number = Math.random): string =>
  JSON.stringify(Array.from({ length: dimensions }, () => Math.round((random() * 2 - 1) * 1e4) / 1e4));
