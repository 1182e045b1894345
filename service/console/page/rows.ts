import type { Table } from "apache-arrow";
import { type Cell, cellAt } from "./cell.ts";

/** The rows of a query. */
export interface Rows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly length: number;
  readonly cell: (row: number, column: number) => Cell;
}

export const rowsOf = (table: Table): Rows => {
  const starts: number[] = [];
  let length = 0;
  for (const { numRows } of table.batches) {
    starts.push(length);
    length += numRows;
  }
  return {
    columns: table.schema.fields.map(({ name, type }) => ({ name, type: String(type) })),
    length,
    cell(row, column) {
      const batch = starts.findLastIndex((start) => start <= row);
      const data = table.batches[batch]?.data.children[column];
      return data === undefined ? { kind: "null", text: "null" } : cellAt(data, row - (starts[batch] ?? 0));
    },
  };
};

/** Rows of a table from a place on. A table without rows has none to cut. */
export const partOf = (table: Table, from: number, count: number): Table =>
  from === 0 && count >= table.numRows ? table : table.slice(from, from + count);

/** @param file an Arrow IPC file. */
export const readRows = async (file: Uint8Array): Promise<Rows> => {
  const { tableFromIPC } = await import("apache-arrow");
  return rowsOf(tableFromIPC(file));
};
