import { Agent, request } from "node:http";
import type { Connection, Table as LanceTable } from "@lancedb/lancedb";
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
import { outlineOf, toArrowFile } from "../../service/lance/arrow/stream.ts";
import { closedLoop } from "../measure.ts";
import { type Server, token } from "../servers.ts";

export const megabyte = 1_000_000;

export const schemaOf = (dimensions: number): Schema =>
  new Schema([
    new Field("id", new Int64(), true),
    new Field("vector", new FixedSizeList(dimensions, new Field("item", new Float32(), true)), true),
  ]);

export const rowsIn = (dimensions: number, bytes: number): number =>
  Math.max(1, Math.round(bytes / (4 * dimensions + 8)));

/** Random vectors with ids from `first`. */
export const makeRows = (dimensions: number, rows: number, first = 0): Table => {
  const values = Float32Array.from({ length: rows * dimensions }, () => Math.random());
  const schema = schemaOf(dimensions);
  const [, { type: list }] = schema.fields as [Field, Field<FixedSizeList<Float32>>];
  const ids = BigInt64Array.from({ length: rows }, (_, id) => BigInt(first + id));
  const children = [
    makeData({ type: new Int64(), data: ids }),
    makeData({ type: list, length: rows, child: makeData({ type: new Float32(), data: values }) }),
  ];
  const type = new Struct(schema.fields);
  return new Table([new RecordBatch(schema, makeData({ type, length: rows, children }))]);
};

export const encode = (rows: Table): Uint8Array => tableToIPC(rows, "stream");

const agent = new Agent({ keepAlive: true });

export const closeConnections = (): void => agent.destroy();

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Sends a body to an operation on a table: Arrow data, or JSON as a string. */
export const post = (
  port: number,
  table: string,
  operation: string,
  body: Uint8Array | string,
  as: string = token,
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const isJson = typeof body === "string";
    const headers = {
      authorization: `Bearer ${as}`,
      "content-type": isJson ? "application/json" : "application/vnd.apache.arrow.stream",
      "content-length": Buffer.byteLength(body),
    };
    const path = `/v1/table/${table}/${operation}`;
    const sent = request({ agent, port, host: "127.0.0.1", method: "POST", path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** @throws Error for any status but 200. */
export const write = async (
  { port }: Pick<Server, "port">,
  table: string,
  operation: string,
  body: Uint8Array | string,
): Promise<void> => {
  const { status, text } = await post(port, table, operation, body);
  if (status !== 200) throw new Error(`${operation}: ${status} ${text}`);
};

interface NativeTable {
  add(file: Buffer, mode: string): Promise<{ readonly version: number }>;
}

/** A table of the bare SDK, and the native call that its own `add` ends in. */
export interface Bare {
  readonly table: LanceTable;
  add(stream: Uint8Array): Promise<unknown>;
  close(): void;
}

export const openBare = async (connection: Connection, name: string): Promise<Bare> => {
  const table = await connection.openTable(name);
  const { inner } = table as unknown as { readonly inner: NativeTable };
  return {
    table,
    add: (bytes) => inner.add(toArrowFile([{ bytes, outline: outlineOf(bytes) }]), "append"),
    close: () => table.close(),
  };
};

/** Seconds of `count` calls, `concurrency` at once. */
export const secondsOf = async (concurrency: number, requests: number, call: () => Promise<unknown>): Promise<number> =>
  (await closedLoop({ concurrency, requests }, call)).seconds;
