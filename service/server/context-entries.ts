import type { HeaderSource } from "../auth/index.ts";

/**
 * The `context` of a request: entries of the body and `x-lance-ctx-<key>` headers. A header wins over a body's entry of
 * the same key. They go to the log and the trace, so possible credentials are redacted and sizes are bounded.
 */
const maxEntries = 32;
const maxValueLength = 256;
const validKey = /^[A-Za-z0-9_.-]{1,64}$/;
const secretKey =
  /auth|token|secret|password|passwd|pwd|cookie|credential|api[-_.]?key|private|session|bearer|jwt|signature/i;
const scheme = /\b(?:bearer|basic)\s/i;
/** A JWT begins with the base64 of `{"`. */
const jwt = /eyJ[\w-]{8}/;
const prefix = "x-lance-ctx-";

/** The credentials that the request carries, valid or not. */
const presented = (headers: HeaderSource): readonly string[] =>
  [headers.get("authorization")?.replace(/^\S+\s+/, ""), headers.get("x-api-key")].filter(
    (secret): secret is string => typeof secret === "string" && secret !== "",
  );

/** Objects are not logged: a credential could be anywhere inside. */
const text = (value: unknown): string => (typeof value === "object" ? "[object]" : String(value));

export const contextEntries = (
  headers: HeaderSource,
  body: Readonly<Record<string, unknown>> | undefined,
): Record<string, string> => {
  const isSecret = (shown: string): boolean =>
    scheme.test(shown) || jwt.test(shown) || presented(headers).some((secret) => shown.includes(secret));
  const entries = new Map<string, string>();
  const add = (key: string, value: unknown): void => {
    if (!validKey.test(key) || isSecret(key) || (!entries.has(key) && entries.size >= maxEntries)) return;
    const shown = text(value);
    entries.set(key, secretKey.test(key) || isSecret(shown) ? "[redacted]" : shown.slice(0, maxValueLength));
  };
  for (const [key, value] of Object.entries(body ?? {})) if (value !== null && value !== undefined) add(key, value);
  for (const [name, value] of headers) if (name.startsWith(prefix)) add(name.slice(prefix.length), value);
  return Object.fromEntries(entries);
};
