/**
 * `npm run test:clients`: calls the service with every available client, in every operation of the client. Each client has
 * a service process and data directory of its own. LanceDB's Python client also applies each fix of the plan doctor, and its
 * clients sign in by OAuth.
 * `-- --write` stores the matrix that docs/compatibility.md shows; `-- --only <part of a name>` runs some clients alone.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Run, runClient } from "./drive.ts";
import { runPythonFixes } from "./fixes.ts";
import { differences, gaps, type Matrix, makeMatrix, matrixRows, renderMatrix } from "./matrix.ts";
import { runOAuth } from "./oauth.ts";
import { findPrograms } from "./programs.ts";
import { facts, makeDatabase } from "./world.ts";

const { values: options } = parseArgs({ options: { write: { type: "boolean" }, only: { type: "string" } } });
const goldenFile = new URL("matrix.json", import.meta.url);
const home = await mkdtemp(join(tmpdir(), "lakehead-clients-"));

const log = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** The matrix that was stored last, which docs/compatibility.md shows. */
const readGolden = async (): Promise<Matrix | undefined> => {
  try {
    return JSON.parse(await readFile(goldenFile, "utf8"));
  } catch {
    return undefined;
  }
};

const printTable = (rows: readonly (readonly string[])[]): void => {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0))) ?? [];
  for (const cells of rows) log(cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
};

/** The database of all clients, made once. */
const openDatabase = async (): Promise<string> => {
  const database = join(home, "database");
  if (!existsSync(database)) await makeDatabase(database);
  return database;
};

/** Runs every requested client that is available. */
const runAll = async (): Promise<{ readonly runs: readonly Run[]; readonly skipped: number }> => {
  const { only } = options;
  const programs = (await findPrograms(log)).filter(({ name }) => only === undefined || name.includes(only));
  const database = await openDatabase();
  const place = { home, database, truth: await facts(database) };
  const runs: Run[] = [];
  for (const program of programs) {
    if ("missing" in program) {
      log(`${program.name}: skipped, ${program.missing}`);
      continue;
    }
    const run = await runClient(program, place);
    const passed = run.results.filter(({ ok }) => ok).length;
    log(`${program.name} (${run.introduction.version}): ${passed} of ${run.results.length} cases`);
    runs.push(run);
  }
  return { runs, skipped: programs.length - runs.length };
};

const fixesName = "Python fixes of the plan doctor";

/** Applies the plan doctor's fixes in LanceDB's Python client, if they are requested. */
const runFixes = async (): Promise<{ passed: number; failures: readonly string[]; skipped: number }> => {
  if (options.only !== undefined && !fixesName.includes(options.only)) return { passed: 0, failures: [], skipped: 0 };
  const run = await runPythonFixes(log);
  if (run.missing !== undefined) {
    log(`${fixesName}: skipped, ${run.missing}`);
    return { passed: 0, failures: [], skipped: 1 };
  }
  const { version, results } = run;
  const failures = results.flatMap(({ code, failure }) =>
    failure === undefined ? [] : [`${fixesName}, ${code}\n    ${failure}`],
  );
  const passed = results.length - failures.length;
  log(`${fixesName} (${version}): ${passed} of ${results.length} cases`);
  return { passed, failures, skipped: 0 };
};

const oauthName = "OAuth";

/** Signs in with LanceDB's clients by each of their OAuth flows, if that is requested. */
const signInByOAuth = async (): Promise<Awaited<ReturnType<typeof runFixes>>> => {
  if (options.only !== undefined && !oauthName.includes(options.only)) return { passed: 0, failures: [], skipped: 0 };
  const run = await runOAuth(await openDatabase(), home, log);
  if (run.results === undefined) {
    log(`${oauthName}: skipped, ${run.missing}`);
    return { passed: 0, failures: [], skipped: 1 };
  }
  const { results } = run;
  const failures = results.flatMap(({ name, failure }) =>
    failure === undefined ? [] : [`${oauthName}, ${name}\n    ${failure}`],
  );
  const passed = results.length - failures.length;
  log(`${oauthName}: ${passed} of ${results.length} cases`);
  return { passed, failures, skipped: 0 };
};

/** @returns whether everything passed. */
const main = async (): Promise<boolean> => {
  const { runs, skipped } = await runAll();
  const results = runs.flatMap((run) => run.results);
  const clients = runs.map(({ introduction }) => introduction);
  const passed = results.filter(({ ok }) => ok);
  const failed = results.filter(({ ok }) => !ok);
  const matrix = makeMatrix(clients, passed);
  log("\nCases that passed, of how many where some failed (– the client has no such operation):");
  printTable(matrixRows(matrix, makeMatrix(clients, failed)));

  const [fixes, oauth] = [await runFixes(), await signInByOAuth()];
  const complete = skipped === 0 && options.only === undefined;
  const golden = options.write === true ? undefined : await readGolden();
  const failures = [
    ...failed.map(({ client, operation, case: name, detail }) => `${client}, ${operation}: ${name}\n    ${detail}`),
    ...fixes.failures,
    ...oauth.failures,
    ...(complete ? gaps(matrix) : []),
    // A failed case is also missing from the matrix: report it once.
    ...(golden === undefined || failed.length > 0 ? [] : differences(golden, matrix)),
  ];
  if (failures.length > 0) log(`\nFailures:\n${failures.map((text) => `- ${text}`).join("\n")}`);
  if (options.write === true) {
    if (failures.length > 0 || !complete) log("the matrix was not stored: it takes every client, and no failure");
    else await writeFile(goldenFile, renderMatrix(matrix));
  }
  const more = { passed: fixes.passed + oauth.passed, skipped: fixes.skipped + oauth.skipped };
  log(`\n${passed.length + more.passed} passed, ${failures.length} failed, ${skipped + more.skipped} skipped`);
  return failures.length === 0;
};

try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  await rm(home, { recursive: true, force: true });
}
