import { cleanUpOf } from "../lance/maintenance/clean-up.ts";
import { canRebuild, type TableState } from "../lance/maintenance/maintained-tables.ts";
import { mostFragmentRows } from "../lance/maintenance/wide-rows.ts";
import { thresholds } from "../plan-doctor/thresholds.ts";
import type { IndexFacts, StatisticsFacts } from "../plan-doctor/types.ts";
import type { Limits } from "./policy.ts";

/** `optimize` merges fragments and extends indices, `rebuild` builds one index anew, `clean-up` deletes versions. */
export type Action =
  | { readonly kind: "optimize" }
  /** `alone`: without a merge after it. */
  | { readonly kind: "rebuild"; readonly index: string; readonly alone: boolean }
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

/** The part of a table that is new from which a merge is worth to write all of it again. */
const leastNewPart = 1 / 4;

/**
 * How many times the target's bytes a merge by the SDK writes again for few new rows; 1 where it does not. The SDK merges all
 * fragments up to a number of rows, whatever their bytes, so a table of large values is one fragment afterwards.
 */
const mergeCostOf = ({ facts: { statistics, indices } }: TableState, { targetBytes }: Limits): number => {
  if (statistics === null || statistics.fragments < 2 || statistics.largest_fragment_rows >= mostFragmentRows) return 1;
  const { rows, deleted_rows: deleted, fragments, largest_fragment_rows: largestRows } = statistics;
  const bytes = statistics.bytes - (indices ?? []).reduce((sum, index) => sum + (index.bytes ?? 0), 0);
  const largest = (bytes * largestRows) / Math.max(1, rows + deleted);
  const areAllLarge = bytes / fragments >= targetBytes / 2;
  const again = areAllLarge ? bytes : bytes - largest < bytes * leastNewPart ? largest : 0;
  return Math.max(1, again / targetBytes);
};

const fragmentsDue = (
  { small_fragments: small, bytes }: StatisticsFacts,
  { smallFragments, targetBytes }: Limits,
  mergeCost: number,
): Judgement => {
  // A table has so many fragments if all of them are large enough.
  const merging = small - Math.floor(bytes / targetBytes);
  if (!reached(merging, smallFragments)) return { due: [], notes: [] };
  const limit = Math.ceil(smallFragments * mergeCost);
  const reason = `${count(merging, "fragment")} of fewer than 100,000 rows ${limitText(limit)}`;
  return merging >= limit
    ? { due: [{ action: optimize, reason }], notes: [] }
    : {
        due: [],
        notes: [
          `${reason}, because a merge writes ${count(Math.round((mergeCost * targetBytes) / 1e6), "megabyte")} again that are in large fragments`,
        ],
      };
};

const deletedDue = (statistics: StatisticsFacts, { deletedPercent }: Limits): Due[] => {
  const { deleted_rows: deleted, rows } = statistics;
  const percent = rows + deleted === 0 ? 0 : (100 * deleted) / (rows + deleted);
  return [
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

/** By a merge, which extends all indices, or by building the index anew where that writes less. */
const unindexedDue = (index: IndexFacts, { unindexedRows }: Limits, mergeCost: number): Due[] =>
  reached(index.unindexed_rows ?? 0, unindexedRows)
    ? [
        {
          action: mergeCost > 1 && canRebuild(index) ? { kind: "rebuild", index: index.name, alone: true } : optimize,
          reason: `${count(index.unindexed_rows ?? 0, "row")} outside of the index ${index.name} ${limitText(unindexedRows)}`,
        },
      ]
    : [];

const deltasDue = (index: IndexFacts, { deltas }: Limits, mergeCost: number): Judgement => {
  const parts = index.deltas ?? 1;
  if (!reached(parts, deltas)) return { due: [], notes: [] };
  const reason = `${count(parts, "part")} of the index ${index.name} ${limitText(deltas)}`;
  return canRebuild(index)
    ? { due: [{ action: { kind: "rebuild", index: index.name, alone: mergeCost > 1 }, reason }], notes: [] }
    : {
        due: [],
        notes: [
          `${reason}: the SDK cannot build an index of the type ${index.type} anew; do it with the client that made it`,
        ],
      };
};

/** @param merges whether the SDK's call, which merges as well, has nothing to write that is not due anyway. */
const cleanUpDue = ({ history }: TableState, { keptMs }: Limits, now: number, merges: boolean): Judgement => {
  const found = history === null || keptMs === null ? undefined : cleanUpOf(history, keptMs, now);
  if (found === undefined || history === null || keptMs === null) return { due: [], notes: [] };
  // Not more than once in the time for which versions are kept.
  if (!merges && now - (history.versions[1]?.createdAt ?? now) < 2 * keptMs) return { due: [], notes: [] };
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
  const mergeCost = mergeCostOf(state, limits);
  const deltas = (indices ?? []).map((index) => deltasDue(index, limits, mergeCost));
  const fragments = statistics === null ? { due: [], notes: [] } : fragmentsDue(statistics, limits, mergeCost);
  const rows = [
    ...fragments.due,
    ...(statistics === null ? [] : deletedDue(statistics, limits)),
    ...(indices ?? []).flatMap((index) => unindexedDue(index, limits, mergeCost)),
  ];
  const cleanUp = cleanUpDue(state, limits, now, mergeCost === 1 || rows.some(({ action }) => action === optimize));
  return {
    due: [...deltas.flatMap(({ due }) => due), ...rows, ...cleanUp.due],
    notes: [...deltas.flatMap(({ notes }) => notes), ...fragments.notes, ...cleanUp.notes],
  };
};
