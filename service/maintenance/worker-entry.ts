/** Entry point of the process that works on one table. Its run decides when it ends. */

import type { MaintainedDatabase } from "../config/maintenance.ts";
import { classify } from "../lance/errors/classify.ts";
import { describeFailure, MaintainedTables } from "../lance/maintenance/maintained-tables.ts";
import { wideRowEnvironment } from "../lance/maintenance/wide-rows.ts";
import { raiseOomScore } from "../workers/oom-score.ts";
import { type Step, type WorkOptions, type WorkResult, workOn } from "./work.ts";

export interface Job {
  readonly database: MaintainedDatabase;
  readonly id: readonly string[];
  readonly options: WorkOptions;
  /** A directory for the engine's files, which the run removes. */
  readonly temporary: string;
}

export type FromWorker =
  | { readonly kind: "step"; readonly step: Step }
  | { readonly kind: "result"; readonly result: WorkResult }
  | { readonly kind: "failure"; readonly message: string; readonly isNative: boolean };

const send = (message: FromWorker): Promise<void> =>
  // An error means that the run has ended: there is no receiver.
  new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });

process.on("message", async ({ database, id, options, temporary }: Job) => {
  // biome-ignore lint/style/noProcessEnv: the engine reads TMPDIR when it opens the database
  process.env.TMPDIR = temporary;
  const tables = new MaintainedTables(database);
  try {
    const { facts } = await tables.state(id, false);
    // biome-ignore lint/style/noProcessEnv: see above
    Object.assign(process.env, wideRowEnvironment(facts.statistics));
    await send({
      kind: "result",
      result: await workOn(tables, id, options, (step) => void send({ kind: "step", step })),
    });
  } catch (error) {
    await send({ kind: "failure", message: describeFailure(error), isNative: classify(error).code === 18 });
  }
  process.disconnect?.();
});

// A terminal sends signals to the whole process group, but only the run decides when its worker ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

// The run has ended, or this process is done. SIGKILL, because process.exit would wait for native threads.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

await raiseOomScore();
