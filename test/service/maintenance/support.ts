import { fileURLToPath } from "node:url";
import { connect, type Table } from "@lancedb/lancedb";
import { type MaintenanceRule, maintenanceRules } from "../../../service/config/maintenance-policy.ts";
import { type Running, startProcess } from "../../support/process.ts";

export const rulesOf = (rules: readonly object[]): readonly MaintenanceRule[] =>
  maintenanceRules((expected) => expected).parse(rules);

const program = fileURLToPath(new URL("../../../service/maintenance/main.ts", import.meta.url));

/** `npm run maintain`. */
export const startRun = (
  database: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Running =>
  startProcess(process.execPath, [program, ...args], {
    LAKEHEAD_DATABASE: database,
    LAKEHEAD_MAINTENANCE_LEASE_SECONDS: "2",
    ...environment,
  });

/** A JSON line of a run. */
export type Line = Readonly<Record<string, unknown>>;

export interface FinishedRun {
  readonly code: number | NodeJS.Signals | null;
  readonly output: string;
  /** With `--json`. */
  readonly lines: readonly Line[];
}

export const finish = async (running: Running): Promise<FinishedRun> => {
  const code = await running.exited();
  const output = running.output();
  const lines = output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
  return { code, output, lines };
};

export const runOnce = (
  database: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<FinishedRun> => finish(startRun(database, args, environment));

/** Variables under which a version is deleted one and a half seconds after it was replaced. */
export const shortHistory = {
  LAKEHEAD_MAINTENANCE: JSON.stringify([{ cleanup: { olderThanHours: 1.5 / 3600 } }]),
  LAKEHEAD_PINNED_SECONDS: "1",
  LAKEHEAD_ANALYZE_DEADLINE_SECONDS: "0.5",
  LAKEHEAD_WRITE_DEADLINE_SECONDS: "1",
} as const;
export const shortHistoryMs = 1500;

/** A type, because the SDK's own has an index signature, which no interface has. */
export type Row = { readonly id: number; readonly label: string; readonly vector: number[] };

/** Rows with ids from `from`; all other values derive from the id. */
export const rowsFrom = (from: number, count: number): Row[] =>
  Array.from({ length: count }, (_, index) => {
    const id = from + index;
    return {
      id,
      label: `label ${id % 7}`,
      vector: Array.from({ length: 8 }, (_, place) => Math.sin(id * (place + 1))),
    };
  });

/** Opened anew, so that it is of the latest version. */
export const openTable = async (database: string, table: string): Promise<Table> =>
  (await connect(database)).openTable(table);

/** The ids of a table's rows, in order. */
export const idsOf = async (table: Table): Promise<readonly number[]> =>
  (await table.query().select(["id"]).toArray()).map(({ id }) => Number(id)).sort((left, right) => left - right);

export const range = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index);

/** The outcome that a run reported for a table. */
export const outcomeOf = ({ lines, output }: FinishedRun, table: string): Line => {
  const line = lines.find((each) => each.table === table && each.outcome !== undefined);
  if (line === undefined) throw new Error(`no outcome of ${table}:\n${output}`);
  return line;
};
