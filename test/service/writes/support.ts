import { Field, FixedSizeList, Float32, Int64, Schema, Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import type { CallOptions } from "../../support/request.ts";

/** The columns of the test table `plain`. */
export const plainSchema = new Schema([
  new Field("id", new Int64(), true),
  new Field("text", new Utf8(), true),
  new Field("vector", new FixedSizeList(4, new Field("item", new Float32(), true)), true),
]);

export const plainRow = (id: number, text = `row ${id}`) => ({ id: BigInt(id), text, vector: [id, 0, 0, 1] });

/** An Arrow IPC stream with rows of the table `plain`. */
export const plainStream = (ids: readonly number[], text?: string): Uint8Array<ArrayBuffer> =>
  streamOf(
    ids.map((id) => plainRow(id, text)),
    plainSchema,
  );

export const streamOf = (rows: readonly Record<string, unknown>[], schema: Schema): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    tableToIPC(
      // Of vectors without values, the library forgets whether they may be null.
      rows.length === 0
        ? new Table(schema)
        : new Table(
            schema,
            Object.fromEntries(
              schema.fields.map(({ name, type }) => [
                name,
                vectorFromArray(
                  rows.map((row) => row[name] ?? null),
                  type,
                ),
              ]),
            ),
          ),
      "stream",
    ),
  );

/** Options of a call whose body is an Arrow IPC stream. */
export const asRows = (stream: Uint8Array<ArrayBuffer>, options: CallOptions = {}): CallOptions => ({
  ...options,
  rawBody: stream,
  headers: { "content-type": "application/vnd.apache.arrow.stream", ...options.headers },
});

/** Environment of a service that takes writes. Its worker processes may need long to start on a busy machine. */
export const writesOn = { LAKEHEAD_WRITES: "on", LAKEHEAD_QUEUE_SECONDS: "120" } as const;
