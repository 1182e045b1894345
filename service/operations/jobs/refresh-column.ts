import { z } from "zod";
import type { VerifiedExpression } from "../../guard/expression/index.ts";
import type { JobHandler } from "../../jobs/index.ts";
import type { Database } from "../../lance/database.ts";
import { currentCall } from "../shared/current-call.ts";

/** What a job of the type `refresh_column` does. The expression was verified before it started. */
export const refreshSpec = z.object({
  id: z.array(z.string()).min(1),
  column: z.string(),
  branch: z.string().optional(),
  expression: z.string(),
});

/** Settles with a call that cannot be cancelled, or with the signal. */
const unlessAborted = async <T>(signal: AbortSignal, call: Promise<T>): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error("stopped"));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return Promise.race([call, promise]).finally(() => signal.removeEventListener("abort", abort));
};

/** Refreshes a computed column, in a worker process where there are any. What a first attempt has computed stays. */
export const refreshColumnHandler = (database: Pick<Database, "refreshColumn">): JobHandler => ({
  resumable: true,
  perform: async ({ owner, spec }, { signal, appendEvents }) => {
    const { id, column, branch, expression } = refreshSpec.parse(spec);
    const table = { parts: id, key: id.join("$"), namespace: id.slice(0, -1), name: id.at(-1) ?? "" };
    await appendEvents([{ state: "claim", claimEntity: column }]);
    const target = { table, ...(branch === undefined ? {} : { branch }) };
    const { before, version, rowsAssigned } = await currentCall.run({ caller: owner, stop: signal }, () =>
      unlessAborted(signal, database.refreshColumn(target, column, expression as VerifiedExpression)),
    );
    await appendEvents([{ state: "claim_complete", claimEntity: column, rowsProcessed: rowsAssigned }]);
    return {
      rows_assigned: rowsAssigned,
      rows_failed: 0,
      rows_remaining: 0,
      source_version: before,
      published_version: version,
    };
  },
});
