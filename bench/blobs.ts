/**
 * Measures the bytes of blobs per second, whole requests over HTTP, beside pylance's `take_blobs` on the same store: one large
 * blob, several readers of it, and many small ones by `fetch_blobs`. Prints Markdown.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { blob, connect } from "@lancedb/lancedb";
import { Field, Int64, Schema, tableFromIPC } from "apache-arrow";
import { pythonWith } from "../tools/parts/python.ts";
import type { ReadBytes, Reading } from "./blob-reader.ts";
import { environmentOf, type Home, openHome, placeOf } from "./home.ts";
import { median } from "./measure.ts";
import { readOptions } from "./options.ts";
import { conditions, figureTable, print, say } from "./report.ts";
import { startServer, token } from "./servers.ts";
import { startWorker } from "./task-process.ts";

const plan = readOptions("bench:blobs", {
  rounds: { default: 5, help: "rounds of each read" },
  megabytes: { default: 256, help: "size of the large blob" },
  readers: { default: 16, help: "readers of it at once" },
  directory: { default: false, help: "tables in a local directory instead of an object store" },
});
const small = { rows: 64, bytes: 2 ** 20 } as const;

const write = async (directory: string): Promise<void> => {
  const connection = await connect(directory);
  const schema = new Schema([new Field("id", new Int64()), blob("image")]);
  const bytes = (length: number): Buffer => Buffer.alloc(length, "lakehead");
  await connection.createTable("large", [{ id: 1n, image: bytes(plan.megabytes * 2 ** 20) }], { schema });
  const rows = Array.from({ length: small.rows }, (_, id) => ({ id: BigInt(id), image: bytes(small.bytes) }));
  await connection.createTable("small", rows, { schema });
  connection.close();
};

interface Measured {
  readonly name: string;
  readonly megabytesPerSecond: number;
  /** Milliseconds until the first byte of the body. */
  readonly firstByte?: number;
  /** CPU seconds of the service for each gigabyte. */
  readonly cpu?: number;
}

const byService = async (home: Home): Promise<readonly Measured[]> => {
  const server = await startServer("../service/main.ts", environmentOf(home));
  const base = `http://127.0.0.1:${server.port}/v1/table`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const idsOf = async (table: string): Promise<readonly number[]> => {
    const body = JSON.stringify({ k: small.rows, columns: ["id"], with_row_id: true });
    const response = await fetch(`${base}/${table}/query`, {
      method: "POST",
      headers: { ...headers, accept: "application/json" },
      body,
    });
    return [...(tableFromIPC(await response.arrayBuffer()).getChild("_rowid") ?? [])].map(Number);
  };
  const reader = startWorker<Reading, ReadBytes>(new URL("blob-reader.ts", import.meta.url), []);
  const measure = async (name: string, reading: Omit<Reading, "headers">): Promise<Measured> => {
    const rounds: { rate: number; firstByte: number; cpu: number }[] = [];
    for (let round = 0; round <= plan.rounds; round++) {
      const cpuBefore = await server.cpuSeconds();
      const { bytes, seconds, firstBytes } = await reader.run({ ...reading, headers });
      const cpu = ((await server.cpuSeconds()) - cpuBefore) / (bytes / 1e9);
      rounds.push({ rate: bytes / 1e6 / seconds, firstByte: median(firstBytes), cpu });
    }
    // The first one opens the table.
    const counted = rounds.slice(1);
    return {
      name,
      megabytesPerSecond: median(counted.map(({ rate }) => rate)),
      firstByte: median(counted.map(({ firstByte }) => firstByte)),
      cpu: median(counted.map(({ cpu }) => cpu)),
    };
  };
  try {
    const [row] = await idsOf("large");
    const ids = await idsOf("small");
    const one = { url: `${base}/large/blob/image/${row}/bytes`, times: 1 };
    const body = JSON.stringify({ column: "image", row_ids: ids.slice(0, small.rows - 1) });
    return [
      await measure("one blob, whole", one),
      await measure(`the same, ${plan.readers} readers`, { ...one, times: plan.readers }),
      await measure(`${small.rows - 1} blobs of 1 MiB, fetch_blobs`, {
        url: `${base}/small/fetch_blobs`,
        body,
        times: 1,
      }),
    ];
  } finally {
    reader.stop();
    await server.stop();
  }
};

const byPylance = async ({ address, storageOptions }: Home): Promise<readonly Measured[]> => {
  const { python } = await pythonWith(
    fileURLToPath(new URL("../test/clients/python/requirements.txt", import.meta.url)),
    say,
  );
  if (python === undefined) return [];
  const program = fileURLToPath(new URL("blobs.py", import.meta.url));
  const { stdout } = await promisify(execFile)(python, [
    program,
    address,
    JSON.stringify(storageOptions),
    String(plan.rounds),
  ]);
  const names: Readonly<Record<string, string>> = {
    large: "pylance, one blob, whole",
    small: "pylance, 64 blobs of 1 MiB",
  };
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { table: string; bytes: number; seconds: number })
    .map(({ table, bytes, seconds }) => ({ name: names[table] ?? table, megabytesPerSecond: bytes / 1e6 / seconds }));
};

const home = await openHome(plan.directory, write);
try {
  const measured = [...(await byPylance(home)), ...(await byService(home))];
  print(
    `${conditions("all")}; ${placeOf(plan.directory)}; a large blob of ${plan.megabytes} MiB; median of ${plan.rounds} rounds.`,
    figureTable(
      ["read", "MB/s", "first byte, ms", "CPU s/GB"],
      measured.map(({ name, megabytesPerSecond, firstByte, cpu }) => [
        name,
        megabytesPerSecond.toFixed(0),
        firstByte?.toFixed(0) ?? "–",
        cpu?.toFixed(1) ?? "–",
      ]),
    ),
  );
} finally {
  await home.close();
}
