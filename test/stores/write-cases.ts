import type { Connection } from "@lancedb/lancedb";
import { expect } from "vitest";
import { classify } from "../../service/lance/errors/classify.ts";
import { asRows, plainStream } from "../service/writes/support.ts";
import type { Answer } from "../support/request.ts";
import type { ServiceProcess } from "../support/service-process.ts";

/** One write, and what it needs. */
export interface Write {
  readonly operation: string;
  readonly body?: object;
  readonly rows?: readonly number[];
  readonly query?: string;
  /** Whether it creates its table. */
  readonly creates?: true;
}

export const writes: readonly Write[] = [
  { operation: "create", rows: [1, 2, 3], creates: true },
  { operation: "insert", rows: [10, 11, 12] },
  {
    operation: "merge_insert",
    rows: [2, 20],
    query: "?on=id&when_matched_update_all=true&when_not_matched_insert_all=true",
  },
  { operation: "update", body: { predicate: "id > 1", updates: [["text", "'updated'"]] } },
  { operation: "delete", body: { predicate: "id = 2" } },
  { operation: "add_columns", body: { new_columns: [{ name: "twice", expression: "id * 2" }] } },
  { operation: "create_index", body: { column: "id", index_type: "BTREE" } },
  { operation: "restore", body: { version: 1 } },
];

const initial = [1, 2, 3];

export const send = (
  service: ServiceProcess,
  table: string,
  { operation, body, rows, query = "" }: Write,
): Promise<Answer> =>
  service.call(operation, table, body, rows === undefined ? {} : asRows(plainStream(rows), { query }));

/** Creates the table that a write changes. */
export const prepareTable = async (
  service: ServiceProcess,
  name: string,
  { operation, creates }: Write,
): Promise<void> => {
  if (creates === true) return;
  expect((await send(service, name, { operation: "create", rows: initial })).status).toBe(200);
  if (operation === "restore")
    expect((await send(service, name, { operation: "delete", body: { predicate: "id = 1" } })).status).toBe(200);
};

/** All that a reader sees of a table: rows, columns and indices; "absent" if there is none. */
export const contentOf = async (connection: Connection, name: string): Promise<string> => {
  const table = await connection.openTable(name).catch((error: unknown) => {
    if (classify(error).code === 4) return undefined;
    throw error;
  });
  if (table === undefined) return "absent";
  const rows = (await table.query().toArray()).map((row) =>
    JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value)),
  );
  const indices = (await table.listIndices()).map((index) => index.name);
  table.close();
  return JSON.stringify({ rows: rows.sort(), indices });
};

/** The statuses after which a write may have been committed or not; `undefined` without a response. */
export const isOpen = (status: number | undefined): boolean => status === undefined || status === 424;
