import type { Api, Description } from "../api.ts";
import { type Cell, numbersOf, textOf } from "../cell.ts";
import { type Rows, readRows } from "../rows.ts";
import type { VectorColumn } from "../schema.ts";
import type { Matrix } from "./pca.ts";

export const maxPoints = 5000;

/** Bytes of vectors in the browser, and in one response. */
const maxBytes = { all: 16 * 2 ** 20, response: 2 * 2 ** 20 } as const;

export interface Sample {
  readonly vectors: Matrix;
  /** `_rowid` of each point. */
  readonly ids: readonly string[];
  /** Values of the column of the colours; empty without one. */
  readonly cells: readonly Cell[];
  /** Rows that were read but have no vector of finite numbers. */
  readonly without: number;
  /** Undefined if the credentials do not permit to count. */
  readonly total: number | undefined;
}

export const rowOf = (rows: Rows, name: string, row: number): Cell => {
  const at = rows.columns.findIndex((column) => column.name === name);
  return at === -1 ? { kind: "null", text: "null" } : rows.cell(row, at);
};

/** Offsets and lengths of the responses: the table from its start, or parts of it that are spread over all rows. */
export const partsOf = (
  total: number | undefined,
  dimensions: number,
): readonly { readonly offset: number; readonly k: number }[] => {
  const points = Math.min(maxPoints, total ?? maxPoints, Math.max(1, Math.floor(maxBytes.all / (4 * dimensions))));
  const size = Math.max(1, Math.min(500, Math.floor(maxBytes.response / (4 * dimensions))));
  const count = Math.ceil(points / size);
  const stride = total === undefined || total <= points ? size : Math.floor(total / count);
  return Array.from({ length: count }, (_, at) => ({ offset: at * stride, k: Math.min(size, points - at * size) }));
};

/** Reads vectors of a table, all of one version, two responses at a time. */
export const readSample = async (
  api: Api,
  table: string,
  { version }: Description,
  { name, dimensions }: VectorColumn,
  color: string,
  total: number | undefined,
  signal: AbortSignal,
): Promise<Sample> => {
  const columns = [...new Set([name, ...(color === "" ? [] : [color])])];
  const parts = partsOf(total, dimensions);
  const read: Rows[] = new Array(parts.length);
  const waiting = [...parts.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, part] = next;
      read[at] = await readRows(await api.rows(table, { ...part, version, columns, with_row_id: true }, signal));
    }
  };
  await Promise.all([work(), work()]);
  const numbers: number[][] = [];
  const ids: string[] = [];
  const cells: Cell[] = [];
  let without = 0;
  for (const rows of read)
    for (let row = 0; row < rows.length; row++) {
      const vector = numbersOf(rowOf(rows, name, row));
      if (vector === undefined || !vector.every(Number.isFinite)) {
        without++;
        continue;
      }
      numbers.push([...vector]);
      ids.push(textOf(rowOf(rows, "_rowid", row)));
      if (color !== "") cells.push(rowOf(rows, color, row));
    }
  const values = new Float32Array(numbers.length * dimensions);
  for (const [at, vector] of numbers.entries()) values.set(vector, at * dimensions);
  return { vectors: { values, dimensions }, ids, cells, without, total };
};
