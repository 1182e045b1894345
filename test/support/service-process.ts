import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Running, startProcess } from "./process.ts";
import { type Answer, type CallOptions, sendRequest, testToken } from "./request.ts";
import { type StaticToken, staticToken } from "./static-token.ts";

/** The service in a process of its own: `node service/main.ts` on ports that the system chose. */
export interface ServiceProcess extends Omit<Running, "child" | "printed"> {
  readonly running: Running;
  readonly port: number;
  readonly base: string;
  readonly operationsBase: string;
  /** Status of `/readyz`. */
  readiness(): Promise<number>;
  /** Resolves when `/readyz` answers 200. @throws Error with its output when the process ends before */
  ready(): Promise<void>;
  /** Calls an operation on a table, with `testToken` by default. */
  call(operation: string, table: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The same by path, for instance `/v1/namespace/$/list`. */
  ask(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** SIGTERM; resolves with the exit code once the process has ended. */
  stop(): Promise<number | NodeJS.Signals | null>;
  /** SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>;
}

export interface ProcessOptions {
  /** A local database, of which the process gets a copy. Without it, `environment` names the database. */
  readonly copyOf?: string;
  /** Beside `testToken`. */
  readonly tokens?: readonly StaticToken[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The process cannot write to files, as if the disk were full. */
  readonly fullDisk?: boolean;
  /** Maximum number of its open files and connections. */
  readonly descriptors?: number;
  /** Flags of Node, for instance `--max-old-space-size=256`. */
  readonly flags?: readonly string[];
}

/** Every write to a file fails with EFBIG: Node ignores the signal SIGXFSZ. Pipes and sockets are not limited. */
const withoutFileWrites = ["sh", "-c", 'ulimit -f 0 && exec "$@"', "sh"];

/** Starts the service; resolves when it listens, which is before it is ready. */
export const startServiceProcess = async (options: ProcessOptions): Promise<ServiceProcess> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-process-"));
  const copy = join(home, "data");
  if (options.copyOf !== undefined) await cp(options.copyOf, copy, { recursive: true });
  const [program = "", ...args] = [
    ...(options.fullDisk === true ? withoutFileWrites : []),
    ...(options.descriptors === undefined ? [] : ["sh", "-c", `ulimit -n ${options.descriptors} && exec "$@"`, "sh"]),
    process.execPath,
    ...(options.flags ?? []),
    "service/main.ts",
  ];
  const running = startProcess(program, args, {
    LAKEHEAD_DATABASE: copy,
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_DRAIN_SECONDS: "0",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("tester", testToken), ...(options.tokens ?? [])]),
    LAKEHEAD_AUTH_API_KEY: "true",
    ...options.environment,
  });
  const end = async (signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> => {
    running.child.kill(signal);
    const exit = await running.exited();
    await rm(home, { recursive: true, force: true });
    return exit;
  };
  const [line] = await running.printed(/^.*"listening".*$/m).catch(async (error: unknown) => {
    await end("SIGKILL");
    throw error;
  });
  const { port, operationsPort }: { port: number; operationsPort: number } = JSON.parse(line);
  const base = `http://127.0.0.1:${port}`;
  const operationsBase = `http://127.0.0.1:${operationsPort}`;
  const readiness = async (): Promise<number> => (await fetch(`${operationsBase}/readyz`)).status;
  return {
    running,
    output: running.output,
    ended: running.ended,
    exited: running.exited,
    port,
    base,
    operationsBase,
    readiness,
    async ready() {
      while ((await readiness()) !== 200) {
        if (running.ended() !== null) throw new Error(`the service ended:\n${running.output()}`);
        await sleep(20);
      }
    },
    call: (operation, table, body, call) => sendRequest(base, `/v1/table/${table}/${operation}`, body, call),
    ask: (path, body, call) => sendRequest(base, path, body, call),
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
  };
};

/** Starts the service; resolves when it is ready. */
export const startReadyServiceProcess = async (options: ProcessOptions): Promise<ServiceProcess> => {
  const service = await startServiceProcess(options);
  await service.ready().catch(async (error: unknown) => {
    await service.kill();
    throw error;
  });
  return service;
};
