import { checkAgainstOpenApi } from "./openapi.ts";
import { checkPlan } from "./plan.ts";

/** A token with every scope on every table, in every service that tests start. */
export const testToken = "test-token-with-every-scope";

export interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null sends no Authorization header. */
  readonly token?: string | null;
  readonly query?: string;
  readonly trailingSlash?: boolean;
  /** The body as sent, instead of the JSON of `body`. */
  readonly rawBody?: string | Uint8Array<ArrayBuffer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, the bytes of an Arrow file, or null for an empty body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  readonly body: any;
}

const contentOf = async (response: Response): Promise<unknown> => {
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (/^application\/(.+\+)?json/.test(response.headers.get("content-type") ?? ""))
    return JSON.parse(Buffer.from(bytes).toString());
  return bytes.byteLength === 0 ? null : bytes;
};

/**
 * Sends a request and checks the response against the OpenAPI document.
 * @param path for instance `/v1/namespace/$/list`; it may have a query string.
 */
export const sendRequest = async (
  base: string,
  path: string,
  body: unknown = {},
  { method = "POST", headers = {}, token = testToken, query = "", trailingSlash = false, rawBody }: CallOptions = {},
): Promise<Answer> => {
  const address = `${path}${trailingSlash ? "/" : ""}`;
  const response = await fetch(`${base}${address}${query}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(method === "GET" ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(method === "GET" ? {} : { body: rawBody ?? JSON.stringify(body) }),
  });
  const answer: Answer = { status: response.status, headers: response.headers, body: await contentOf(response) };
  checkAgainstOpenApi(address.replace(/\?.*$/, ""), method, answer);
  if (/\/(?:explain|analyze)_plan\/?$/.test(address) && answer.status === 200) checkPlan(answer.body, rawBody ?? body);
  return answer;
};
