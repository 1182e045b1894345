export interface LogLine {
  readonly msg?: string;
  readonly level?: string;
  readonly status?: number;
  readonly operation?: string;
  readonly cause?: string;
  readonly text?: string;
}

const parse = (line: string): LogLine => {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { text: line };
  }
};

/** Lines of the service's log, parsed; a line that is not JSON becomes `{ text }`. */
export const parseLog = (output: string): readonly LogLine[] =>
  output
    .split("\n")
    .filter((text) => text.trim() !== "")
    .map(parse);

/** Lines that a log must not hold after a run: internal errors, uncaught exceptions, ended workers. */
export const logFaults = (lines: readonly LogLine[]): readonly string[] =>
  lines.flatMap(({ msg, status, operation, cause, level, text }) => {
    if (status !== undefined) return status >= 500 ? [`${operation} answered ${status}: ${cause}`] : [];
    if (text !== undefined) return [`the log has a line that is no JSON: ${text.slice(0, 300)}`];
    return level === "error" || level === "warn" ? [`the log says: ${msg} ${cause ?? ""}`] : [];
  });

/** Number of responses by status, the lowest status first. */
export const statuses = (lines: readonly LogLine[]): readonly (readonly [status: number, count: number])[] => {
  const counts = new Map<number, number>();
  for (const { status } of lines) if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].sort(([left], [right]) => left - right);
};
