import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { median } from "../measure.ts";
import { family } from "../processes.ts";
import { figureTable, mebibytes, percent, say } from "../report.ts";
import { type Server, startServer } from "../servers.ts";
import { encode, makeRows, megabyte, openBare, rowsIn, schemaOf, secondsOf, write } from "./rows.ts";

const mainBytes = (server: Server): number => family(server.pid)[0]?.residentBytes ?? Number.NaN;
const spread = (ratios: readonly number[]): string =>
  `${percent(median(ratios))} [${percent(Math.min(...ratios))}–${percent(Math.max(...ratios))}]`;

export interface InsertOptions {
  readonly rounds: number;
  readonly megabytes: number;
  readonly together: number;
}

/**
 * Inserts of batches against the native call of the SDK on the same bytes. Another column has rows that are Arrow tables in
 * memory: then both sides encode them first.
 */
export const insertTable = async (home: string, { rounds, megabytes, together }: InsertOptions): Promise<string> => {
  const connection = await connect(join(home, "bare"));
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: join(home, "service"),
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(8 * 2 ** 30),
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const lines: string[][] = [];
  const measure = async (dimensions: number, size: number): Promise<void> => {
    const name = `d${dimensions}-${size}`;
    const rows = makeRows(dimensions, rowsIn(dimensions, size * megabyte));
    const bytes = encode(rows);
    const count = Math.max(together, Math.round(megabytes / size));
    await write(server, name, "create", encode(makeRows(dimensions, 1)));
    await connection.createEmptyTable(name, schemaOf(dimensions));
    const bare = await openBare(connection, name);
    const calls = {
      ours: () => write(server, name, "insert", bytes),
      theirs: () => bare.add(bytes),
      oursEncoded: () => write(server, name, "insert", encode(rows)),
      theirsEncoded: () => bare.table.add(rows),
    };
    for (const call of Object.values(calls)) await call();
    let peak = mainBytes(server);
    const watch = setInterval(() => {
      peak = Math.max(peak, mainBytes(server));
    }, 20);
    const [one, encoded, several, speeds]: number[][] = [[], [], [], []];
    for (let round = 0; round < rounds; round++) {
      const ours = await secondsOf(1, count, calls.ours);
      one?.push((await secondsOf(1, count, calls.theirs)) / ours);
      speeds?.push((count * bytes.byteLength) / megabyte / ours);
      const oursEncoded = await secondsOf(1, count, calls.oursEncoded);
      encoded?.push((await secondsOf(1, count, calls.theirsEncoded)) / oursEncoded);
      const oursTogether = await secondsOf(together, count, calls.ours);
      several?.push((await secondsOf(together, count, calls.theirs)) / oursTogether);
    }
    clearInterval(watch);
    bare.close();
    say(
      `${dimensions} dimensions, ${size} MB: ${[one, encoded, several].map((each) => spread(each ?? [])).join(", ")}`,
    );
    lines.push([
      `${dimensions} dimensions, batches of ${size} MB`,
      median(speeds ?? []).toFixed(0),
      ...[one, encoded, several].map((each) => spread(each ?? [])),
      mebibytes(peak),
    ]);
  };
  try {
    for (const dimensions of [128, 1536]) for (const size of [1, 64]) await measure(dimensions, size);
  } finally {
    await server.stop();
    connection.close();
  }
  return figureTable(
    [
      "insert",
      "MB/s",
      "service/SDK",
      "service/SDK, both encode",
      `service/SDK, ${together} callers`,
      "main process, peak MiB",
    ],
    lines,
  );
};
