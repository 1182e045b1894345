import { join } from "node:path";
import { type Connection, connect, Index } from "@lancedb/lancedb";
import { median } from "../measure.ts";
import { figureTable, say } from "../report.ts";
import { type Server, startServer } from "../servers.ts";
import { encode, makeRows, openBare, secondsOf, write } from "./rows.ts";

const partitions = 64;

/** Each takes so long to build that the request is a small part of it. */
const indices = [
  {
    title: "IVF_PQ of 100,000 vectors of 128 dimensions",
    table: { name: "vectors", dimensions: 128, rows: 100_000 },
    body: { column: "vector", index_type: "IVF_PQ", num_partitions: partitions, num_sub_vectors: 16 },
    times: 1,
    config: () => Index.ivfPq({ numPartitions: partitions, numSubVectors: 16 }),
  },
  {
    title: "B-tree of 3,000,000 ids",
    table: { name: "ids", dimensions: 1, rows: 3_000_000 },
    body: { column: "id", index_type: "BTREE" },
    times: 4,
    config: () => Index.btree(),
  },
] as const;

/** Building an index through the service against the SDK's own call, each on its own copy of the rows. */
export const indexTable = async (home: string, rounds: number): Promise<string> => {
  const connection: Connection = await connect(join(home, "bare-indices"));
  const server: Server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: join(home, "service-indices"),
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(8 * 2 ** 30),
    LAKEHEAD_LOG_LEVEL: "error",
  });
  try {
    const lines: string[][] = [];
    for (const { title, table, body, times, config } of indices) {
      const data = encode(makeRows(table.dimensions, table.rows));
      await write(server, table.name, "create", data);
      await connection.createTable(table.name, makeRows(table.dimensions, 1));
      const bare = await openBare(connection, table.name);
      await bare.add(data);
      const ours: number[] = [];
      const theirs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const build = () => write(server, table.name, "create_index", JSON.stringify(body));
        ours.push((await secondsOf(1, times, build)) / times);
        theirs.push(
          (await secondsOf(1, times, () => bare.table.createIndex(body.column, { config: config() }))) / times,
        );
      }
      const ratios = ours.map((seconds, round) => seconds / (theirs[round] ?? Number.NaN));
      say(`${title}: ${median(ratios).toFixed(2)}`);
      const [least, greatest] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
      lines.push([
        title,
        median(ours).toFixed(2),
        median(theirs).toFixed(2),
        `${median(ratios).toFixed(2)} [${least}–${greatest}]`,
      ]);
      bare.close();
    }
    return figureTable(["index", "service, s", "SDK, s", "service/SDK, time"], lines);
  } finally {
    await server.stop();
    connection.close();
  }
};
