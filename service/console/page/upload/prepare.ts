import { type DataType, Field, makeData, RecordBatch, Schema, Struct, Table } from "apache-arrow";
import { dataOf } from "./encode.ts";
import type { RawColumn, Source } from "./source.ts";
import { converterOf } from "./values.ts";

/** Why a value, or a column, does not fit. */
export interface Problem {
  /** Number of the row in the file, from 1; undefined for a column. */
  readonly row?: number;
  readonly column: string;
  readonly reason: string;
}

export interface Prepared {
  /** The columns of the file that are sent. */
  readonly fields: readonly Field[];
  /** The rows that fit; undefined if a column does not. */
  readonly table: Table | undefined;
  /** Columns that do not fit the table: nothing can be sent. */
  readonly columns: readonly Problem[];
  /** The first problems of values, and the number of rows that have one. */
  readonly values: readonly Problem[];
  readonly badRows: number;
  /** Columns of the table that the file lacks. */
  readonly missing: readonly string[];
}

const maxProblems = 10;

const tableOf = (fields: readonly Field[], columns: readonly (readonly unknown[])[], length: number): Table => {
  const schema = new Schema([...fields]);
  const children = fields.map(({ type }, at) => dataOf(type, columns[at] ?? []));
  const data = makeData({ type: new Struct(schema.fields), length, nullCount: 0, children });
  return new Table(schema, new RecordBatch(schema, data));
};

const convertColumn = (
  { name, values }: RawColumn,
  { type, nullable }: Field,
  report: (row: number, problem: Problem) => void,
): readonly unknown[] => {
  const convert = converterOf(type);
  return values.map((value, row) => {
    try {
      if (value !== null) return convert(value);
      if (!nullable) throw new Error("the column takes no null");
    } catch (error) {
      report(row, { row: row + 1, column: name, reason: (error as Error).message });
    }
    return null;
  });
};

/** The columns of the file that the table lacks, and those that it needs. */
const columnProblems = (given: readonly Field[], wanted: readonly Field[]): readonly Problem[] => [
  ...given
    .filter(({ name }) => !wanted.some((field) => field.name === name))
    .map(({ name }) => ({ column: name, reason: "the table has no such column" })),
  ...wanted
    .filter(({ name, nullable }) => !nullable && !given.some((field) => field.name === name))
    .map(({ name }) => ({ column: name, reason: "the file lacks this column, which takes no null" })),
];

/**
 * Brings the rows of a file into the form of a table.
 * @param target the columns of a table that exists; undefined for a new one.
 * @param chosen types of columns of a new table, by name.
 */
export const prepare = (
  source: Source,
  target: readonly Field[] | undefined,
  chosen: Readonly<Record<string, DataType>> = {},
): Prepared => {
  const given =
    source.kind === "arrow"
      ? source.table.schema.fields
      : source.columns.map(({ name, types: [type] }) => new Field(name, (chosen[name] ?? type) as DataType, true));
  const wanted = target ?? given;
  const missing = wanted.map(({ name }) => name).filter((name) => !given.some((field) => field.name === name));
  const columns = [...columnProblems(given, wanted)];
  const fields = given.flatMap(({ name }) => wanted.find((field) => field.name === name) ?? []);
  if (source.kind === "arrow") {
    for (const { name, type } of given) {
      const field = fields.find((each) => each.name === name);
      if (field !== undefined && String(field.type) !== String(type))
        columns.push({ column: name, reason: `${type} in the file, and ${field.type} in the table` });
    }
    return { fields, table: columns.length > 0 ? undefined : source.table, columns, values: [], badRows: 0, missing };
  }
  const values: Problem[] = [];
  const bad = new Set<number>();
  const converted: (readonly unknown[])[] = [];
  for (const field of fields) {
    const raw = source.columns.find(({ name }) => name === field.name);
    try {
      if (raw !== undefined)
        converted.push(
          convertColumn(raw, field, (row, problem) => {
            bad.add(row);
            if (values.length < maxProblems) values.push(problem);
          }),
        );
    } catch (error) {
      columns.push({ column: field.name, reason: (error as Error).message });
      converted.push([]);
    }
  }
  const isGood = (_: unknown, row: number): boolean => !bad.has(row);
  const good = bad.size === 0 ? converted : converted.map((column) => column.filter(isGood));
  const table = columns.length > 0 ? undefined : tableOf(fields, good, source.length - bad.size);
  return { fields, table, columns, values, badRows: bad.size, missing };
};
