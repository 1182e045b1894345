/** `npm run maintain`: finds what is due for the tables of a database and does it, or prints it alone. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { lowerPriority } from "../workers/priority.ts";

const usage = `usage: npm run maintain -- [options]
  --table ID   this table only; the parts of the id are joined by "$"; may be repeated
  --dry-run    print what is due, and change nothing
  --json       print JSON lines: one for each change, one for each table

The database and the rules are environment variables: LAKEHEAD_DATABASE, LAKEHEAD_STORAGE_OPTIONS, LAKEHEAD_MAINTENANCE.
Without LAKEHEAD_DATABASE, the database of \`npm start\` is maintained. See docs/maintenance.md.
`;

/** Exit codes. */
const exitCode = { ok: 0, failure: 1, usage: 2 } as const;

const fail = (message: string, code: number): never => {
  process.stderr.write(`lakehead: ${message}\n`);
  process.exit(code);
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const readArguments = () => {
  try {
    return parseArgs({
      options: {
        help: { type: "boolean" },
        table: { type: "string", multiple: true },
        "dry-run": { type: "boolean" },
        json: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return fail(`${textOf(error)}\n${usage}`, exitCode.usage);
  }
};

const values = readArguments();
if (values.help === true) {
  process.stdout.write(usage);
  process.exit(exitCode.ok);
}

// Before the SDK creates threads, which keep the priority of their beginning.
lowerPriority(0, "maintenance");
// See service/main.ts.
process.env.LANCEDB_LOG ??= "error";
const { readMaintenanceConfig } = await import("../config/config.ts");
const { removeStrayOptions } = await import("../lance/connection/environment.ts");
const { tableIdFromParts } = await import("../guard/table-id.ts");
const { createLog } = await import("../telemetry/log.ts");
const { logReporter, textReporter } = await import("./report.ts");
const { runMaintenance } = await import("./run.ts");
const { describeFailure } = await import("../lance/maintenance/maintained-tables.ts");

/** Of `npm start`; see `service/quickstart/main.ts`. */
const localDatabase = (home: string | undefined): { LAKEHEAD_DATABASE?: string } => {
  const path = join(resolve(home ?? ".lakehead"), "data");
  return existsSync(path) ? { LAKEHEAD_DATABASE: path } : {};
};

const readOr = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    return fail(textOf(error), exitCode.usage);
  }
};

removeStrayOptions(process.env);
const { LAKEHEAD_HOME: home, ...environment } = process.env;
const config = readOr(() => readMaintenanceConfig({ ...localDatabase(home), ...environment }));
const limits = { maxParts: 16, maxPartLength: 128 };
const tables = readOr(() => values.table?.map((id) => tableIdFromParts(id.split("$"), limits).parts));

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.on(signal, () => {
    // A second one ends the process at once. Its lease then ends by itself.
    if (stop.signal.aborted) process.exit(exitCode.failure);
    stop.abort(`the run was ended by ${signal}`);
  });

const reporter =
  values.json === true
    ? logReporter(createLog(config.logLevel))
    : textReporter((text) => void process.stdout.write(text));
try {
  const sound = await runMaintenance(
    config,
    {
      ...(tables === undefined ? {} : { tables }),
      dryRun: values["dry-run"] === true,
      signal: stop.signal,
    },
    reporter,
  );
  process.exitCode = sound ? exitCode.ok : exitCode.failure;
} catch (error) {
  fail(`the database ${config.database.uri} cannot be maintained: ${describeFailure(error)}`, exitCode.failure);
}
