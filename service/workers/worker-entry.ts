/** Entry point of a worker process: a database of its own, asked by messages, ended by its supervisor. */
import { mkdirSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import type { Database } from "../lance/database.ts";
import { openInProcess } from "../lance/in-process-database.ts";
import { type FromWorker, perform, type ToWorker, toFailure } from "./protocol.ts";
import { temporaryDirectoryOf } from "./temporary-directory.ts";

const temporary = temporaryDirectoryOf(process.pid);
mkdirSync(temporary, { recursive: true });
// biome-ignore lint/style/noProcessEnv: the only way to tell the engine, which looks when it opens the database
process.env.TMPDIR = temporary;

/** Of the processes of a container, the kernel should end a worker before it ends the service. */
const preferAsVictim = (): Promise<void> => writeFile("/proc/self/oom_score_adj", "500").catch(() => undefined);

const answer = (message: FromWorker): void => {
  // The channel may be gone because the supervisor is: nobody waits for the answer then.
  process.send?.(message, undefined, undefined, () => undefined);
};

let database: Database | undefined;

process.on("message", async (message: ToWorker) => {
  if (message.kind === "open") {
    database = openInProcess(message.database);
    answer({ kind: "ready" });
    return;
  }
  const { id, call } = message;
  try {
    if (database === undefined) throw new Error("a call arrived before the database's address");
    answer({ kind: "result", id, result: await perform(database, call) });
  } catch (error) {
    answer({ kind: "failure", id, failure: toFailure(error) });
  }
});

// A terminal sends its signals to the whole group of processes: the supervisor alone decides when a worker ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

// Without a supervisor nobody would ever end this process; native threads would keep a mere exit waiting.
const end = (): void => {
  rmSync(temporary, { recursive: true, force: true });
  process.kill(process.pid, "SIGKILL");
};
process.on("disconnect", end);
if (!process.connected) end();

await preferAsVictim();
