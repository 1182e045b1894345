import { startListening } from "../support/listening.ts";
import { staticToken } from "../support/static-token.ts";

export const token = "contract-token-with-every-scope";

/** The service in a process of its own, and what its log said. */
export interface ServiceUnderTest {
  readonly base: string;
  /** Whether the process lives and says that it is ready. */
  alive(): Promise<boolean>;
  /** Its log so far, parsed; a line that is no JSON is kept as `{ text }`. */
  log(): readonly LogLine[];
  /** Ends it; resolves with the exit code. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

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

export const startUnderTest = async (database: string): Promise<ServiceUnderTest> => {
  const { running, base, readiness, ready, stop } = await startListening([staticToken("contract", token)], {
    LAKEHEAD_DATABASE: database,
    LAKEHEAD_AUTH_API_KEY: "true",
  });
  await ready();
  return {
    base,
    stop,
    alive: async () => running.child.exitCode === null && (await readiness().catch(() => 0)) === 200,
    log: () =>
      running
        .output()
        .split("\n")
        .filter((text) => text.trim() !== "")
        .map(parse),
  };
};

/** What must not stand in the log after a run: a failure of ours, an exception that nobody caught, a dead worker. */
export const logFaults = (lines: readonly LogLine[]): readonly string[] =>
  lines.flatMap(({ msg, status, operation, cause, level, text }) => {
    if (status !== undefined) return status >= 500 ? [`${operation} answered ${status}: ${cause}`] : [];
    if (text !== undefined) return [`the log has a line that is no JSON: ${text.slice(0, 300)}`];
    return level === "error" || level === "warn" ? [`the log says: ${msg} ${cause ?? ""}`] : [];
  });

/** How many requests were answered with each status, the lowest first. */
export const statuses = (lines: readonly LogLine[]): readonly (readonly [status: number, count: number])[] => {
  const counts = new Map<number, number>();
  for (const { status } of lines) if (status !== undefined) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].sort(([left], [right]) => left - right);
};
