import type { VerifiedExpression } from "../../guard/expression/index.ts";
import type { NamespaceId, TableId } from "../../guard/table-id.ts";
import type { IndexSpecification } from "./index-types.ts";

/** What a write changes. */
export interface WriteTarget {
  readonly table: TableId;
  /** Absent for main. */
  readonly branch?: string | undefined;
}

/** Rows that a caller sent, as an Arrow IPC stream: few in memory, many in a file that only this service reads. */
export type RowData =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly path: string; readonly size: number };

/** The parts of an upload, which the store has. */
export interface StagedRows {
  readonly kind: "staged";
  readonly upload: string;
  readonly size: number;
}

/** A part of an upload, for {@link WriteCalls.stagePart}. */
export interface PartOfUpload {
  readonly upload: string;
  readonly part: string;
  readonly mode: InsertMode;
  /** Of the whole upload when decompressed. */
  readonly maxBytes: number;
}

/** A committed write. */
export interface Commit {
  /** The version that the write replaced; absent for a new table. */
  readonly before?: number;
  readonly version: number;
}

/** Rows that a write inserted, updated or deleted. */
export interface RowCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

export type CommitOfRows = Commit & { readonly rows: RowCounts };

/** `insertedBy`: rows of each of the inserted data. */
export type CommitOfInserts = CommitOfRows & { readonly insertedBy: readonly number[] };

export type RefreshedColumn = Commit & { readonly before: number; readonly rowsAssigned: number };

/** What a materialized view holds: columns, a filter and a limit of one table. */
export interface ViewDefinition {
  readonly source: TableId;
  /** Pairs of name and expression; undefined: all columns. */
  readonly select: readonly (readonly [name: string, value: VerifiedExpression])[] | undefined;
  readonly filter: VerifiedExpression | undefined;
  readonly limit: number | undefined;
}

/** A materialized view as its table's metadata has it. */
export interface StoredView {
  /** JSON of the SDK. */
  readonly definition: string;
  /** Another one for each view that ever had the name; empty: none. */
  readonly incarnation: string;
}

export type CreatedView = Commit & { readonly stored: StoredView };

export type RefreshedView = Commit & {
  readonly before: number;
  readonly mode: string;
  readonly rowsWritten: number;
  readonly sourceVersion: number;
};

export type CreateMode = "create" | "exist_ok" | "overwrite";
export type InsertMode = "append" | "overwrite";

/** A larger insert is a commit of its own. */
const maxSharedBytes = 4 * 2 ** 20;

/** Whether an insert may share its commit with others. */
export const mayShareCommit = (data: RowData, mode: InsertMode): boolean =>
  mode === "append" && (data.kind === "bytes" || data.size <= maxSharedBytes);

export interface MergeClauses {
  /** Columns that identify a row. */
  readonly on: readonly string[];
  readonly updateMatched: boolean;
  /** Updates only matched rows for which it is true. */
  readonly updateMatchedIf?: VerifiedExpression | undefined;
  readonly insertNotMatched: boolean;
  /** Deletes rows of the table that the new rows do not contain. */
  readonly deleteNotMatchedBySource: boolean;
  readonly deleteNotMatchedBySourceIf?: VerifiedExpression | undefined;
  readonly useIndex: boolean;
  /** Time after which the merge is given up, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

export interface ColumnAlteration {
  /** Path of the column. */
  readonly path: string;
  readonly rename?: string | undefined;
  readonly nullable?: boolean | undefined;
  /** A type in Lance's JSON notation, `{"type": "float"}`. */
  readonly dataType?: object | undefined;
}

export interface FieldMetadata {
  readonly path: string;
  /** A null deletes its key. */
  readonly metadata: Readonly<Record<string, string | null>>;
  readonly replace: boolean;
}

/**
 * Calls that change tables. Each is one commit: it happens completely or not at all. None of them can be cancelled. One
 * whose process ends while it runs has an unknown outcome.
 */
