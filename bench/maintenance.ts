/**
 * `npm run bench:maintenance`: a table before and after a run of the maintenance, the rates of its work, and what writers
 * notice of it.
 */
import { spawn } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

// See service/main.ts.
process.env.LANCEDB_LOG ??= "error";
const { blob, connect, Index } = await import("@lancedb/lancedb");
const { Binary, Field, Int64, Schema } = await import("apache-arrow");
const { testToken } = await import("../test/support/request.ts");
const { startReadyServiceProcess } = await import("../test/support/service-process.ts");
const { median, percentile } = await import("./measure.ts");
const { readOptions } = await import("./options.ts");
const { figureTable, mebibytes, print, whole } = await import("./report.ts");
type Figures = import("../service/maintenance/work.ts").Figures;
type WorkResult = import("../service/maintenance/work.ts").WorkResult;
type Step = import("../service/maintenance/work.ts").Step;

const options = readOptions("bench:maintenance", {
  appends: { default: 2000, help: "single-row appends of the first table" },
  fragments: { default: 100, help: "fragments of the table whose rates are measured" },
  rows: { default: 4000, help: "rows of each of these fragments" },
  dimensions: { default: 128, help: "numbers of a vector" },
  seconds: { default: 15, help: "seconds of writing without a run, and as many during runs, in each round" },
  rounds: { default: 3, help: "rounds of that" },
  writers: { default: false, help: "only what writers notice" },
  wide: { default: 0, help: "only so many rows of 1.5 MB, in a binary and in a blob column" },
});

const program = fileURLToPath(new URL("../service/maintenance/main.ts", import.meta.url));

interface Run {
  readonly result: WorkResult | undefined;
  readonly steps: readonly Step[];
  readonly seconds: number;
}

/** One run, with its lines read. */
const maintain = async (database: string, rules: readonly object[]): Promise<Run> => {
  const child = spawn(process.execPath, [program, "--json"], {
    env: {
      ...process.env,
      LAKEHEAD_DATABASE: database,
      LAKEHEAD_MAINTENANCE: JSON.stringify(rules),
      LAKEHEAD_PINNED_SECONDS: "1",
      LAKEHEAD_ANALYZE_DEADLINE_SECONDS: "0.5",
      LAKEHEAD_WRITE_DEADLINE_SECONDS: "1",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`the run ended with ${code}:\n${text}`);
  const lines = text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const done = lines.find(({ outcome }) => outcome === "done");
  return { result: done?.result, steps: lines.filter(({ audit }) => audit !== undefined), seconds: done?.seconds ?? 0 };
};

const rowsFrom = (from: number, count: number): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, index) => ({
    id: from + index,
    vector: Array.from({ length: options.dimensions }, () => Math.random()),
  }));

const times = (before: number, after: number): string =>
  after === 0 ? "" : `${(before / after).toPrecision(2)} times fewer`;

/** A search with warm caches, in milliseconds. */
const warmSearch = async (database: string, table: string): Promise<number> => {
  const connection = await connect(database);
  try {
    const open = await connection.openTable(table);
    const search = () =>
      open.vectorSearch(new Array<number>(options.dimensions).fill(0.5)).select(["id"]).limit(10).toArray();
    for (let warm = 0; warm < 5; warm++) await search();
    const taken: number[] = [];
    for (let round = 0; round < 30; round++) {
      const from = performance.now();
      await search();
      taken.push(performance.now() - from);
    }
    return median(taken);
  } finally {
    connection.close();
  }
};

const appendsOneByOne = async (database: string): Promise<void> => {
  const connection = await connect(database);
  const table = await connection.createTable("appended", rowsFrom(0, 2000));
  await table.createIndex("vector", { config: Index.ivfPq({ numPartitions: 16, numSubVectors: 8 }) });
  for (let id = 0; id < options.appends; id++) await table.add(rowsFrom(2000 + id, 1));
  connection.close();
};

