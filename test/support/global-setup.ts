import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { errorKinds } from "../../service/errors.ts";
import { makeTestDatabase } from "../../tools/parts/database.ts";
import { possible, type Seen } from "./matrix.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Directory of the test tables: never written to, each service gets a copy. */
    tables: string;
    /** File that collects what the tests saw. */
    seen: string;
  }
}

const columnOrder = ["ok", ...Object.keys(errorKinds).map(Number)] as const;

/** A cell: seen, possible but not seen, or not possible. */
const cell = (seen: ReadonlySet<string>, operation: string, code: Seen["code"]): string => {
  if (seen.has(`${operation} ${code}`)) return "x";
  return possible[operation]?.includes(code) === true ? "!" : ".";
};

const printMatrix = (file: string): boolean => {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const seen = new Set(
    lines.map((line) => JSON.parse(line) as Seen).map(({ operation, code }) => `${operation} ${code}`),
  );
  const columns = columnOrder.filter((code) => Object.values(possible).some((codes) => codes.includes(code)));
  const rows = Object.keys(possible).map((operation) => ({
    operation,
    cells: columns.map((code) => cell(seen, operation, code)),
  }));
  const print = (name: string, cells: readonly string[]) =>
    process.stdout.write(`${name.padEnd(26)}${cells.map((text) => text.padStart(3)).join("")}\n`);
  process.stdout.write(
    "\nOperation x Lance error code, as the tests saw them (x seen, ! possible but not seen, . not possible):\n",
  );
  print("", columns.map(String));
  for (const { operation, cells } of rows) print(operation, cells);
  return rows.every(({ cells }) => !cells.includes("!"));
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), "lakehead-tables-"));
  const tables = join(home, "tables");
  const seen = join(home, "seen.jsonl");
  await makeTestDatabase(tables);
  project.provide("tables", tables);
  project.provide("seen", seen);
  return async () => {
    const complete = existsSync(seen) && printMatrix(seen);
    // Only a run of all of `npm test` can say that something was not seen.
    const { testFiles } = await project.globTestFiles();
    const ran = project.vitest.state.getTestModules().filter((module) => module.project === project).length;
    if (!complete && project.name === "service" && ran >= testFiles.length) {
      process.stdout.write("some possible answers were seen by no test\n");
      process.exitCode = 1;
    }
    await rm(home, { recursive: true, force: true });
  };
}
