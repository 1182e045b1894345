/** The output of verification: one line for each check. Pure. */

export interface Line {
  /** `unknown` is what could not be checked. It does not fail the command. */
  readonly result: "ok" | "wrong" | "unknown";
  /** The subject and its state. */
  readonly text: string;
  /** What to do about it, or how to check by hand. */
  readonly remedy?: string;
}

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
