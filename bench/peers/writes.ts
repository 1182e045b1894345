import { encode, makeRows, megabyte, post, rowsIn } from "../ingest/rows.ts";
import { median } from "../measure.ts";
import { figureTable, say } from "../report.ts";

const dimensions = 128;
const row = encode(makeRows(dimensions, 1));
const hundred = encode(makeRows(dimensions, 100));
const batch = encode(makeRows(dimensions, rowsIn(dimensions, megabyte)));
const upsert = "merge_insert?on=id&when_matched_update_all=true&when_not_matched_insert_all=true";

/** A write in the form that both servers accept. */
interface Write {
  readonly name: string;
  readonly operation: string;
  readonly body: Uint8Array | string;
  /** Writes of a round; of one caller of an object store, whose writes take far longer, an eighth. */
  readonly count: number;
  /** Each creates a table of its own. */
  readonly creates?: true;
}

const writes: readonly Write[] = [
  { name: "create_table, one row", operation: "create", body: row, count: 48, creates: true },
  { name: "insert, one row", operation: "insert", body: row, count: 96 },
  { name: "insert, 1 MB", operation: "insert", body: batch, count: 48 },
  { name: "merge_insert, 100 rows", operation: upsert, body: hundred, count: 24 },
  {
    name: "update, one row",
    operation: "update",
    body: JSON.stringify({ predicate: "id = 1", updates: [["id", "1"]] }),
    count: 32,
  },
  { name: "delete, no row", operation: "delete", body: JSON.stringify({ predicate: "id = -1" }), count: 48 },
];

interface Round {
  readonly perSecond: number;
  readonly failed: number;
}

/** Creates a table that has been written to so many times before. */
const prepare = async (port: number, table: string, versions: number): Promise<void> => {
  for (let version = 0; version <= versions; version++) {
    const { status, text } = await post(port, table, version === 0 ? "create" : "insert", hundred);
    if (status >= 300) throw new Error(`${table}: ${status} ${text}`);
  }
};

/** Committed writes of a round on a table of its own. */
const roundOf = async (
  port: number,
  table: string,
  write: Write,
  { callers, versions, directory }: WriteOptions & { readonly callers: number },
): Promise<Round> => {
  if (write.creates !== true) await prepare(port, table, versions);
  const count = !directory && callers === 1 ? write.count / 8 : write.count;
  let next = 0;
  let done = 0;
  const begin = performance.now();
  const caller = async (): Promise<void> => {
    for (let turn = next++; turn < count; turn = next++) {
      const to = write.creates === true ? `${table}-${turn}` : table;
      const { status } = await post(port, to, write.operation, write.body);
      if (status < 300) done++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const seconds = (performance.now() - begin) / 1000;
  return { perSecond: done / seconds, failed: count - done };
};

export interface WriteOptions {
  readonly rounds: number;
  readonly concurrency: readonly number[];
  /** Inserts into each table before it is measured. */
  readonly versions: number;
  /** Whether the tables are in directories, and not in object stores. */
  readonly directory: boolean;
}

/** The service's writes against the peer's, each with tables of its own, in alternating rounds. */
export const writeTable = async (
  ports: { readonly service: number; readonly peer: number },
  options: WriteOptions,
): Promise<string> => {
  const lines: string[][] = [];
  for (const [index, write] of writes.entries())
    for (const callers of options.concurrency) {
      say(`${write.name} at ${callers} …`);
      const service: Round[] = [];
      const peer: Round[] = [];
      // The first turn only warms up.
      for (let turn = -1; turn < options.rounds; turn++) {
        const table = `w${index}-${callers}-${turn + 1}`;
        const ours = await roundOf(ports.service, table, write, { ...options, callers });
        const theirs = await roundOf(ports.peer, table, write, { ...options, callers });
        if (turn < 0) continue;
        service.push(ours);
        peer.push(theirs);
      }
      const rate = (of: readonly Round[]): string => median(of.map(({ perSecond }) => perSecond)).toFixed(0);
      const failed = (of: readonly Round[]): string => String(of.reduce((sum, round) => sum + round.failed, 0));
      const ratios = service.map(({ perSecond }, turn) => perSecond / (peer[turn]?.perSecond ?? Number.NaN));
      const figures = [rate(service), rate(peer), median(ratios).toFixed(2), failed(service), failed(peer)];
      lines.push([write.name, String(callers), ...figures]);
    }
  const titles = ["write", "concurrent", "committed/s", "peer", "ratio", "failed", "peer"];
  return figureTable(titles, lines);
};
