/**
 * Measures the memory that a response of rows takes, as a multiple of its bytes: the peak of the main process and of the
 * worker process in `/proc`, above their memory just before. Every round starts a new service, because memory that an earlier
 * response left allocated would be reused and not show. Prints Markdown; Linux.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeData } from "./data.ts";
import { median } from "./measure.ts";
import { readOptions } from "./options.ts";
import { family } from "./processes.ts";
import { figureTable, print } from "./report.ts";
import { startServer, token } from "./servers.ts";
import { tables } from "./workloads.ts";

const { rounds } = readOptions("bench:rows", { rounds: { default: 5, help: "rounds of each result size" } });
const everyMs = 2;

interface Round {
  readonly bytes: number;
  /** Bytes above the process' memory before the request. */
  readonly main: number;
  readonly worker: number;
}

/** Resident bytes of the main process and of its one worker. */
const resident = (pid: number): readonly [main: number, worker: number] => {
  const [main, worker] = family(pid);
  return [main?.residentBytes ?? Number.NaN, worker?.residentBytes ?? Number.NaN];
};

const askOnce = async (home: string, { name, rows }: { readonly name: string; readonly rows: number }) => {
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: home,
    LAKEHEAD_ANALYZE_CONCURRENCY: "1",
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(4 * 2 ** 30),
  });
  const query = async (k: number): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/table/${name}/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ k }),
    });
    const { byteLength } = await response.arrayBuffer();
    if (!response.ok) throw new Error(`${name} answers ${response.status}`);
    return byteLength;
  };
  try {
    await query(1);
    const before = resident(server.pid);
    const peak = [...before];
    const watch = setInterval(() => {
      for (const [index, bytes] of resident(server.pid).entries()) peak[index] = Math.max(peak[index] ?? 0, bytes);
    }, everyMs);
    const bytes = await query(rows).finally(() => clearInterval(watch));
    const over = (index: 0 | 1): number => (peak[index] ?? 0) - before[index];
    return { bytes, main: over(0), worker: over(1) } satisfies Round;
  } finally {
    await server.stop();
  }
};

const home = await mkdtemp(join(tmpdir(), "lakehead-bench-"));
try {
  await writeData(home);
  const lines: string[][] = [];
  for (const asked of Object.values(tables)) {
    const measured: Round[] = [];
    for (let round = 0; round < rounds; round++) measured.push(await askOnce(home, asked));
    const times = (part: "main" | "worker"): string =>
      median(measured.map((round) => round[part] / round.bytes)).toFixed(1);
    lines.push([
      `${asked.rows.toLocaleString("en")} rows of ${asked.dimensions} dimensions`,
      `${((measured[0]?.bytes ?? 0) / 1e6).toFixed(1)} MB`,
      times("worker"),
      times("main"),
    ]);
  }
  print(figureTable(["response", "bytes", "worker, multiple", "main process, multiple"], lines));
} finally {
  await rm(home, { recursive: true, force: true });
}
