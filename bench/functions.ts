/**
 * Measures Functions on a local Ray with two workers: the share of the ideal time in which a column is filled, also when a worker
 * is killed, what a refresh costs after an append, and the same column by pylance and by lance-ray. Needs Python. Prints Markdown.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect } from "@lancedb/lancedb";
import { bind, end, ended, refresh, register, scalar, startHead, startRunner } from "../test/functions/support.ts";
import { pythonWith } from "../tools/parts/python.ts";
import { readOptions } from "./options.ts";
import { conditions, figureTable, print, say } from "./report.ts";
import { startServer, token } from "./servers.ts";

const { rows, fragments, peers } = readOptions("bench:functions", {
  rows: { default: 1_000_000, help: "rows of the table" },
  fragments: { default: 20, help: "fragments of the table" },
  peers: { default: 100_000, help: "rows of the table that pylance and lance-ray fill, too" },
});
const workers = 2;
const milliseconds = 1;
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const [runnerPython, enginePython] = [
  await pythonWith(here("../runner/requirements.txt"), say),
  await pythonWith(here("../test/stores/token-alone/requirements.txt"), say),
];
if (runnerPython.python === undefined || enginePython.python === undefined) {
  process.stdout.write(`skipped: ${runnerPython.missing ?? enginePython.missing} is missing\n`);
  process.exit(0);
}

const home = await mkdtemp(join(tmpdir(), "lakehead-functions-"));
const database = await connect(home, { readConsistencyInterval: 0 });

/** A table of ids from 1, in fragments of the same size. */
const makeTable = async (name: string, count: number, parts: number): Promise<void> => {
  const ids = (part: number) =>
    Array.from({ length: count / parts }, (_, row) => ({ id: BigInt(part * (count / parts) + row + 1) }));
  const table = await database.createTable(name, ids(0));
  for (let part = 1; part < parts; part++) await table.add(ids(part));
};

/** Processes of Ray that compute. */
const computing = async (): Promise<number[]> => {
  const named = await Promise.all(
    (await readdir("/proc")).filter(Number).map(async (pid) => ({
      pid: Number(pid),
      name: await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
    })),
  );
  return named.filter(({ name }) => name.startsWith("ray::Worker.compute")).map(({ pid }) => pid);
};

const server = await startServer("../service/main.ts", {
  LAKEHEAD_DATABASE: home,
  LAKEHEAD_WRITES: "on",
  LAKEHEAD_FUNCTIONS: "on",
  LAKEHEAD_CONSISTENCY_SECONDS: "0",
});
const head = await startHead(runnerPython.python);
const runner = await startRunner(runnerPython.python, home, head.address);
const service = {
  ask: async (path: string, body: object) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  },
};

/** Seconds from the request until the job's end. */
const filled = async (table: string, column: string, count: number, meanwhile?: () => Promise<void>) => {
  const begun = performance.now();
  const job = ended(service, await refresh(service, table, column));
  await meanwhile?.();
  const { job_state: state, result, failure } = await job;
  if (state !== "DONE" || result.rows_assigned !== count)
    throw new Error(`${table}: ${state} ${JSON.stringify(result ?? failure)}`);
  return (performance.now() - begun) / 1000;
};
const kill = async (after: number): Promise<void> => {
  await sleep(after * 1000);
  let [pid] = await computing();
  for (; pid === undefined; [pid] = await computing()) await sleep(50);
  process.kill(pid, "SIGKILL");
};

try {
  const made = await register(service, {
    source: `import time\ndef doubled(x):\n    time.sleep(${milliseconds / 1000})\n    return x * 2\n`,
    inputs: { x: "int64" },
    output: scalar("int64"),
  });
  const bound = async (table: string) => bind(service, table, made, { x: "id" }, { y: "$value" });
  const ideal = (count: number): number => (count * milliseconds) / 1000 / workers;
  const lines: string[][] = [];
  const add = (what: string, count: number, seconds: number): void => {
    const share = `${Math.round((ideal(count) / seconds) * 100)} %`;
    lines.push([what, count.toLocaleString("en-US"), seconds.toFixed(1), ideal(count).toFixed(1), share]);
    say(lines.at(-1)?.join(", ") ?? "");
  };

  await makeTable("whole", rows, fragments);
  await bound("whole");
  add("the column is filled", rows, await filled("whole", "y", rows));
  await makeTable("killed", rows, fragments);
  await bound("killed");
  add("the same, one worker is killed", rows, await filled("killed", "y", rows, () => kill(ideal(rows) / 2)));
  const few = rows / 100;
  const appended = Array.from({ length: few }, (_, row) => ({ id: BigInt(rows + row + 1) }));
  await (await database.openTable("whole")).add(appended);
  add("refresh after an append of 1 %", few, await filled("whole", "y", few));

  await makeTable("peers", peers, 8);
  await makeTable("ours", peers, 8);
  const program = [here("functions.py"), join(home, "peers.lance"), String(milliseconds)];
  const { stdout } = await promisify(execFile)(enginePython.python, program);
  const theirs = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Readonly<Record<string, number>>;
  await bound("ours");
  add("a column of a small table", peers, await filled("ours", "y", peers));
  for (const [name, seconds] of Object.entries(theirs)) add(`the same by \`add_columns\` of ${name}`, peers, seconds);
  print(
    `${conditions("service, runner and Ray")}; ${fragments} fragments, a Function of ${milliseconds} ms for each row, ${workers} workers.`,
    figureTable(["work", "rows", "seconds", "ideal", "share of the ideal"], lines),
  );
} finally {
  database.close();
  await end(runner, "SIGTERM");
  await head.stop();
  await server.stop();
  await rm(home, { recursive: true, force: true });
}
