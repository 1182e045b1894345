import { distance } from "fastest-levenshtein";
import type { JsonField } from "../../../query/answers.ts";

const number = /^(u?int|float|double|halffloat|decimal)/;
const isNumber = ({ type: { type } }: JsonField): boolean => number.test(type);
const isText = ({ type: { type } }: JsonField): boolean => /utf8|string/.test(type);

/** A name as an expression takes it. */
export const quoted = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `\`${name}\``);

/** Examples of a field with the table's own columns; undefined where none fits. */
export const placeholderOf = (key: string, columns: readonly JsonField[]): string | undefined => {
  const names = columns.slice(0, 2).map(({ name }) => name);
  const value = columns.find(isNumber) ?? columns.find(isText);
  if (value === undefined) return undefined;
  if (key === "filter") return `${quoted(value.name)} ${isNumber(value) ? "> 10" : "= 'a'"}`;
  if (key === "columns") return `${names.join(", ")}   or   {"twice": "${quoted(value.name)}"}`;
  return key === "order_by" ? `${value.name} desc nulls first` : undefined;
};

const comparison = /(?:`(?<quoted>[^`]+)`|(?<plain>[A-Za-z_]\w*))\s*(?:=|!=|<>|<=?|>=?|like|in\s*\()\s*(?:'[^']*)?$/i;

/** The column that the text is just compared with, whose values would complete it. */
export const comparedColumn = (text: string, columns: readonly JsonField[]): JsonField | undefined => {
  const { quoted: name, plain } = comparison.exec(text)?.groups ?? {};
  return columns.find((column) => column.name === (name ?? plain));
};

const maxCompletions = 20;

/**
 * Whole texts of a field that begin with what is there.
 * @param values of the column that is compared, as literals.
 */
export const completionsOf = (
  key: string,
  text: string,
  columns: readonly JsonField[],
  values: readonly string[],
): readonly string[] => {
  if (key === "filter" && comparedColumn(text, columns) !== undefined) {
    const [, before = "", begun = ""] = /^(.*?)('[^']*)?$/s.exec(text) ?? [];
    return values
      .filter((value) => value.startsWith(begun) && value !== begun)
      .map((value) => before + value)
      .slice(0, maxCompletions);
  }
  const [word = ""] = /`?[A-Za-z_]?\w*$/.exec(text) ?? [];
  const before = text.slice(0, text.length - word.length);
  const isInText = key === "filter" && (before.split("'").length - 1) % 2 === 1;
  if (isInText) return [];
  return columns
    .map(({ name }) => (key === "filter" ? quoted(name) : name))
    .filter((name) => name.startsWith(word) && name !== word)
    .map((name) => before + name)
    .slice(0, maxCompletions);
};

const maxDistance = 2;

/** Names in the text of a field that are probably columns. */
const namesIn = (key: string, text: string): readonly string[] => {
  if (key === "filter" || key === "order_by") {
    const code = text.replaceAll(/'(?:[^']|'')*'?/g, "''");
    return [...code.matchAll(/`([^`]+)`|([A-Za-z_]\w*)(?!\w*\s*\()/g)].map(([, name, plain]) => name ?? plain ?? "");
  }
  if (key === "columns" && !text.trimStart().startsWith("{")) return text.split(",").map((name) => name.trim());
  return [];
};

/** What the reader may have meant by a name that is no column but is close to one. */
export const didYouMean = (key: string, text: string, columns: readonly JsonField[]): string | undefined => {
  const known = columns.map(({ name }) => name);
  for (const name of namesIn(key, text)) {
    if (name.length < 3 || known.includes(name)) continue;
    const [nearest] = known
      .map((candidate) => ({ candidate, changes: distance(name.toLowerCase(), candidate.toLowerCase()) }))
      .filter(({ candidate, changes }) => changes <= maxDistance && changes < candidate.length / 2)
      .toSorted((left, right) => left.changes - right.changes);
    if (nearest !== undefined) return `${name} is no column: did you mean ${nearest.candidate}?`;
  }
  return undefined;
};
