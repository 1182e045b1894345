import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { type Running, startProcess } from "../../acceptance/process.ts";
import { staticToken, testToken } from "../../support/service.ts";

/** The real service in a process of its own, on a copy of the test tables: what ends it is seen and ends no test. */
export interface ServiceProcess {
  readonly base: string;
  readonly port: number;
  readonly operationsBase: string;
  /** Signal or exit code, once the process has ended. */
  ended(): string | number | null | undefined;
  exited: Running["exited"];
  output: Running["output"];
  /** Status of /readyz. */
  ready(): Promise<number>;
  /** SIGTERM, and the end of what it still had to send and say. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export const startServiceProcess = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-hostile-"));
  await cp(inject("tables"), join(home, "data"), { recursive: true });
  const running = startProcess("service/main.ts", {
    LAKEHEAD_DATABASE: join(home, "data"),
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_DRAIN_SECONDS: "0",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("hostile", testToken)]),
    ...environment,
  });
  const [line] = await running.printed(/^.*"listening".*$/m);
  const { port, operationsPort }: { port: number; operationsPort: number } = JSON.parse(line);
  const ready = async () => (await fetch(`http://127.0.0.1:${operationsPort}/readyz`)).status;
  while ((await ready()) !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  let ended: string | number | null | undefined;
  void running.exited().then((how) => {
    ended = how;
  });
  return {
    base: `http://127.0.0.1:${port}`,
    port,
    operationsBase: `http://127.0.0.1:${operationsPort}`,
    ended: () => ended,
    exited: running.exited,
    output: running.output,
    ready,
    async stop() {
      running.child.kill("SIGTERM");
      await running.exited();
    },
    async close() {
      running.child.kill("SIGKILL");
      await running.exited();
      await rm(home, { recursive: true, force: true });
    },
  };
};
