import type { MaintenanceConfig, RayConfig } from "../../config/maintenance.ts";
import type { MaintainedTables } from "../../lance/maintenance/maintained-tables.ts";
import { fragmentRowsOf, wideRowEnvironment } from "../../lance/maintenance/wide-rows.ts";
import type { Facts, StatisticsFacts } from "../../plan-doctor/types.ts";
import { type Due, judge } from "../due.ts";
import type { LeasedWorkOptions } from "../leased-work.ts";
import { figuresOf, type Step } from "../work.ts";
import { type EndedJob, NoRayCluster, runRayJob } from "./job.ts";

interface Listeners {
  readonly onStep: (table: string, step: Step) => void;
  readonly onJob: (table: string, job: EndedJob) => void;
}

/** Memory for each row of an indexed table that is merged, in bytes, as `npm run bench:maintenance` measures it. */
const indexedRowBytes = 160;

/** Whether a table is above the configured size, or its rows above what the memory of one process holds. */
const isLarge = (
  statistics: StatisticsFacts,
  indices: Facts["indices"],
  { bytes }: RayConfig,
  memoryBytes: number,
): boolean =>
  statistics.bytes >= bytes || ((indices ?? []).length > 0 && statistics.rows * indexedRowBytes > memoryBytes);

const rebuildsOf = (due: readonly Due[]): readonly string[] =>
  due.flatMap(({ action }) => (action.kind === "rebuild" ? [action.index] : []));

/** The work on large tables that a Ray cluster does before a process of this machine. */
export const workOnRay =
  (
    { ray, database, attempts, tableSeconds, memoryBytes }: MaintenanceConfig & { readonly ray: RayConfig },
    tables: MaintainedTables,
    { onStep, onJob }: Listeners,
  ): NonNullable<LeasedWorkOptions["ahead"]> =>
  async (id, limits, signal) => {
    const state = await tables.state(id, limits.keptMs !== null);
    const { facts } = state;
    const { due } = judge(state, limits, Date.now());
    const { statistics } = facts;
    if (statistics === null || !isLarge(statistics, facts.indices, ray, memoryBytes)) return undefined;
    if (due.every(({ action }) => action.kind === "clean-up")) return undefined;
    const table = id.join("$");
    const rebuilds = rebuildsOf(due);
    const { uri, indices } = await tables.forRay(id, rebuilds);
    const rebuilt = new Set(indices.map(({ name }) => name));
    const before = { before: figuresOf(state, null), due: due.map(({ reason }) => reason) };
    const onEnd = (job: EndedJob): void => {
      onJob(table, job);
      if (job.result === undefined) return;
      const { workers: _, rebuilt: __, ...step } = job.result;
      onStep(table, { action: "ray", job: job.job, seconds: job.seconds, conflicts: 0, ...step });
    };
    try {
      const work = {
        ...{ table, uri, storageOptions: database.storageOptions, indices, attempts },
        fragmentRows: fragmentRowsOf(statistics, limits.targetBytes),
        environment: wideRowEnvironment(statistics),
      };
      await runRayJob(ray, work, { seconds: tableSeconds, signal }, onEnd);
    } catch (error) {
      if (!(error instanceof NoRayCluster)) throw error;
      return { ...before, notes: [`all work was done on one machine, because Ray took no job: ${error.message}`] };
    }
    const others = (facts.indices ?? []).filter(({ name }) => !rebuilt.has(name));
    return {
      ...before,
      notes: others.flatMap(({ name, unindexed_rows: rows }) =>
        rebuilds.includes(name)
          ? [`the index ${name} was built anew on one machine: lance-ray cannot build its type`]
          : (rows ?? 0) > 0
            ? [`the index ${name} was extended on one machine: lance-ray cannot distribute that`]
            : [],
      ),
    };
  };
