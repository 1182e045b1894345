import { z } from "zod";
import type { VerifiedExpression } from "../../guard/expression/index.ts";
import type { TableId } from "../../guard/table-id.ts";
import { JobBusy, type JobContext, JobFailed, type JobHandler, type JobRecord } from "../../jobs/index.ts";
import type { Database } from "../../lance/database.ts";
import type { UnderLease } from "../../lance/maintenance/table-lease.ts";
import { currentCall } from "../shared/current-call.ts";

/** What a job of the type `refresh_column` does. The expression was verified before it started. */
export const refreshSpec = z.object({
  id: z.array(z.string()).min(1),
  column: z.string(),
  branch: z.string().optional(),
  expression: z.string(),
});

/** What a job of the type `refresh_view` does. The definition was verified before it started. */
export const refreshViewSpec = z.object({
  id: z.array(z.string()).min(1),
  definition: z.string(),
  incarnation: z.string(),
  full: z.boolean(),
  source_version: z.int().min(0).optional(),
});

const tableOf = (parts: readonly string[]): TableId => ({
  parts,
  key: parts.join("$"),
  namespace: parts.slice(0, -1),
  name: parts.at(-1) ?? "",
});

/** Settles with a call that cannot be cancelled, or with the signal. */
const unlessAborted = async <T>(signal: AbortSignal, call: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error("stopped"));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return Promise.race([call, promise]).finally(() => signal.removeEventListener("abort", abort));
};

export interface RefreshTools {
  readonly database: Pick<Database, "refreshColumn" | "refreshView">;
  /** The lease that the maintenance of a table holds, too: a compaction and a refresh would undo each other's work. */
  readonly underLease: UnderLease;
}

interface Refresh<T> {
  readonly table: TableId;
  /** What is refreshed, for events. */
  readonly entity: string;
  readonly run: () => Promise<T>;
  /** Rows that the refresh has written. */
  readonly rowsOf: (result: T) => number;
}

/** Runs a refresh under the table's lease, in a worker process where there are any. */
const refresh = async <T>(
  { underLease }: RefreshTools,
  { id, owner }: JobRecord,
  { signal, appendEvents }: JobContext,
  { table, entity, run, rowsOf }: Refresh<T>,
): Promise<T> => {
  const result = await underLease(table.key, `job/${id}`, async (lease) => {
    await appendEvents([{ state: "claim", claimEntity: entity }]);
    const stop = AbortSignal.any([signal, lease]);
    const done = await currentCall
      .run({ caller: owner, stop }, () => unlessAborted(stop, run()))
      .catch((error: unknown) => {
        if (!lease.aborted) throw error;
        throw new JobFailed("lease", "the lease of the table was lost; retry", true, { cause: lease.reason });
      });
    await appendEvents([{ state: "claim_complete", claimEntity: entity, rowsProcessed: rowsOf(done) }]);
    return { done };
  });
  if (result === undefined) throw new JobBusy("waits for the maintenance of the table, or for another job on it");
  return result.done;
};

/** Refreshes a computed column. What a first attempt has computed stays. */
export const refreshColumnHandler = (tools: RefreshTools): JobHandler => ({
  resumable: true,
  perform: async (job, context) => {
    const { id, column, branch, expression } = refreshSpec.parse(job.spec);
    const target = { table: tableOf(id), ...(branch === undefined ? {} : { branch }) };
    const { before, version, rowsAssigned } = await refresh(tools, job, context, {
      table: target.table,
      entity: column,
      run: () => tools.database.refreshColumn(target, column, expression as VerifiedExpression),
      rowsOf: (result) => result.rowsAssigned,
    });
    return {
      rows_assigned: rowsAssigned,
      rows_failed: 0,
      rows_remaining: 0,
      source_version: before,
      published_version: version,
    };
  },
});

/** Refreshes a materialized view. A second attempt finds what a first one has committed. */
export const refreshViewHandler = (tools: RefreshTools): JobHandler => ({
  resumable: true,
  perform: async (job, context) => {
    const { id, full, source_version: sourceVersion, ...stored } = refreshViewSpec.parse(job.spec);
    const view = tableOf(id);
    const refreshed = await refresh(tools, job, context, {
      table: view,
      entity: view.key,
      run: () => tools.database.refreshView(view, stored, { full, sourceVersion }),
      rowsOf: (result) => result.rowsWritten,
    });
    return {
      mode: refreshed.mode,
      rows_written: refreshed.rowsWritten,
      source_version: refreshed.sourceVersion,
      version: refreshed.version,
    };
  },
});
