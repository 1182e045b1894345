import { mkdtemp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inject } from "vitest";

/** A new directory beside the test tables: removed with them, after the run. */
export const makeDirectory = (): Promise<string> => mkdtemp(join(dirname(inject("tables")), "lakehead-test-"));
