import type { Cell } from "../cell.ts";
import { textOf } from "../cell.ts";

/** Points of one colour. */
export interface Group {
  readonly name: string;
  readonly count: number;
}

export interface Grouping {
  /** At most {@link maxGroups}. */
  readonly groups: readonly Group[];
  /** The group of each point, by its place in `groups`. */
  readonly of: readonly number[];
}

export const maxGroups = 6;

const numberOf = (cell: Cell): number | undefined => {
  if (cell.kind !== "number") return undefined;
  const number = Number(cell.text);
  return Number.isFinite(number) ? number : undefined;
};

const nameOf = (cell: Cell): string => (cell.kind === "null" ? "null" : textOf(cell).slice(0, 60));

const counted = (names: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

/** Ranges of numbers with about as many points each; what has no number is a group of its own. */
const byRange = (numbers: readonly (number | undefined)[]): Grouping => {
  const sorted = numbers.filter((number) => number !== undefined).toSorted((left, right) => left - right);
  const ranges = maxGroups - 1;
  const bounds = [
    ...new Set(
      Array.from({ length: ranges - 1 }, (_, at) => sorted[Math.floor(((at + 1) * sorted.length) / ranges)] ?? 0),
    ),
  ];
  const of = numbers.map((number) =>
    number === undefined ? bounds.length + 1 : bounds.filter((bound) => number >= bound).length,
  );
  const names = [...bounds, undefined].map((bound, at) => {
    const from = at === 0 ? sorted[0] : bounds[at - 1];
    return `${from} to ${bound === undefined ? sorted.at(-1) : `below ${bound}`}`;
  });
  const counts = counted(of.map(String));
  const groups = [...names, "none"].map((name, at) => ({ name, count: counts.get(String(at)) ?? 0 }));
  return { groups: groups.at(-1)?.count === 0 ? groups.slice(0, -1) : groups, of };
};

/** The most frequent values; all others share a colour. */
const byValue = (names: readonly string[], counts: ReadonlyMap<string, number>): Grouping => {
  const frequent = [...counts].toSorted((left, right) => right[1] - left[1]);
  const own = frequent.slice(0, counts.size > maxGroups ? maxGroups - 1 : maxGroups);
  const places = new Map(own.map(([name], at) => [name, at]));
  const rest = names.length - own.reduce((sum, [, count]) => sum + count, 0);
  const groups = own.map(([name, count]) => ({ name, count }));
  return {
    groups: rest === 0 ? groups : [...groups, { name: `${counts.size - own.length} other values`, count: rest }],
    of: names.map((name) => places.get(name) ?? own.length),
  };
};

/** Colours of points by the values of a column. */
export const groupsOf = (cells: readonly Cell[]): Grouping => {
  const names = cells.map(nameOf);
  const counts = counted(names);
  const numbers = cells.map(numberOf);
  const areNumbers =
    counts.size > maxGroups && cells.every((cell, at) => cell.kind === "null" || numbers[at] !== undefined);
  return areNumbers ? byRange(numbers) : byValue(names, counts);
};
