import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, startProcess } from "../support/process.ts";

/** A temporary directory for `npm start`, and the processes started in it. */
export class Workplace {
  readonly #running: Running[] = [];
  home = "";

  async open(): Promise<void> {
    this.home = await mkdtemp(join(tmpdir(), "lakehead-acceptance-"));
  }

  /** Starts what `npm start` runs, on ports that the system chooses. */
  start(environment: Readonly<Record<string, string>> = {}): Running {
    const running = startProcess(process.execPath, ["service/quickstart/main.ts"], {
      LAKEHEAD_HOME: this.home,
      LAKEHEAD_PORT: "0",
      LAKEHEAD_OPERATIONS_PORT: "0",
      ...environment,
    });
    this.#running.push(running);
    return running;
  }

  async close(): Promise<void> {
    for (const { child } of this.#running) child.kill("SIGKILL");
    await Promise.all(this.#running.map((running) => running.exited()));
    await rm(this.home, { recursive: true, force: true });
  }
}
