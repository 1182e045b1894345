/** A failed request to the issuer. The message has the address and nothing of the response. */
export class IssuerError extends Error {
  override readonly name = "IssuerError";
}

export type GetJson = (address: string, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

interface GetJsonOptions {
  readonly fetch: typeof fetch;
  /** Timeout of a response, headers and body together. */
  readonly timeoutMilliseconds?: number;
}

const maxResponseBytes = 256 * 1024;

/**
 * GET of a JSON object, bounded in time and size. Redirects are not followed: keys come from the configured or discovered
 * address only.
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
    if (size > maxResponseBytes) throw new IssuerError(`answered with more than ${maxResponseBytes} bytes`);
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
  throw new IssuerError("answered with something other than a JSON object");
}

function reason(error: unknown, limit: AbortSignal): string {
  if (error instanceof IssuerError) return error.message;
  if (limit.aborted) return limit.reason?.name === "TimeoutError" ? "did not answer in time" : "was cancelled";
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return `cannot be reached (${typeof code === "string" ? code : "the connection failed"})`;
}
