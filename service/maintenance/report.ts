import type { Log } from "../telemetry/log.ts";
import type { Outcome, Reporter } from "./run.ts";
import type { Figures, Step, WorkResult } from "./work.ts";

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

const rows: readonly (readonly [string, (figures: Figures) => number | null])[] = [
  ["version", ({ version }) => version],
  ["rows", ({ rows }) => rows],
  ["fragments", ({ fragments }) => fragments],
  ["small fragments", ({ smallFragments }) => smallFragments],
  ["deleted rows", ({ deletedRows }) => deletedRows],
  ["rows outside of indices", ({ unindexedRows }) => unindexedRows],
  ["parts of an index", ({ deltas }) => deltas],
  ["versions", ({ versions }) => versions],
  ["bytes", ({ bytes }) => bytes],
  ["sample query, µs", ({ sample }) => (sample === null ? null : sample.milliseconds * 1000)],
  ["sample query, bytes", ({ sample }) => sample?.bytes ?? null],
  ["sample query, reads", ({ sample }) => sample?.reads ?? null],
];

const ratio = (before: number, after: number): string =>
  before === after || before === 0 ? "" : `× ${(after / before).toPrecision(2)}`;

const figureLines = ({ before, after }: WorkResult): readonly string[] =>
  rows.flatMap(([name, read]) => {
    const [was, is] = [read(before), read(after)];
    if (was === null || is === null) return [];
    const comparable = name === "version" || name === "rows" ? "" : ratio(was, is);
    return [`    ${name.padEnd(24)}${whole(was).padStart(14)}${whole(is).padStart(14)}  ${comparable}`.trimEnd()];
  });

const bullets = (head: string, lines: readonly string[]): readonly string[] =>
  lines.map((line) => `  ${head}: ${line}`);

const linesOf = (outcome: Outcome): readonly string[] => {
  switch (outcome.kind) {
    case "no rule":
      return ["  no rule has a pattern for it"];
    case "in order":
      return ["  nothing is due", ...bullets("note", outcome.notes)];
    case "due":
      return [...bullets("due", outcome.due), ...bullets("note", outcome.notes)];
    case "done":
      return [
        ...bullets("due", outcome.result.due),
        ...bullets("note", outcome.notes),
        ...(outcome.takenOver === undefined
          ? []
          : [`  note: the run ${outcome.takenOver} ended without its end; its lease was taken over`]),
        `  done in ${outcome.seconds.toFixed(1)} s${" ".repeat(12)}${"before".padStart(12)}${"after".padStart(14)}`,
        ...figureLines(outcome.result),
        `    memory of its process, at most ${Math.ceil(outcome.result.peakBytes / 2 ** 20)} MiB`,
        ...bullets(
          outcome.result.conflicted ? "left for the next run, because writers were faster" : "still due",
          outcome.result.remaining,
        ),
      ];
    case "left":
      return [...bullets("due", outcome.due), `  left: ${outcome.reason}`];
    case "failed":
      return [`  failed: ${outcome.reason}`];
  }
};

/** For people. */
export const textReporter = (write: (text: string) => void): Reporter => ({
  outcome: (table, outcome) => write(`${[table, ...linesOf(outcome)].join("\n")}\n`),
  change: () => undefined,
  job: (table, { job, status, seconds, log }) =>
    write(`${[`${table}: Ray job ${job} ${status} after ${seconds.toFixed(1)} s`, ...log].join("\n  ")}\n`),
});

/** The audit line of a change. */
export const auditOf = (table: string, step: Step, principal: string): object => ({
  audit: "maintenance",
  table,
  principal,
  ...step,
});

/** JSON lines, one for each change and each table. */
export const logReporter = (log: Log): Reporter => ({
  outcome: (table, { kind, ...outcome }) => {
    const line = { table, outcome: kind, ...outcome };
    if (kind === "failed") log.error(line, "the maintenance of a table failed");
    else if (kind === "left") log.warn(line, "a table stays due");
    else log.info(line, "table examined");
  },
  job: (table, { job, status, seconds, log: lines }) =>
    log.info({ table, job, status, seconds, log: lines }, "Ray job ended"),
  change: (table, step, owner) => log.info(auditOf(table, step, owner), "table changed"),
});
