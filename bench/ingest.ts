/**
 * Measures inserts through the service against the same native call of the SDK on the same bytes, and single-row appends of
 * many callers against one commit each. Prints Markdown; memory is read from `/proc`, so it needs Linux.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect } from "@lancedb/lancedb";
import {
  Field,
  FixedSizeList,
  Float32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
} from "apache-arrow";
import { outlineOf, toArrowFile } from "../service/lance/arrow-stream.ts";
import { median } from "./measure.ts";
import { readOptions } from "./options.ts";
import { family } from "./processes.ts";
import { figureTable } from "./report.ts";
import { type Server, startServer, token } from "./servers.ts";

const options = readOptions("bench:ingest", {
  rounds: { default: 3, help: "rounds of each kind of batch; service and SDK alternate" },
  megabytes: { default: 128, help: "megabytes of each round and side" },
  seconds: { default: 10, help: "length of the appends of single rows" },
  callers: { default: 64, help: "concurrent callers that append single rows" },
});
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const megabyte = 1_000_000;

const batch = (dimensions: number, bytes: number): Uint8Array => {
  const rows = Math.max(1, Math.round(bytes / (4 * dimensions + 8)));
  const values = Float32Array.from({ length: rows * dimensions }, () => Math.random());
  const list = new FixedSizeList(dimensions, new Field("item", new Float32(), true));
  const schema = new Schema([new Field("id", new Int64(), true), new Field("vector", list, true)]);
  const ids = BigInt64Array.from({ length: rows }, (_, id) => BigInt(id));
  const children = [
    makeData({ type: new Int64(), data: ids }),
    makeData({ type: list, length: rows, child: makeData({ type: new Float32(), data: values }) }),
  ];
  const type = new Struct(schema.fields);
  return tableToIPC(new Table([new RecordBatch(schema, makeData({ type, length: rows, children }))]), "stream");
};

const agent = new Agent({ keepAlive: true });

const insert = (server: Server, table: string, rows: Uint8Array, operation = "insert"): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        port: server.port,
        host: "127.0.0.1",
        method: "POST",
        path: `/v1/table/${table}/${operation}`,
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/vnd.apache.arrow.stream",
          "content-length": rows.byteLength,
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode} ${text}`)),
        );
      },
    );
    sent.on("error", reject);
    sent.end(rows);
  });

interface NativeTable {
  add(file: Buffer, mode: string): Promise<{ readonly version: number }>;
}

const openNative = async (connection: Connection, table: string) => {
  const opened = await connection.openTable(table);
  return { opened, native: (opened as unknown as { readonly inner: NativeTable }).inner };
};

const fileOf = (bytes: Uint8Array): Buffer => toArrowFile([{ bytes, outline: outlineOf(bytes) }]);

const seconds = async (work: () => Promise<void>): Promise<number> => {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
};

const mainBytes = (server: Server): number => family(server.pid)[0]?.residentBytes ?? Number.NaN;
const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);

const ingest = async (home: string): Promise<string> => {
  const connection = await connect(join(home, "sdk"));
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: join(home, "service"),
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(8 * 2 ** 30),
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const lines: string[][] = [];
  try {
    for (const dimensions of [128, 1536])
      for (const size of [1, 64]) {
        const table = `d${dimensions}-${size}`;
        const rows = batch(dimensions, size * megabyte);
        const count = Math.max(1, Math.round(options.megabytes / size));
        const first = batch(dimensions, 1000);
        await insert(server, table, first, "create");
        await insert(server, table, rows);
        await connection.createEmptyTable(table, outlineSchema(dimensions));
        const { opened, native } = await openNative(connection, table);
        await native.add(fileOf(rows), "append");
        const before = mainBytes(server);
        let peak = before;
        const watch = setInterval(() => {
          peak = Math.max(peak, mainBytes(server));
        }, 20);
        const ratios: number[] = [];
        const speeds: number[] = [];
        const total = (count * rows.byteLength) / megabyte;
        for (let round = 0; round < options.rounds; round++) {
          const ours = await seconds(async () => {
            for (let sent = 0; sent < count; sent++) await insert(server, table, rows);
          });
          const theirs = await seconds(async () => {
            // What the SDK's own `add` does with Arrow data, without its encoding.
            for (let sent = 0; sent < count; sent++) await native.add(fileOf(rows), "append");
          });
          ratios.push(theirs / ours);
          speeds.push(total / ours);
        }
        clearInterval(watch);
        opened.close();
        say(`${dimensions} dimensions, ${size} MB: ${Math.round(median(ratios) * 100)} %`);
        lines.push([
          `${dimensions} dimensions, batches of ${size} MB`,
          median(speeds).toFixed(0),
          `${Math.round(median(ratios) * 100)} % [${Math.round(Math.min(...ratios) * 100)}–${Math.round(Math.max(...ratios) * 100)}]`,
          mebibytes(before),
          mebibytes(peak),
          (total * options.rounds).toFixed(0),
        ]);
      }
  } finally {
    await server.stop();
    connection.close();
  }
  return figureTable(["insert", "MB/s", "service/SDK", "main process before, MiB", "peak, MiB", "MB sent"], lines);
};

const outlineSchema = (dimensions: number): Schema =>
  new Schema([
    new Field("id", new Int64(), true),
    new Field("vector", new FixedSizeList(dimensions, new Field("item", new Float32(), true)), true),
  ]);

/** Calls by `callers` at once until the time is over; the number of calls per second. */
const callsPerSecond = async (call: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now();
  const end = begin + options.seconds * 1000;
  let calls = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < end) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: options.callers }, caller));
  return (calls * 1000) / (performance.now() - begin);
};

const appends = async (home: string): Promise<string> => {
  const rows = batch(128, 1);
  const connection = await connect(join(home, "appends"));
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: join(home, "appends"),
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: "1000",
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const measure = async (title: string, table: string, call: () => Promise<unknown>) => {
    const perSecond = await callsPerSecond(call);
    const opened = await connection.openTable(table);
    const [versions, count] = [(await opened.version()) - 1, await opened.countRows()];
    opened.close();
    say(`${title}: ${perSecond.toFixed(0)} appends/s`);
    return { title, perSecond, share: versions / (count - 1) };
  };
  try {
    await insert(server, "grouped", rows, "create");
    await insert(server, "each", rows, "create");
    const grouped = await measure("service", "grouped", () => insert(server, "grouped", rows));
    const { opened, native } = await openNative(connection, "each");
    const file = fileOf(rows);
    const each = await measure("SDK, one commit each", "each", () => native.add(file, "append"));
    opened.close();
    return figureTable(
      [`single-row appends, ${options.callers} callers`, "appends/s", "versions per append", "times the SDK"],
      [grouped, each].map(({ title, perSecond, share }) => [
        title,
        perSecond.toFixed(0),
        share.toFixed(3),
        (perSecond / each.perSecond).toFixed(1),
      ]),
    );
  } finally {
    await server.stop();
    connection.close();
  }
};

const [loadBefore = 0] = loadavg();
const home = await mkdtemp(join(tmpdir(), "lakehead-bench-"));
try {
  const grouped = await appends(home);
  const ingested = await ingest(home);
  process.stdout.write(
    `${[
      `Node ${process.version}, ${availableParallelism()} CPUs shared by both, load average ${loadBefore.toFixed(1)} before the run; median of ${options.rounds} rounds [minimum–maximum].`,
      ingested,
      grouped,
    ].join("\n\n")}\n`,
  );
} finally {
  agent.destroy();
  await rm(home, { recursive: true, force: true });
}
