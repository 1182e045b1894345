/** The output of `preflight` and `verify`: one line for each check. Pure. */

export interface Line {
  /** `unknown` is what could not be checked. It does not fail the command. */
  readonly result: "ok" | "wrong" | "unknown";
  /** The subject and its state. */
  readonly text: string;
  /** What to do about it, or how to check by hand. */
  readonly remedy?: string;
}

/** Result of a command or a request. */
export type Outcome<Value> = { readonly value: Value } | { readonly failure: string };

export const mapOutcome = <From, To>(outcome: Outcome<From>, read: (value: From) => To): Outcome<To> =>
  "failure" in outcome ? outcome : { value: read(outcome.value) };

export const ok = (text: string): Line => ({ result: "ok", text });
export const wrong = (text: string, remedy: string): Line => ({ result: "wrong", text, remedy });
export const unknown = (text: string, remedy: string): Line => ({ result: "unknown", text, remedy });

const marks: Readonly<Record<Line["result"], string>> = { ok: "ok      ", wrong: "WRONG   ", unknown: "unknown " };

export function renderLine({ result, text, remedy }: Line): string {
  return `${marks[result]}${text}${remedy === undefined ? "" : `\n        → ${remedy}`}`;
}

export function renderSummary(lines: readonly Line[]): string {
  const count = (result: Line["result"]) => lines.filter((line) => line.result === result).length;
  return `${count("ok")} ok, ${count("wrong")} wrong, ${count("unknown")} unknown`;
}

/** The value, or the message of the error with its name where AWS's SDK puts the reason there. */
export async function attempt<Value>(read: () => Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { value: await read() };
  } catch (error) {
    const { name, message, cause } = error as Error;
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { failure: name === "Error" || name === "TypeError" ? reason : `${name}: ${reason}` };
  }
}
