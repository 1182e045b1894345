import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { scopes } from "../service/auth/index.ts";
import { freePort } from "../tools/parts/free-port.ts";
import { cpuSecondsOf, family } from "./processes.ts";

export const token = "bench";

const staticTokens = [
  {
    name: "bench",
    sha256: createHash("sha256").update(token).digest("hex"),
    scopes,
    tables: ["**"],
  },
];

/** A server in a process of its own. */
export interface Server {
  readonly port: number;
  readonly operationsPort: number;
  readonly pid: number;
  /** Resolves with the exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** CPU seconds so far, with those of its worker processes (Linux only). */
  cpuSeconds(): Promise<number>;
  /** Ends it by SIGTERM. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

const waitForReady = async (url: string, child: ChildProcess): Promise<void> => {
  while (child.exitCode === null) {
    const ready = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return;
    await sleep(50);
  }
  throw new Error(`the server ended with code ${child.exitCode} before it was ready`);
};

const ownCpuSeconds = async (port: number): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^process_cpu_seconds_total ([\d.e+-]+)/m.exec(text)?.[1]);
};

export interface ServerOptions {
  /** For Node itself, for instance `--cpu-prof`. */
  readonly flags?: readonly string[];
  /** Receives its output. */
  readonly onLog?: (text: string) => void;
}

/**
 * Starts a module of this repository that reads the service's environment, and waits until it is ready. The measured
 * process writes its log to the null device: reading it here would take CPU time from the measurement.
 */
export const startServer = async (
  module: string,
  environment: Readonly<Record<string, string>>,
  { flags = [], onLog }: ServerOptions = {},
): Promise<Server> => {
  const [port, operationsPort] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [...flags, fileURLToPath(new URL(module, import.meta.url))], {
    env: {
      PATH: process.env.PATH,
      LAKEHEAD_PORT: String(port),
      LAKEHEAD_OPERATIONS_PORT: String(operationsPort),
      LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(staticTokens),
      LAKEHEAD_DRAIN_SECONDS: "0",
      ...environment,
    },
    stdio: ["ignore", onLog === undefined ? "ignore" : "pipe", "inherit"],
  });
  if (onLog !== undefined) child.stdout?.setEncoding("latin1").on("data", onLog);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal)),
  );
  const { pid = 0 } = child;
  await waitForReady(`http://127.0.0.1:${operationsPort}/readyz`, child);
  return {
    port,
    pid,
    operationsPort,
    ended,
    cpuSeconds: async () => (await ownCpuSeconds(operationsPort)) + cpuSecondsOf(family(pid).slice(1)),
    stop: async () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
};
