/** Why the issuer's answer could not be had. The message is ours: it holds the address, and nothing that was answered. */
export class IssuerError extends Error {
  override readonly name = "IssuerError";
}

export type GetJson = (address: string, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

interface GetJsonOptions {
  readonly fetch: typeof fetch;
  /** Bound on one answer, headers and body together. */
  readonly timeoutMilliseconds?: number;
}

const largestResponseBytes = 256 * 1024;

/**
 * GET of a JSON object, bounded in time and size. Follows no redirect: keys come from the address that was configured or
 * discovered, or not at all.
 */
export function createGetJson({ fetch, timeoutMilliseconds = 5_000 }: GetJsonOptions): GetJson {
  return async (address, signal) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)]);
    try {
      const headers = { accept: "application/json" };
      return parseObject(await boundedText(await fetch(address, { redirect: "manual", signal: limit, headers })));
    } catch (error) {
      throw new IssuerError(`${address} ${reason(error, limit)}`);
    }
  };
}

async function boundedText(response: Response): Promise<string> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new IssuerError(`answered ${response.status} instead of 200; redirects are not followed`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > largestResponseBytes) throw new IssuerError(`answered with more than ${largestResponseBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // The parser's message quotes the text.
  }
  throw new IssuerError("answered with no JSON object");
}

function reason(error: unknown, limit: AbortSignal): string {
  if (error instanceof IssuerError) return error.message;
  if (limit.aborted) return limit.reason?.name === "TimeoutError" ? "did not answer in time" : "was not waited for";
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return `cannot be reached (${typeof code === "string" ? code : "the connection failed"})`;
}
