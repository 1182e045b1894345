import type { Exchange } from "./recorder.ts";
import { addressOf, type CaseResult } from "./result.ts";

/** The pseudo-operation whose case checks that every method of the client was called. */
export const methods = "methods";

const words = ({ method, path, status, requestBody, body }: Exchange): string =>
  `${method} ${path} ${requestBody.slice(0, 300)} -> ${status} ${body.slice(0, 300)}`;

const codeOf = (body: string): unknown => {
  try {
    return JSON.parse(body).code;
  } catch {
    return undefined;
  }
};

/**
 * Fault of a case in its requests; undefined if there is none. The client's own result is not enough: it must have called
 * the service, without a server error and without many retries.
 */
const wireFault = (operation: string, exchanges: readonly Exchange[], served: boolean): string | undefined => {
  if (operation === methods) return undefined;
  const address = addressOf(operation);
  const own = exchanges.filter(({ path }) => address.test(path.split("?")[0] ?? ""));
  const [first] = own;
  if (first === undefined) return `the service was not asked: ${exchanges.map(words).join("; ") || "no request"}`;
  const failed = exchanges.find(({ status }) => status >= 500);
  if (failed !== undefined) return words(failed);
  if (served) return undefined;
  const refused = own.length === 1 && first.status === 406 && codeOf(first.body) === 0;
  return refused ? undefined : `one 406 with code 0 was expected: ${own.map(words).join("; ")}`;
};

/** The result of a case, corrected by its requests. */
export const judged = (result: CaseResult, exchanges: readonly Exchange[], served: boolean): CaseResult => {
  const fault = wireFault(result.operation, exchanges, served);
  const last = exchanges.at(-1);
  if (!result.ok) return { ...result, detail: `${result.detail}${last === undefined ? "" : ` [${words(last)}]`}` };
  return fault === undefined ? result : { ...result, ok: false, detail: fault };
};
