/** Writes and reads for minutes, with a ledger of what was acknowledged; then inserts of many gigabytes. */
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { Field, Int64, Schema, Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { encode, makeRows, megabyte, post, type Reply, rowsIn, write } from "../ingest/rows.ts";
import { median } from "../measure.ts";
import { figureTable, mebibytes, say } from "../report.ts";
import { startServer } from "../servers.ts";
import { growth, type Memory, memoryOf } from "./trend.ts";

const writersCount = 6;
const readersCount = 4;
const pauseMs = 100;
const idsOfWriter = 10_000_000;
const table = "ledger";
const gigabyte = 1e9;

const schema = new Schema([new Field("id", new Int64(), true), new Field("text", new Utf8(), true)]);

const rowsOf = (ids: readonly number[], text: string): Uint8Array => {
  const columns = {
    id: vectorFromArray(ids.map(BigInt), new Int64()),
    text: vectorFromArray(
      ids.map(() => text),
      new Utf8(),
    ),
  };
  return tableToIPC(new Table(schema, columns), "stream");
};

/** The table is as it was: the same write is sent again. */
const isRetried = ({ status }: Reply): boolean => status === 409 || status === 429 || status === 503;

export interface Outcome {
  readonly lines: readonly string[];
  readonly failures: readonly string[];
}

/** Inserts, merges, updates and deletes of one writer, on ids of its own. */
class Writer {
  readonly expected = new Map<number, string>();
  readonly failures: string[] = [];
  readonly latencies: number[] = [];
  retries = 0;
  readonly #port: number;
  #next: number;
  #turn = 0;

  constructor(port: number, index: number) {
    this.#port = port;
    this.#next = index * idsOfWriter;
  }

  async work(): Promise<void> {
    const turn = this.#turn++ % 10;
    const text = `turn ${this.#turn}`;
    const known = [...this.expected.keys()].slice(-3);
    if (turn < 5 || known.length < 3) {
      const ids = Array.from({ length: turn === 0 ? 500 : 1 }, () => this.#next++);
      if (await this.#send("insert", rowsOf(ids, text))) for (const id of ids) this.expected.set(id, text);
    } else if (turn < 7) {
      const ids = [known[0] as number, this.#next++];
      const clauses = "?on=id&when_matched_update_all=true&when_not_matched_insert_all=true";
      if (await this.#send(`merge_insert${clauses}`, rowsOf(ids, text)))
        for (const id of ids) this.expected.set(id, text);
    } else if (turn < 9) {
      const body = { predicate: `id = ${known[1]}`, updates: [["text", `'${text}'`]] };
      if (await this.#send("update", JSON.stringify(body))) this.expected.set(known[1] as number, text);
    } else if (await this.#send("delete", JSON.stringify({ predicate: `id = ${known[2]}` })))
      this.expected.delete(known[2] as number);
  }

  /** Sends a write until it is committed. */
  async #send(operation: string, body: Uint8Array | string): Promise<boolean> {
    const begin = performance.now();
    for (;;) {
      const reply = await post(this.#port, table, operation, body);
      if (reply.status === 200) {
        this.latencies.push(performance.now() - begin);
        return true;
      }
      if (!isRetried(reply)) {
        this.failures.push(`${operation}: ${reply.status} ${reply.text.slice(0, 200)}`);
        return false;
      }
      this.retries++;
    }
  }
}

const reads = [
  ["count_rows", {}],
  ["stats", {}],
  ["describe", {}],
  ["explain_plan", { query: { k: 10, filter: "id > 100", vector: [] } }],
  ["count_rows", { predicate: "id % 7 = 0" }],
  ["version/list", {}],
] as const;

/** Memory after so many minutes or gigabytes. */
type Sample = Memory & { readonly x: number };
const growthOf = (samples: readonly Sample[], of: keyof Memory): string => growth(samples, of, ({ x }) => x);

export const soakWrites = async (
  home: string,
  { minutes, gigabytes }: { readonly minutes: number; readonly gigabytes: number },
): Promise<Outcome> => {
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: home,
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(4 * 2 ** 30),
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const { port, pid } = server;
  const failures: string[] = [];
  const lines: string[] = [];
  const connection = await connect(home);
  try {
    await write(server, table, "create", rowsOf([], ""));
    const writers = Array.from({ length: writersCount }, (_, index) => new Writer(port, index));
    const end = performance.now() + minutes * 60_000;
    const isOver = (): boolean => performance.now() >= end;
    let answers = 0;
    const read = async (offset: number): Promise<void> => {
      for (let turn = offset; !isOver(); turn++) {
        const [operation, body] = reads[turn % reads.length] ?? reads[0];
        const { status, text } = await post(port, table, operation, JSON.stringify(body));
        if (status === 200) answers++;
        else if (status !== 429 && status !== 503) failures.push(`${operation}: ${status} ${text.slice(0, 200)}`);
        await sleep(pauseMs);
      }
    };
    const work = async (writer: Writer): Promise<void> => {
      while (!isOver()) {
        await writer.work();
        await sleep(pauseMs);
      }
    };
    /** As a team does where the tables are: without it, a table gets a version for each write. */
    const compact = async (): Promise<void> => {
      while (!isOver()) {
        await sleep(Math.min(60_000, Math.max(0, end - performance.now())));
        // Writers may be faster than it.
        for (let attempt = 0; attempt < 5; attempt++) {
          const opened = await connection.openTable(table);
          const isDone = await opened.optimize({ cleanupOlderThan: new Date(Date.now() - 30_000) }).then(
            () => true,
            () => false,
          );
          opened.close();
          if (isDone) break;
        }
      }
    };
    const samples: Sample[] = [];
    const rows: string[][] = [];
    const committed = (): number => writers.reduce((sum, { latencies }) => sum + latencies.length, 0);
    const begin = performance.now();
    const sampling = setInterval(
      () => samples.push({ x: (performance.now() - begin) / 60_000, ...memoryOf(pid) }),
      1000,
    );
    const report = async (): Promise<void> => {
      for (let minute = 1; !isOver(); minute++) {
        const [before, read] = [committed(), answers];
        await sleep(Math.min(60_000, Math.max(0, end - performance.now())));
        const { mainBytes, allBytes } = memoryOf(pid);
        rows.push(
          [minute, committed() - before, answers - read, mebibytes(mainBytes), mebibytes(allBytes)].map(String),
        );
        say(rows.at(-1)?.join(" ") ?? "");
      }
    };
    await Promise.all([
      ...writers.map(work),
      ...Array.from({ length: readersCount }, (_, index) => read(index)),
      compact(),
      report(),
    ]);
    clearInterval(sampling);
    failures.push(...writers.flatMap((writer) => writer.failures));
    const opened = await connection.openTable(table);
    const held = new Map((await opened.query().toArray()).map((row) => [Number(row.id), String(row.text)]));
    const counted = await opened.countRows();
    opened.close();
    const expected = new Map(writers.flatMap((writer) => [...writer.expected]));
    const differing = [...expected].filter(([id, text]) => held.get(id) !== text).length;
    if (counted !== expected.size || held.size !== expected.size || differing > 0)
      failures.push(`the table has ${counted} rows, ${expected.size} are acknowledged, ${differing} differ`);
    const settled = samples.filter(({ x }) => minutes <= 2 || x > 1);
    lines.push(
      `${minutes} minutes of ${writersCount} writers and ${readersCount} readers: ${committed()} writes committed (${writers.reduce((sum, { retries }) => sum + retries, 0)} sent again after a conflict or a limit, median ${median(writers.flatMap(({ latencies }) => latencies)).toFixed(0)} ms), ${answers} reads. The table has ${counted} rows; ${expected.size} are acknowledged, ${differing} differ.`,
      figureTable(["minute", "writes", "reads", "main MiB", "all MiB"], rows),
      figureTable(
        ["memory, slope after the first minute", "each minute"],
        [
          ["main process, resident", growthOf(settled, "mainBytes")],
          ["main process and workers, resident", growthOf(settled, "allBytes")],
        ],
      ),
    );

    const batch = encode(makeRows(128, rowsIn(128, 64 * megabyte)));
    const large: Sample[] = [];
    let sent = 0;
    say(`${gigabytes} GB in batches of 64 MB …`);
    await write(server, "large", "create", encode(makeRows(128, 1)));
    while (sent < gigabytes * gigabyte) {
      await write(server, "large", "insert?mode=overwrite", batch);
      sent += batch.byteLength;
      large.push({ x: sent / gigabyte, ...memoryOf(pid) });
      // The files of old versions stay until then.
      if (large.length % 32 === 0) {
        await write(server, "large", "drop", "{}");
        await write(server, "large", "create", encode(makeRows(128, 1)));
      }
    }
    const later = large.filter(({ x }) => x > 1);
    const row = (title: string, of: keyof Memory): string[] => [
      title,
      ...[later[0]?.[of] ?? 0, later.at(-1)?.[of] ?? 0, Math.max(...large.map((one) => one[of]))].map(mebibytes),
      growthOf(later, of),
    ];
    lines.push(
      figureTable(
        [
          `${(sent / gigabyte).toFixed(1)} GB inserted in batches of 64 MB`,
          "first GB, MiB",
          "last, MiB",
          "most, MiB",
          "slope after the first GB, each GB",
        ],
        [row("main process, resident", "mainBytes"), row("main process and workers", "allBytes")],
      ),
    );
  } finally {
    connection.close();
    await server.stop();
  }
  return { lines, failures };
};
