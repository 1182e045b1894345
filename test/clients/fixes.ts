import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { pythonQuery } from "../../service/plan-doctor/fix.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { cases } from "../service/plan-doctor/support/cases.ts";
import { createTables, type Tables } from "../service/plan-doctor/support/data.ts";
import { codesOf, type ResultRow } from "../service/plan-doctor/support/examine.ts";
import { type ApplyFix, changesQuery, treat } from "../service/plan-doctor/support/treat.ts";

const here = (path: string): string => new URL(path, import.meta.url).pathname;

const secondsForAll = 300;

/** A fix of the plan doctor as Python: undefined if it holds, else what does not. */
interface FixResult {
  readonly code: string;
  readonly failure: string | undefined;
}

/** What the fixes did in LanceDB's Python client, or what is missing for it. */
export type FixRun =
  | { readonly version: string; readonly results: readonly FixResult[]; readonly missing?: never }
  | { readonly missing: string; readonly results?: never };

interface Response {
  readonly error?: string;
  readonly plan: string;
  /** Empty for a query that returns no ids. */
  readonly rows: readonly { readonly id: number; readonly _distance: number }[];
}

/** A process of Python that applies fixes, one after the other. */
const startPython = async (python: string) => {
  const child = spawn(python, ["-u", here("python/fixes.py")], {
    stdio: ["pipe", "pipe", "inherit"],
    timeout: secondsForAll * 1000,
  });
  // A program that has exited reads no request.
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async <T>(): Promise<T> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the Python process ended");
    return JSON.parse(value) as T;
  };
  const { version } = await read<{ version: string }>();
  return {
    version,
    ask: (request: object): Promise<Response> => {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return read();
    },
    stop: async (): Promise<void> => {
      const exit = once(child, "exit");
      child.stdin.end();
      await exit;
    },
  };
};

/** Applies the Python of a fix as it is printed, and runs the query after it in Python too. */
const applyPython =
  ({ directory }: Tables, { ask }: Awaited<ReturnType<typeof startPython>>): ApplyFix =>
  async (table, finding, surroundings, query) => {
    const program = finding.fix.python;
    const { error, plan, rows } = await ask({
      directory,
      table: table.name,
      ...surroundings,
      ...(changesQuery(finding)
        ? { maintenance: null, query: program }
        : { maintenance: program, query: pythonQuery(query) }),
    });
    if (error !== undefined) throw new Error(`${program}\n${error}`);
    // The client of the test reads the facts after the fix.
    await table.checkoutLatest();
    const result: readonly ResultRow[] = rows.map(({ id, _distance }) => ({ id: BigInt(id), _distance }));
    return { query: async () => ({ plan, rows: async () => result }) };
  };

const failureOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Applies every fix of the plan doctor as Python to a table with its fault: the finding ends, and what it promised falls. */
export const runPythonFixes = async (log: (line: string) => void): Promise<FixRun> => {
  const found = await pythonWith(here("python/requirements.txt"), log);
  if (found.missing !== undefined) return { missing: found.missing };
  const [tables, python] = await Promise.all([createTables(), startPython(found.python)]);
  const apply = applyPython(tables, python);
  try {
    const results: FixResult[] = [];
    for (const one of cases) {
      const failure = await treat(tables, one, apply).then(({ before, after }) => {
        if (codesOf(after.examined).includes(one.code)) return `it is found again: ${after.examined.document.plan}`;
        return after.measured < before.measured
          ? undefined
          : `${one.lowers} did not fall: ${before.measured} before, ${after.measured} after`;
      }, failureOf);
      results.push({ code: one.code, failure });
    }
    return { version: python.version, results };
  } finally {
    await Promise.all([tables.remove(), python.stop()]);
  }
};
