import type { DataType, Table } from "apache-arrow";

/** A file's column of texts and values, to be given a type. */
export interface RawColumn {
  readonly name: string;
  readonly values: readonly unknown[];
  /** The types that its values can have, the best first. */
  readonly types: readonly DataType[];
}

/** The rows of a file: as Arrow has them, or as values without a fixed type. */
export type Source =
  | { readonly kind: "arrow"; readonly table: Table }
  | { readonly kind: "values"; readonly length: number; readonly columns: readonly RawColumn[] };