export interface WriteCalls {
  /** With rows, or with a schema alone. @throws ServiceError code 5 if the table exists and the mode is `create`. */
  createTable(table: TableId, data: RowData, mode: CreateMode): Promise<CommitOfRows>;
  /** @param data several are inserted in one commit. @throws ServiceError code 13 if they have different schemas. */
  insertRows(target: WriteTarget, data: readonly [RowData, ...RowData[]], mode: InsertMode): Promise<CommitOfInserts>;
  /** Inserts all parts of an upload in one commit. */
  insertStaged(target: WriteTarget, data: StagedRows, mode: InsertMode): Promise<CommitOfInserts>;
  /** Keeps rows for a later insert. The table is unchanged. @throws ServiceError 413 if the upload becomes too large. */
  stagePart(target: WriteTarget, part: PartOfUpload, data: RowData): Promise<void>;
  mergeRows(
    target: WriteTarget,
    data: RowData,
    clauses: MergeClauses,
  ): Promise<CommitOfRows & { readonly attempts: number }>;
  /** @param updates pairs of column and expression. */
  updateRows(
    target: WriteTarget,
    predicate: VerifiedExpression | undefined,
    updates: readonly (readonly [column: string, value: VerifiedExpression])[],
  ): Promise<CommitOfRows>;
  deleteRows(target: WriteTarget, predicate: VerifiedExpression): Promise<CommitOfRows>;
  /** @param columns pairs of name and expression. */
  addColumns(
    target: WriteTarget,
    columns: readonly (readonly [name: string, value: VerifiedExpression])[],
  ): Promise<Commit>;
  /** Columns that the table's metadata declares, without values before {@link refreshColumn}. */
  addComputedColumns(
    target: WriteTarget,
    columns: readonly (readonly [name: string, value: VerifiedExpression])[],
  ): Promise<Commit>;
  /**
   * Computes the rows of a computed column that have no value, and those whose inputs have changed.
   * @param expression what the column was declared with: the table may say something else by now.
   */
  refreshColumn(target: WriteTarget, column: string, expression: VerifiedExpression): Promise<RefreshedColumn>;
  /** Defines a materialized view without rows. @throws ServiceError code 5 if a table of the name exists, 19 if the source cannot have one. */
  createView(view: TableId, definition: ViewDefinition): Promise<CreatedView>;
  /**
   * Computes the rows of a materialized view from its source.
   * @param expected what was verified: the table may say something else by now.
   */
  refreshView(
    view: TableId,
    expected: StoredView,
    options: { readonly full: boolean; readonly sourceVersion?: number | undefined },
  ): Promise<RefreshedView>;
  /** The columns of a stream without rows, all null. @throws ServiceError code 13 for a stream with rows. */
  addEmptyColumns(target: WriteTarget, data: RowData): Promise<Commit>;
  alterColumns(target: WriteTarget, alterations: readonly ColumnAlteration[]): Promise<Commit>;
  dropColumns(target: WriteTarget, columns: readonly string[]): Promise<Commit>;
  updateFieldMetadata(target: WriteTarget, updates: readonly FieldMetadata[]): Promise<Commit>;
  /** Makes the content of an old version the newest version. */
  restoreVersion(target: WriteTarget, version: number): Promise<Commit>;
  /** @throws ServiceError code 7 if an index of the name exists and is not to be replaced. */
  createIndex(target: WriteTarget, index: IndexSpecification): Promise<Commit>;
  dropIndex(target: WriteTarget, name: string): Promise<Commit>;
  /** Takes a name and a directory for a table whose content follows. @throws ServiceError code 5 if the table exists. */
  declareTable(table: TableId): Promise<void>;
  dropTable(table: TableId): Promise<void>;
  /** @returns the properties of the namespace. */
  createNamespace(
    namespace: NamespaceId,
    mode: CreateMode,
    properties: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>>;
  /** @param existing whether a namespace that does not exist is an error. */
  dropNamespace(namespace: NamespaceId, existing: boolean): Promise<void>;
  /** @param from branch and version that it starts from; default: the newest version of main. */
  createBranch(
    table: TableId,
    name: string,
    from: { readonly branch?: string; readonly version?: number },
  ): Promise<void>;
  deleteBranch(table: TableId, name: string): Promise<void>;
}

/** Calls `forget` with the key of the table after each write, also after one that failed: it may have been committed. */
export const forgetAfter = (calls: WriteCalls, forget: (tableKey: string) => void): WriteCalls => {
  const after = (call: (...values: never[]) => Promise<unknown>) => {
    return async (first: WriteTarget | TableId | NamespaceId, ...rest: never[]): Promise<unknown> => {
      try {
        return await call(first as never, ...rest);
      } finally {
        forget("table" in first ? first.table.key : first.key);
      }
    };
  };
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, after(call)])) as unknown as WriteCalls;
};

/**
 * Runs creations and declarations of one table one after another: of concurrent ones, the SDK commits several, and each
 * replaces the rows of the one before it.
 */
export const createInTurn = (calls: WriteCalls): WriteCalls => {
  const last = new Map<string, Promise<unknown>>();
  const inTurn = async <T>({ key }: TableId, create: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve();
    const creation = before.then(create);
    const settled = creation.catch(() => undefined);
    last.set(key, settled);
    try {
      return await creation;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
  return {
    ...calls,
    createTable: (table, data, mode) => inTurn(table, () => calls.createTable(table, data, mode)),
    declareTable: (table) => inTurn(table, () => calls.declareTable(table)),
  };
};

/** All methods of {@link WriteCalls}. */
export const writeMethods = Object.keys({
  createTable: true,
  insertRows: true,
  insertStaged: true,
  stagePart: true,
  mergeRows: true,
  updateRows: true,
  deleteRows: true,
  addColumns: true,
  addComputedColumns: true,
  refreshColumn: true,
  createView: true,
  refreshView: true,
  addEmptyColumns: true,
  alterColumns: true,
  dropColumns: true,
  updateFieldMetadata: true,
  restoreVersion: true,
  createIndex: true,
  dropIndex: true,
  declareTable: true,
  dropTable: true,
  createNamespace: true,
  dropNamespace: true,
  createBranch: true,
  deleteBranch: true,
} satisfies Record<keyof WriteCalls, true>) as readonly (keyof WriteCalls)[];
