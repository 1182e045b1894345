import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { scopes } from "../../service/auth/index.ts";
import { type Running, startProcess } from "../acceptance/process.ts";
import { checkAgainstOpenApi } from "./openapi.ts";
import type { Answer } from "./service.ts";

/** The service as a deployment starts it: `node service/main.ts`, known by its environment, its ports and its log. */
export interface ServiceProcess {
  readonly running: Running;
  readonly base: string;
  readonly operationsBase: string;
  /** Asks an operation on a table as the principal who may everything; holds the answer against the OpenAPI document. */
  call(operation: string, table: string, body?: unknown, asking?: Asking): Promise<Answer>;
  /** The same by the path, for instance `/v1/namespace/$/list`. */
  ask(path: string, body?: unknown, asking?: Asking): Promise<Answer>;
  /** Resolves when `/readyz` answers 200. @throws when the process ends before. */
  ready(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

export interface Asking {
  readonly method?: "GET" | "POST";
  /** Null sends no Authorization header. */
  readonly token?: string | null;
}

/** Tokens of every process: one that may everything, one that may read the statistics of one table alone. */
export const tokens = { all: "token-with-every-scope", plainStats: "token-for-the-statistics-of-plain" } as const;

const staticToken = (name: string, token: string, granted: readonly string[], tables: readonly string[]) => ({
  name,
  sha256: createHash("sha256").update(token).digest("hex"),
  scopes: granted,
  tables,
});

const staticTokens = JSON.stringify([
  staticToken("everything", tokens.all, scopes, ["**"]),
  staticToken("plain-stats", tokens.plainStats, ["stats"], ["plain"]),
]);

const readBody = async (response: Response): Promise<unknown> => {
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.byteLength === 0) return null;
  return response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(bytes.toString()) : bytes;
};

/** Starts it on ports that the system chooses. @param environment at least `LAKEHEAD_DATABASE`. */
export const startServiceProcess = async (environment: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
  const running = startProcess("service/main.ts", {
    LAKEHEAD_PORT: "0",
    LAKEHEAD_OPERATIONS_PORT: "0",
    LAKEHEAD_DRAIN_SECONDS: "0",
    LAKEHEAD_AUTH_STATIC_TOKENS: staticTokens,
    ...environment,
  });
  const [line] = await running.printed(/^.*"listening".*$/m);
  const { port, operationsPort }: { port: number; operationsPort: number } = JSON.parse(line);
  const base = `http://127.0.0.1:${port}`;
  const operationsBase = `http://127.0.0.1:${operationsPort}`;

  const ask: ServiceProcess["ask"] = async (path, body = {}, { method = "POST", token = tokens.all } = {}) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(method === "GET" ? {} : { "content-type": "application/json" }),
      },
      ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
    });
    const answer: Answer = { status: response.status, headers: response.headers, body: await readBody(response) };
    checkAgainstOpenApi(new URL(path, base).pathname, method, answer);
    return answer;
  };

  return {
    running,
    base,
    operationsBase,
    ask,
    call: (operation, table, body, asking) => ask(`/v1/table/${table}/${operation}`, body, asking),
    async ready() {
      while ((await fetch(`${operationsBase}/readyz`)).status !== 200) {
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
