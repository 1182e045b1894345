/**
 * The `context` of a request: entries of the body and `x-lance-ctx-<key>` headers. A header wins over a body's entry of
 * the same key. They go to the log and the trace, so what looks like a credential is struck out and sizes are bounded.
 */
const maxEntries = 32;
const maxValueLength = 256;
const validKey = /^[A-Za-z0-9_.-]{1,64}$/;
const credential = /auth|token|secret|password|passwd|cookie|credential|api[-_.]?key|private|session/i;
const prefix = "x-lance-ctx-";

const text = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

const shown = (key: string, value: unknown): string =>
  credential.test(key) ? "[redacted]" : text(value).slice(0, maxValueLength);

export const contextEntries = (
  headers: Iterable<readonly [string, string]>,
  body: Readonly<Record<string, unknown>> | undefined,
): Record<string, string> => {
  const entries = new Map<string, string>();
  const add = (key: string, value: unknown): void => {
    if (validKey.test(key) && (entries.has(key) || entries.size < maxEntries)) entries.set(key, shown(key, value));
  };
  for (const [key, value] of Object.entries(body ?? {})) if (value !== null && value !== undefined) add(key, value);
  for (const [name, value] of headers) if (name.startsWith(prefix)) add(name.slice(prefix.length), value);
  return Object.fromEntries(entries);
};
