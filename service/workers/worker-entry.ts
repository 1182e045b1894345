/** Entry point of a worker process: opens its own database, runs the calls of its supervisor, which also ends it. */
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdirSync, rmSync } from "node:fs";
import type { Database } from "../lance/database.ts";
import { openInProcess } from "../lance/in-process-database.ts";
import { raiseOomScore } from "./oom-score.ts";
import { type FromWorker, perform, type ToWorker, toFailure } from "./protocol.ts";
import { temporaryDirectoryOf } from "./temporary-directory.ts";
import { writeWindow } from "./window-files.ts";

const temporary = temporaryDirectoryOf(process.pid);
// Of a process with the same id, before this container's last start.
rmSync(temporary, { recursive: true, force: true });
mkdirSync(temporary);
// biome-ignore lint/style/noProcessEnv: the engine reads TMPDIR when it opens the database
process.env.TMPDIR = temporary;

/** Resolves when the message is on its way: the supervisor gets it even if this process is killed next. */
const send = (message: FromWorker): Promise<void> =>
  new Promise((resolve) => {
    // An error means that the supervisor has ended: there is no receiver.
    process.send?.(message, undefined, undefined, () => resolve());
  });

const currentCall = new AsyncLocalStorage<number>();

const beforeCommit = async (): Promise<void> => {
  const id = currentCall.getStore();
  if (id !== undefined) await send({ kind: "committing", id });
};

let database: Database | undefined;

process.on("message", async (message: ToWorker) => {
  if (message.kind === "open") {
    database = openInProcess(message.database, undefined, beforeCommit);
    void send({ kind: "ready" });
    return;
  }
  for (const tableKey of message.forget) database?.forget(tableKey);
  if (message.kind === "forget") return;
  const { id, call } = message;
  try {
    const opened = database;
    if (opened === undefined) throw new Error("a call was received before the configuration of the database");
    const result = await currentCall.run(id, () => perform(opened, call));
    const isForFile = call.into !== undefined && result instanceof Uint8Array;
    void send({ kind: "result", id, result: isForFile ? await writeWindow(call.into, result) : result });
  } catch (error) {
    void send({ kind: "failure", id, failure: toFailure(error) });
  }
});

// A terminal sends signals to the whole process group, but only the supervisor decides when a worker ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

// Ends without the supervisor. SIGKILL, because process.exit would wait for native threads.
const end = (): void => {
  try {
    // The engine's threads may still write into it.
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
};
process.on("disconnect", end);
if (!process.connected) end();

await raiseOomScore();
