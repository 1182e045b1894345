import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { makeTestDatabase } from "../../tools/parts/database.ts";

/** The test tables, written once. Each service gets a copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), "lakehead-console-"));
  const tables = join(home, "tables");
  await makeTestDatabase(tables);
  project.provide("tables", tables);
  return () => rm(home, { recursive: true, force: true });
}
