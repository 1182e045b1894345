/** What verification says: one line for each thing that a careful person would look at by hand. Pure. */

export interface Line {
  /** `unknown` is what could not be looked at; it fails nothing, and says how to look. */
  readonly verdict: "ok" | "wrong" | "unknown";
  /** What was looked at, and how it is. */
  readonly text: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export const ok = (text: string): Line => ({ verdict: "ok", text });
export const wrong = (text: string, remedy: string): Line => ({ verdict: "wrong", text, remedy });
export const unknown = (text: string, remedy: string): Line => ({ verdict: "unknown", text, remedy });

const marks: Readonly<Record<Line["verdict"], string>> = { ok: "ok      ", wrong: "WRONG   ", unknown: "unknown " };

export function renderLine({ verdict, text, remedy }: Line): string {
  return `${marks[verdict]}${text}${remedy === undefined ? "" : `\n        → ${remedy}`}`;
}

export function renderSummary(lines: readonly Line[]): string {
  const count = (verdict: Line["verdict"]) => lines.filter((line) => line.verdict === verdict).length;
  return `${count("ok")} ok, ${count("wrong")} wrong, ${count("unknown")} unknown`;
}
