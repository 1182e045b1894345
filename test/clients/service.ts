import { createHash } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scopes } from "../../service/auth/index.ts";
import { type Running, startProcess } from "../acceptance/process.ts";

/** Keys of the started service: one that may everything, one that may read the statistics of one table alone. */
export const keys = { all: "key-with-every-scope", docsStats: "key-for-the-statistics-of-docs" } as const;

const tokens = [
  { name: "clients", key: keys.all, scopes: [...scopes], tables: ["**"] },
  { name: "docs-stats", key: keys.docsStats, scopes: ["stats"], tables: ["docs"] },
].map(({ key, ...token }) => ({ ...token, sha256: createHash("sha256").update(key).digest("hex") }));

export interface ServiceProcess {
  readonly port: number;
  stop(): Promise<void>;
}

const ready = async (operationsPort: number, running: Running): Promise<void> => {
  while ((await fetch(`http://127.0.0.1:${operationsPort}/readyz`)).status !== 200)
    if (running.child.exitCode !== null) throw new Error(`the service ended:\n${running.output()}`);
};

/** The service as a process of its own, on a copy of the database that is its own too. */
export const startServiceOn = async (database: string): Promise<ServiceProcess> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-client-"));
  await cp(database, join(home, "data"), { recursive: true });
  const running = startProcess("service/main.ts", {
    LAKEHEAD_DATABASE: join(home, "data"),
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_DRAIN_SECONDS: "0",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(tokens),
    LAKEHEAD_AUTH_API_KEY: "true",
  });
  const stop = async (): Promise<void> => {
    running.child.kill("SIGTERM");
    await running.exited();
    await rm(home, { recursive: true, force: true });
  };
  try {
    const [line] = await running.printed(/^.*"listening".*$/m);
    const { port, operationsPort }: { port: number; operationsPort: number } = JSON.parse(line);
    await ready(operationsPort, running);
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