const beforeAndAfter = async (database: string): Promise<string> => {
  await appendsOneByOne(database);
  await sleep(1700);
  const slow = await warmSearch(database, "appended");
  const { result, seconds } = await maintain(database, [{ cleanup: { olderThanHours: 1.5 / 3600 } }]);
  const fast = await warmSearch(database, "appended");
  if (result === undefined) throw new Error("nothing was due");
  const { before, after } = result;
  const row = (name: string, read: (figures: Figures) => number): string[] => [
    name,
    whole(read(before)),
    whole(read(after)),
    times(read(before), read(after)),
  ];
  const table = figureTable(
    ["", "before", "after", ""],
    [
      row("fragments", ({ fragments }) => fragments),
      row("versions", ({ versions }) => versions ?? 0),
      row("rows outside of the index", ({ unindexedRows }) => unindexedRows),
      row("bytes of the version", ({ bytes }) => bytes),
      row("search without caches, µs", ({ sample }) => (sample?.milliseconds ?? 0) * 1000),
      row("search without caches, bytes", ({ sample }) => sample?.bytes ?? 0),
      row("search without caches, reads", ({ sample }) => sample?.reads ?? 0),
      ["search with caches, µs", whole(slow * 1000), whole(fast * 1000), times(slow, fast)],
    ],
  );
  const perSecond = before.fragments / seconds;
  return `${whole(options.appends)} single-row appends to a table with an index; the run took ${seconds.toFixed(1)} s, ${whole(perSecond)} fragments/s, ${mebibytes(result.peakBytes)} MiB; at that rate 100,000 fragments take ${hours(100_000 / perSecond)}\n\n${table}\n`;
};

interface Rates {
  /** Of merging, in bytes per second. */
  readonly merging: number;
  readonly peakBytes: number;
}

/** Merges the fragments of a table, with or without an index that covers them. */
const merge = async (
  database: string,
  name: string,
  indexed: boolean,
): Promise<Rates & { readonly line: string[] }> => {
  const connection = await connect(database);
  const table = await connection.createTable(name, rowsFrom(0, options.rows));
  for (let part = 1; part < options.fragments; part++) await table.add(rowsFrom(part * options.rows, options.rows));
  if (indexed) await table.createIndex("vector", { config: Index.ivfPq({ numSubVectors: 16 }) });
  connection.close();
  const { result, steps } = await maintain(database, [{ tables: [name] }]);
  const seconds = steps.reduce((sum, { seconds: own }) => sum + own, 0);
  const { before, peakBytes = 0 } = result ?? {};
  const bytes = before?.bytes ?? 0;
  const what = `${options.fragments} fragments, ${whole(before?.rows ?? 0)} rows, ${whole(bytes / 1e6)} MB, ${indexed ? "with an IVF_PQ" : "without an index"}`;
  return {
    merging: bytes / seconds,
    peakBytes,
    line: [`merging ${what}`, `${whole(bytes / 1e6 / seconds)} MB/s`, `${mebibytes(peakBytes)} MiB`],
  };
};

const building = async (database: string): Promise<string[]> => {
  const connection = await connect(database);
  const rows = options.fragments * options.rows;
  const from = performance.now();
  const config = Index.ivfPq({ numSubVectors: 16 });
  await (await connection.openTable("plain")).createIndex("vector", { config });
  const seconds = (performance.now() - from) / 1000;
  connection.close();
  return [
    `building an IVF_PQ of ${whole(rows)} vectors of ${options.dimensions}`,
    `${whole(rows / seconds)} rows/s`,
    "",
  ];
};

const hours = (seconds: number): string => `${(seconds / 3600).toPrecision(2)} h`;

const rates = async (database: string): Promise<string> => {
  const plain = await merge(database, "plain", false);
  const indexed = await merge(database, "indexed", true);
  const table = figureTable(["work", "rate", "memory"], [plain.line, indexed.line, await building(database)]);
  const perRow = (indexed.peakBytes - plain.peakBytes) / (options.fragments * options.rows);
  const all = 1e12 / indexed.merging;
  return `${table}\nA row of the index costs ${perRow.toFixed(0)} bytes of memory. 1 TB takes ${hours(all)} on one machine, ${hours(all / 8)} on 8 equal workers.\n`;
};

