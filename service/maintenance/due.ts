import { cleanUpOf } from "../lance/maintenance/clean-up.ts";
import { canRebuild, type TableState } from "../lance/maintenance/maintained-tables.ts";
import { thresholds } from "../plan-doctor/thresholds.ts";
import type { IndexFacts, StatisticsFacts } from "../plan-doctor/types.ts";
import type { Limits } from "./policy.ts";

/** `optimize` merges fragments and extends indices, `rebuild` builds one index anew, `clean-up` deletes versions. */
export type Action =
  | { readonly kind: "optimize" }
  | { readonly kind: "rebuild"; readonly index: string }
  | { readonly kind: "clean-up"; readonly deleteBefore: number };

export interface Due {
  readonly action: Action;
  /** What was found, and from which value it is due. */
  readonly reason: string;
}

export interface Judgement {
  readonly due: readonly Due[];
  /** What maintenance cannot do, with the way out. */
  readonly notes: readonly string[];
}

const count = (value: number, noun: string): string =>
  `${value.toLocaleString("en-US")} ${noun}${value === 1 ? "" : "s"}`;

const reached = (value: number, limit: number | null): limit is number => limit !== null && value >= limit;

const limitText = (limit: number): string => `(due from ${limit.toLocaleString("en-US")})`;

const optimize = { kind: "optimize" } as const;

const compactionDue = (statistics: StatisticsFacts, { smallFragments, deletedPercent }: Limits): Due[] => {
  const { small_fragments: small, deleted_rows: deleted, rows } = statistics;
  const percent = rows + deleted === 0 ? 0 : (100 * deleted) / (rows + deleted);
  return [
    ...(reached(small, smallFragments)
      ? [
          {
            action: optimize,
            reason: `${count(small, "fragment")} of fewer than 100,000 rows ${limitText(smallFragments)}`,
          },
        ]
      : []),
    // As for the plan doctor: of a small table, the share says nothing.
    ...(reached(percent, deletedPercent) && deleted >= thresholds.unindexedRows.value
      ? [
          {
            action: optimize,
            reason: `${count(deleted, "deleted row")} in storage, ${Math.floor(percent)} % of all ${limitText(deletedPercent)}`,
          },
        ]
      : []),
  ];
};

const unindexedDue = (index: IndexFacts, { unindexedRows }: Limits): Due[] =>
  reached(index.unindexed_rows ?? 0, unindexedRows)
    ? [
        {
          action: optimize,
          reason: `${count(index.unindexed_rows ?? 0, "row")} outside of the index ${index.name} ${limitText(unindexedRows)}`,
        },
      ]
    : [];

const deltasDue = (index: IndexFacts, { deltas }: Limits): Judgement => {
  const parts = index.deltas ?? 1;
  if (!reached(parts, deltas)) return { due: [], notes: [] };
  const reason = `${count(parts, "part")} of the index ${index.name} ${limitText(deltas)}`;
  return canRebuild(index)
    ? { due: [{ action: { kind: "rebuild", index: index.name }, reason }], notes: [] }
    : {
        due: [],
        notes: [
          `${reason}: the SDK cannot build an index of the type ${index.type} anew; do it with the client that made it`,
        ],
      };
};

const cleanUpDue = ({ history }: TableState, { keptMs }: Limits, now: number): Judgement => {
  const found = history === null || keptMs === null ? undefined : cleanUpOf(history, keptMs, now);
  if (found === undefined || keptMs === null) return { due: [], notes: [] };
  const hours = (keptMs / 3_600_000).toLocaleString("en-US");
  const { deleteBefore, versions, heldBy } = found;
  return {
    due:
      versions === 0
        ? []
        : [
            {
              action: { kind: "clean-up", deleteBefore },
              reason: `${count(versions, "version")} replaced more than ${hours} hours ago`,
            },
          ],
    notes:
      heldBy === undefined
        ? []
        : [
            `${count(heldBy.versions, "version")} newer than version ${heldBy.version} stay because of its tag "${heldBy.tag}": the SDK deletes no version after the oldest tag; move or delete the tag to free them`,
          ],
  };
};

/**
 * What is due for a table, in the order in which it is done. Fragments that different parts of an index cover are never
 * merged, so an index is built anew before fragments are merged.
 * @param now milliseconds since 1970.
 */
export const judge = (state: TableState, limits: Limits, now: number): Judgement => {
  const { statistics, indices } = state.facts;
  const deltas = (indices ?? []).map((index) => deltasDue(index, limits));
  const cleanUp = cleanUpDue(state, limits, now);
  return {
    due: [
      ...deltas.flatMap(({ due }) => due),
      ...(statistics === null ? [] : compactionDue(statistics, limits)),
      ...(indices ?? []).flatMap((index) => unindexedDue(index, limits)),
      ...cleanUp.due,
    ],
    notes: [...deltas.flatMap(({ notes }) => notes), ...cleanUp.notes],
  };
};
