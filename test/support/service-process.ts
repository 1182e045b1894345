import { type Listening, startListening } from "./listening.ts";
import { checkAgainstOpenApi } from "./openapi.ts";
import type { Answer } from "./service.ts";
import { staticToken } from "./static-token.ts";

/** The service in a process of its own, asked as its principals may. */
export interface ServiceProcess extends Listening {
  /** Asks an operation on a table as the principal who may everything; holds the answer against the OpenAPI document. */
  call(operation: string, table: string, body?: unknown, asking?: Asking): Promise<Answer>;
  /** The same by the path, for instance `/v1/namespace/$/list`. */
  ask(path: string, body?: unknown, asking?: Asking): Promise<Answer>;
}

export interface Asking {
  readonly method?: "GET" | "POST";
  /** Null sends no Authorization header. */
  readonly token?: string | null;
}

/** Tokens of every process: one that may everything, one that may read the statistics of one table alone. */
export const tokens = { all: "token-with-every-scope", plainStats: "token-for-the-statistics-of-plain" } as const;

const granted = [
  staticToken("everything", tokens.all),
  staticToken("plain-stats", tokens.plainStats, ["stats"], ["plain"]),
];

const readBody = async (response: Response): Promise<unknown> => {
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.byteLength === 0) return null;
  return response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(bytes.toString()) : bytes;
};

/** Starts it; not yet ready. @param environment at least `LAKEHEAD_DATABASE`. */
export const startServiceProcess = async (environment: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
  const listening = await startListening(granted, environment);

  const ask: ServiceProcess["ask"] = async (path, body = {}, { method = "POST", token = tokens.all } = {}) => {
    const response = await fetch(`${listening.base}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(method === "GET" ? {} : { "content-type": "application/json" }),
      },
      ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
    });
    const answer: Answer = { status: response.status, headers: response.headers, body: await readBody(response) };
    checkAgainstOpenApi(new URL(path, listening.base).pathname, method, answer);
    return answer;
  };

  return {
    ...listening,
    ask,
    call: (operation, table, body, asking) => ask(`/v1/table/${table}/${operation}`, body, asking),
  };
};
