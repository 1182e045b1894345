import { compileTablePatterns } from "../auth/tables.ts";
import type { MaintenanceRule } from "../config/maintenance-policy.ts";
import { thresholds } from "../plan-doctor/thresholds.ts";

/** From which value a table is due; null: never for this reason. */
export interface Limits {
  readonly smallFragments: number | null;
  readonly deletedPercent: number | null;
  /** From which a fragment is large enough, however few its rows. */
  readonly targetBytes: number;
  readonly unindexedRows: number | null;
  readonly deltas: number | null;
  /** Milliseconds for which a version that was replaced is kept. */
  readonly keptMs: number | null;
}

const limitsOf = ({ compaction, indices, cleanup }: MaintenanceRule): Limits => {
  const when = (enabled: boolean, limit: number): number | null => (enabled ? limit : null);
  return {
    smallFragments: when(compaction.enabled, compaction.smallFragments ?? thresholds.smallFragments.value),
    deletedPercent: when(compaction.enabled, compaction.deletedPercent ?? thresholds.deletedPercent.value),
    targetBytes: (compaction.targetMegabytes ?? 1000) * 1e6,
    unindexedRows: when(indices.enabled, indices.unindexedRows ?? thresholds.unindexedRows.value),
    deltas: when(indices.enabled, indices.deltas ?? thresholds.deltas.value),
    keptMs: cleanup.olderThanHours === undefined ? null : cleanup.olderThanHours * 3_600_000,
  };
};

/** Finds the limits of a table by its first rule; undefined: no rule has a pattern for it. */
export type Policy = (id: readonly string[]) => Limits | undefined;

export const compilePolicy = (rules: readonly MaintenanceRule[]): Policy => {
  const compiled = rules.map((rule) => ({ patterns: compileTablePatterns(rule.tables), limits: limitsOf(rule) }));
  return (id) => compiled.find(({ patterns }) => patterns.permits(id))?.limits;
};