/** The 99th percentile of appends through the service, without a run and during runs. */
const writers = async (database: string): Promise<string> => {
  const connection = await connect(database);
  const table = await connection.createTable("written", rowsFrom(0, 20_000));
  await table.createIndex("vector", { config: Index.ivfPq({ numPartitions: 16, numSubVectors: 8 }) });
  connection.close();
  const service = await startReadyServiceProcess({
    environment: { LAKEHEAD_DATABASE: database, LAKEHEAD_WRITES: "on" },
  });
  try {
    const remote = await (await connect("db://any", { apiKey: testToken, hostOverride: service.base })).openTable(
      "written",
    );
    let next = 1_000_000;
    const writeFor = async (seconds: number): Promise<readonly number[]> => {
      const taken: number[] = [];
      const end = performance.now() + seconds * 1000;
      while (performance.now() < end) {
        const from = performance.now();
        await remote.add(rowsFrom(next++, 1) as never);
        taken.push(performance.now() - from);
        await sleep(20);
      }
      return taken;
    };
    let [runs, changes] = [0, 0];
    const writeDuringRuns = async (): Promise<readonly number[]> => {
      let writing = true;
      const maintaining = (async () => {
        while (writing) {
          const { steps } = await maintain(database, [{ tables: ["written"], compaction: { smallFragments: 5 } }]);
          runs++;
          changes += steps.length;
        }
      })();
      const during = await writeFor(options.seconds);
      writing = false;
      await maintaining;
      return during;
    };
    await writeFor(3);
    const rows: string[][] = [];
    const ratios: number[] = [];
    for (let round = 1; round <= options.rounds; round++) {
      const quiet = await writeFor(options.seconds);
      const during = await writeDuringRuns();
      ratios.push(percentile(during, 0.99) / percentile(quiet, 0.99));
      const ofBoth = (figure: (of: readonly number[]) => number): string =>
        `${figure(quiet).toFixed(1)}, ${figure(during).toFixed(1)}`;
      rows.push([
        String(round),
        ofBoth(median),
        ofBoth((of) => percentile(of, 0.99)),
        ofBoth((of) => Math.max(...of)),
        `${ratios.at(-1)?.toFixed(2)} times`,
      ]);
    }
    const table = figureTable(["round", "p50 ms", "p99 ms", "slowest ms", "p99, during/quiet"], rows);
    return `Appends of one row through the service, without a run and during runs (${runs} runs, ${changes} changes): the 99th percentile is ${median(ratios).toFixed(2)} times as high.\n\n${table}\n`;
  } finally {
    await service.stop();
  }
};

const wideBytes = 1_500_000;
const wideRowsOfWrite = 100;

/** Sizes of the files of a table, by path. */
const filesOf = async (table: string): Promise<ReadonlyMap<string, number>> => {
  const entries = await readdir(table, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(await Promise.all(paths.map(async (path) => [path, (await stat(path)).size] as const)));
};

/** Merges a table of large values, again, and again after ten appends of a row: what each run writes, and its memory. */
const mergeWide = async (database: string, name: string, image: InstanceType<typeof Field>): Promise<string[][]> => {
  const connection = await connect(database);
  const schema = new Schema([new Field("id", new Int64()), image]);
  const rows = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: BigInt(from + index),
      image: randomFillSync(Buffer.allocUnsafe(wideBytes)),
    }));
  const table = await connection.createEmptyTable(name, schema);
  const append = async (from: number, to: number, each: number): Promise<void> => {
    for (let at = from; at < to; at += each) await table.add(rows(at, Math.min(each, to - at)));
  };
  const run = async (what: string): Promise<string[]> => {
    const before = await filesOf(join(database, `${name}.lance`));
    const { result } = await maintain(database, [{ tables: [name], compaction: { smallFragments: 10 } }]);
    const written = [...(await filesOf(join(database, `${name}.lance`)))].filter(([path]) => !before.has(path));
    const bytes = written.reduce((sum, [, size]) => sum + size, 0);
    return [
      `${name}: ${what}`,
      ...[result?.before.fragments, result?.after.fragments].map((count) => (count === undefined ? "–" : whole(count))),
      whole(bytes / 1e6),
      result === undefined ? "nothing due" : mebibytes(result.peakBytes),
    ];
  };
  try {
    await append(0, options.wide, wideRowsOfWrite);
    const lines = [await run("first run"), await run("second run")];
    await append(options.wide, options.wide + 10, 1);
    return [...lines, await run("after ten appends of a row")];
  } finally {
    connection.close();
    await rm(database, { recursive: true, force: true });
  }
};

const wide = async (database: string): Promise<string> => {
  const lines = [
    ...(await mergeWide(database, "binary", new Field("image", new Binary()))),
    ...(await mergeWide(database, "blob", blob("image"))),
  ];
  const table = figureTable(["run", "fragments before", "after", "MB written", "memory, MiB"], lines);
  return `${whole(options.wide)} rows of ${wideBytes / 1e6} MB, ${wideRowsOfWrite} for each append\n\n${table}\n`;
};

const directory = await mkdtemp(join(tmpdir(), "lakehead-bench-maintenance-"));
try {
  const measures = options.wide > 0 ? { wide } : options.writers ? { writers } : { beforeAndAfter, rates, writers };
  for (const [name, measure] of Object.entries<(database: string) => Promise<string>>(measures))
    print(await measure(join(directory, name)));
} finally {
  await rm(directory, { recursive: true, force: true });
}
