import { setTimeout as sleep } from "node:timers/promises";
import { type Running, startProcess } from "../acceptance/process.ts";
import type { StaticToken } from "./static-token.ts";

/** The service as a deployment starts it, `node service/main.ts`, on ports that the system chose. */
export interface Listening {
  readonly running: Running;
  readonly port: number;
  readonly base: string;
  readonly operationsBase: string;
  /** Status of `/readyz`. */
  readiness(): Promise<number>;
  /** Resolves when `/readyz` answers 200. @throws Error with all that it printed when the process ends before */
  ready(): Promise<void>;
  /** SIGTERM; resolves with the exit code, after what it still had to send and say. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

/** Resolves when it listens, which is before it is ready. @param environment at least `LAKEHEAD_DATABASE` */
export const startListening = async (
  tokens: readonly StaticToken[],
  environment: Readonly<Record<string, string>>,
): Promise<Listening> => {
  const running = startProcess("service/main.ts", {
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_DRAIN_SECONDS: "0",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(tokens),
    ...environment,
  });
  const [line] = await running.printed(/^.*"listening".*$/m);
  const { port, operationsPort }: { port: number; operationsPort: number } = JSON.parse(line);
  const operationsBase = `http://127.0.0.1:${operationsPort}`;
  const readiness = async (): Promise<number> => (await fetch(`${operationsBase}/readyz`)).status;
  return {
    running,
    port,
    base: `http://127.0.0.1:${port}`,
    operationsBase,
    readiness,
    async ready() {
      while ((await readiness()) !== 200) {
        if (running.child.exitCode !== null) throw new Error(`the service ended:\n${running.output()}`);
        await sleep(20);
      }
    },
    stop: () => {
      running.child.kill("SIGTERM");
      return running.exited();
    },
  };
};
