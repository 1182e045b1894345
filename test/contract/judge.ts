import type { Comparison, Difference } from "./compare.ts";
import type { Deviation } from "./deviations.ts";

/** A difference's field as the list names it. `explain_plan` nests in `query` what other operations have at the top level. */
export const fieldOf = ({ part, field, detail }: Difference): string =>
  `${part === "request" ? field.replace(/^query\./, "") : field}${detail === undefined ? "" : ` (${detail})`}`;

export const textOf = (difference: Difference): string =>
  `${difference.part} ${difference.kind}: ${fieldOf(difference)}`;

export interface Judgement {
  /** Differences that no entry of the list covers. */
  readonly unlisted: ReadonlySet<Difference>;
  /** Entries of the list without a difference. */
  readonly stale: readonly string[];
  /** How many differences are covered. */
  readonly listed: number;
}

/** Compares the differences with the list of permitted ones. Both must match. */
export const judge = (comparisons: readonly Comparison[], list: readonly Deviation[]): Judgement => {
  const differences = comparisons.flatMap((comparison) => comparison.differences);
  const covers = (entry: Deviation, field: string, { operation, part, kind, ...rest }: Difference): boolean =>
    entry.part === part &&
    entry.kind === kind &&
    (entry.operations === "every" || entry.operations.includes(operation)) &&
    fieldOf({ operation, part, kind, ...rest }) === field;
  const unlisted = new Set(
    differences.filter(
      (difference) => !list.some((entry) => entry.fields.some((field) => covers(entry, field, difference))),
    ),
  );
  const stale = list.flatMap((entry) => {
    const wanted = entry.operations === "every" ? [undefined] : entry.operations;
    return wanted.flatMap((operation) =>
      entry.fields
        .filter(
          (field) =>
            !differences.some(
              (difference) =>
                (operation === undefined || operation === difference.operation) && covers(entry, field, difference),
            ),
        )
        .map((field) => `${operation ?? "every operation"}: ${entry.part} ${entry.kind}: ${field}`),
    );
  });
  return { unlisted, stale, listed: differences.length - unlisted.size };
};
