import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, inject } from "vitest";
import { readConfig } from "../../service/config/config.ts";
import { type Service, startService } from "../../service/start.ts";
import { createLog } from "../../service/telemetry/log.ts";
import { makeDirectory } from "./directory.ts";
import { record } from "./matrix.ts";
import { labelOf } from "./openapi.ts";
import { type Answer, type CallOptions, sendRequest, testToken } from "./request.ts";
import { type StaticToken, staticToken } from "./static-token.ts";

/** The real service in this process: real HTTP on a port of loopback, real database in a directory of its own. */
export interface TestService {
  readonly base: string;
  readonly port: number;
  readonly operationsBase: string;
  readonly directory: string;
  readonly token: string;
  /** Lines of the log so far, parsed. */
  readonly log: Record<string, unknown>[];
  /** Calls an operation on a table; checks the response against the OpenAPI document and records its error code. */
  call(operation: string, table: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The same by the path, for instance `/v1/namespace/$/list`. */
  ask(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly tokens?: readonly StaticToken[];
  /** A database that exists; default is a copy of the test tables. */
  readonly database?: string;
}

/** The service's default, which starts worker processes: for tests whose result may depend on them. */
export const isolated = { LAKEHEAD_ISOLATION: "analyze" } as const;

/**
 * Starts the service on a fresh copy of the test tables, which were made once for the whole run. It has no worker
 * processes, which take most of the time that a service takes to start: see `isolated`.
 */
export const startTestService = async (options: ServiceOptions = {}): Promise<TestService> => {
  const home = await makeDirectory();
  const directory = options.database ?? join(home, "data");
  if (options.database === undefined) await cp(inject("tables"), directory, { recursive: true });
  const log: Record<string, unknown>[] = [];
  const tokens = [staticToken("tester", testToken), ...(options.tokens ?? [])];
  const config = readConfig({
    LAKEHEAD_DATABASE: directory,
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_DRAIN_SECONDS: "0",
    LAKEHEAD_LOG_LEVEL: "debug",
    LAKEHEAD_ISOLATION: "off",
    // Worker processes start slowly on a busy machine, and no test measures that.
    LAKEHEAD_QUEUE_SECONDS: "25",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(tokens),
    LAKEHEAD_AUTH_API_KEY: "true",
    ...options.environment,
  });
  const service: Service = await startService(
    config,
    createLog("debug", { write: (line: string) => log.push(JSON.parse(line)) }),
    "0.0.0-test",
  );
  const base = `http://127.0.0.1:${service.api.port}`;
  return {
    base,
    port: service.api.port,
    operationsBase: `http://127.0.0.1:${service.health.port}`,
    directory,
    token: testToken,
    log,
    call: (operation, table, body, call) => callOperation(base, operation, table, body, call),
    ask: (path, body, call) => ask(base, path, body, call),
    stop: async () => {
      await service.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
};

/** Starts it before the tests of a file or a `describe`, and stops it after them. */
export const useStarted = <T extends object>(start: () => Promise<T>, stop: (started: T) => Promise<unknown>): T => {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started && stop(started));
  return new Proxy({} as T, { get: (_, key) => Reflect.get(started ?? {}, key) });
};

/** Removes the tables that a failed test created, so that its retry can create them. */
const removeTablesOfFailed = (service: TestService): TestService => {
  let before: readonly string[] = [];
  beforeEach(async () => {
    before = await readdir(service.directory);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    const created = (await readdir(service.directory)).filter(
      (name) => name.endsWith(".lance") && !before.includes(name),
    );
    for (const name of created) await rm(join(service.directory, name), { recursive: true, force: true });
  });
  return service;
};

/**
 * A service of the tests of a file or a `describe`.
 * @param options a function where they need what an earlier hook made, for instance another service's directory.
 */
export const useService = (options: ServiceOptions | (() => ServiceOptions | Promise<ServiceOptions>) = {}) =>
  removeTablesOfFailed(
    useStarted(
      async () => startTestService(typeof options === "function" ? await options() : options),
      (service) => service.stop(),
    ),
  );

/** Services that files of one worker of vitest share; they end with it. */
const shared = new Map<string, Promise<TestService>>();

/** A service that several files share, so they change none of the test tables. Its data is removed after the run. */
export const useSharedService = (environment: ServiceOptions["environment"] = {}): TestService =>
  removeTablesOfFailed(
    useStarted(
      () => {
        const key = JSON.stringify(environment);
        const running = shared.get(key) ?? startTestService({ environment });
        shared.set(key, running);
        return running;
      },
      async () => undefined,
    ),
  );

/** Calls an operation on a table of a service, and records the response for the run's summary. */
export const callOperation = (
  base: string,
  operation: string,
  table: string,
  body?: unknown,
  options?: CallOptions,
): Promise<Answer> => ask(base, `/v1/table/${table}/${operation}`, body, options);

const ask = async (base: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> => {
  const answer = await sendRequest(base, path, body, options);
  record(labelOf(`${path}${options.trailingSlash === true ? "/" : ""}`), answer);
  return answer;
};
