/** Sends analyses or writes from many callers, as fast as they get responses. Arguments: port, token. */
import { encode, makeRows, megabyte, post, type Reply, rowsIn } from "../ingest/rows.ts";
import { serveTasks } from "../task-process.ts";
import { vectorOf } from "../workloads.ts";

const [port = "", token = ""] = process.argv.slice(2);

export const shared = { name: "searched", rows: 100_000, dimensions: 128 } as const;
export const written = "written";

export interface Flood {
  readonly kind: "analyses" | "writes";
  readonly callers: number;
  readonly seconds: number;
}

export interface Sent {
  readonly answered: number;
  /** Responses 429 and 503. */
  readonly refused: number;
  readonly wrong: readonly string[];
}

type Call = (turn: number) => Promise<Reply>;

const ask = (table: string, operation: string, body: Uint8Array | string): Promise<Reply> =>
  post(Number(port), table, operation, body, token);

const analyse: Call = (turn) =>
  ask(
    shared.name,
    "analyze_plan",
    JSON.stringify({ k: 10, vector: [...vectorOf(turn, shared.dimensions)], bypass_vector_index: true }),
  );

const row = encode(makeRows(shared.dimensions, 1));
const batch = encode(makeRows(shared.dimensions, rowsIn(shared.dimensions, megabyte)));

/** Half of the callers append single rows; the others send batches of a megabyte, updates and deletes. */
const writes: readonly Call[] = [
  () => ask(written, "insert", row),
  () => ask(written, "insert", batch),
  () => ask(written, "insert", row),
  (turn) =>
    turn % 2 === 0
      ? ask(written, "update", JSON.stringify({ predicate: "id = 0", updates: [["id", "0"]] }))
      : ask(written, "delete", JSON.stringify({ predicate: "id > 0" })),
];

serveTasks(async ({ kind, callers, seconds }: Flood): Promise<Sent> => {
  const end = performance.now() + seconds * 1000;
  let answered = 0;
  let refused = 0;
  const wrong: string[] = [];
  const run = async (caller: number): Promise<void> => {
    const call = kind === "analyses" ? analyse : (writes[caller % writes.length] ?? analyse);
    for (let turn = caller; performance.now() < end; turn++) {
      const { status, text } = await call(turn);
      if (status === 200) answered++;
      else if (status === 429 || status === 503 || status === 409) refused++;
      else wrong.push(`${kind}: ${status} ${text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => run(caller)));
  return { answered, refused, wrong };
});
