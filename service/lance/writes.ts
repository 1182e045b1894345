import type { Connection, Table } from "@lancedb/lancedb";
import { ServiceError } from "../errors.ts";
import type { TableId } from "../guard/table-id.ts";
import { outlineOf, readStreamFile, type Stream, toArrowFile } from "./arrow-stream.ts";
import { classify, classifyAccess, isGone } from "./classify.ts";
import { classifyWrite, outcomeUnknown } from "./classify-write.ts";
import type { LazyConnection } from "./connection.ts";
import { openDecodeCheck } from "./decode-check.ts";
import { buildIndex } from "./index-types.ts";
import { describeNamespace } from "./lists.ts";
import { inLanceWords } from "./schema.ts";
import type { Commit, CommitOfRows, CreateMode, RowCounts, RowData, WriteCalls, WriteTarget } from "./write-calls.ts";

/** Native calls that take Arrow data as it was sent. The SDK's own methods decode it and encode it again. */
interface NativeConnection {
  createTable(
    name: string,
    file: Buffer,
    mode: string,
    namespace: string[],
    storageOptions: Record<string, string>,
  ): Promise<{ version(): Promise<number> }>;
}

interface NativeMerge {
  whenMatchedUpdateAll(condition?: string): NativeMerge;
  whenNotMatchedInsertAll(): NativeMerge;
  whenNotMatchedBySourceDelete(filter?: string): NativeMerge;
  useIndex(use: boolean): NativeMerge;
  execute(file: Buffer): Promise<{
    readonly version: number;
    readonly numInsertedRows: number;
    readonly numUpdatedRows: number;
    readonly numDeletedRows: number;
    readonly numAttempts: number;
  }>;
}

interface NativeTable {
  add(file: Buffer, mode: string): Promise<{ readonly version: number }>;
  mergeInsert(on: string[]): NativeMerge;
  alterColumns(
    alterations: { path: string; rename?: string; nullable?: boolean; dataType?: string }[],
  ): Promise<{ readonly version: number }>;
}

const nativeOf = <T>(wrapper: Connection | Table): T => (wrapper as unknown as { readonly inner: T }).inner;

/** The version of a new table. */
const firstVersion = 1;

/** Whether another writer was faster. */
const isLost = ({ code }: ServiceError): boolean => code === 2 || code === 5 || code === 14;

const rowsOf = ({ outline }: Stream): RowCounts => ({ ...noRows, inserted: outline.rows });

const isPanic = (error: unknown): boolean => error instanceof Error && error.message.startsWith("Panic in ");

const noRows: RowCounts = { inserted: 0, updated: 0, deleted: 0 };

export interface WriteLimits {
  /** Maximum bytes of the values of one write when decompressed. */
  readonly maxWriteBytes: number;
}

/** @throws ServiceError code 13 for a malformed stream, 413 for one that is too large when decompressed. */
const readStream = (data: RowData, { maxWriteBytes }: WriteLimits): Stream => {
  const bytes = data.kind === "bytes" ? data.bytes : readStreamFile(data.path);
  const outline = outlineOf(bytes);
  if (outline.decodedBytes > maxWriteBytes)
    throw new ServiceError(13, {
      transport: "bodyTooLarge",
      message: `the rows have more than ${maxWriteBytes} bytes when decompressed: send them in several requests, or ask the operator to raise LAKEHEAD_MAX_WRITE_BYTES`,
    });
  return { bytes, outline, hasRoom: data.kind === "file" };
};

/**
 * Writes with handles of their own: a cached handle may be older than the table, for instance if the table was dropped and
 * created again, and would then commit to a table that no longer exists.
 * @param beforeCommit is awaited before each call that may commit. Until then, the tables are as they were.
 */
export const openWrites = (
  connection: LazyConnection,
  limits: WriteLimits,
  beforeCommit: () => Promise<void> = async () => undefined,
): WriteCalls => {
  const checkDecoding = openDecodeCheck();

  const connected = async (): Promise<Connection> => {
    try {
      return await connection.get();
    } catch (error) {
      throw classifyAccess(error, 18);
    }
  };

  /** @throws ServiceError code 1 if the namespace of a table does not exist. */
  const requireNamespace = async ({ namespace }: TableId): Promise<void> => {
    if (namespace.length > 0) await describeNamespace(await connected(), namespace);
  };

  const open = async ({ table, branch }: WriteTarget): Promise<Table> => {
    try {
      const main = await connection.openTable(table.name, table.namespace);
      return branch === undefined ? main : await (await main.branches()).checkout(branch);
    } catch (error) {
      const failure = classify(error, branch === undefined ? 4 : 22);
      if (failure.code === 4) await requireNamespace(table);
      throw failure;
    }
  };

  /** Commits to a handle. Only errors of `write` itself may have an unknown outcome. */
  const commit = async <T extends object>(
    target: WriteTarget,
    write: (table: Table) => Promise<T>,
  ): Promise<T & { readonly before: number; readonly version: number }> => {
    const table = await open(target);
    try {
      const before = await table.version();
      await beforeCommit();
      const result = await write(table).catch((error: unknown) => {
        throw classifyWrite(error);
      });
      // Some calls return no version.
      const version = "version" in result ? (result.version as number) : await table.version();
      return { ...result, before, version };
    } finally {
      table.close();
    }
  };

  const plain = async (target: WriteTarget, write: (table: Table) => Promise<unknown>): Promise<Commit> =>
    commit(target, async (table) => {
      const result = await write(table);
      return typeof result === "object" && result !== null && "version" in result
        ? { version: result.version as number }
        : {};
    });

  const existing = async (table: TableId): Promise<CommitOfRows | undefined> => {
    try {
      const handle = await open({ table });
      const version = await handle.version();
      handle.close();
      return { before: version, version, rows: noRows };
    } catch (error) {
      if (error instanceof ServiceError && error.code === 4) return undefined;
      throw error;
    }
  };

  const hasIndex = async (target: WriteTarget, name: string): Promise<boolean> => {
    const table = await open(target);
    try {
      return (await table.listIndices()).some((index) => index.name === name);
    } finally {
      table.close();
    }
  };

  /** The outcome for a table that exists. @throws ServiceError code 5. */
  const keep = (found: CommitOfRows, mode: CreateMode): CommitOfRows => {
    if (mode === "create") throw new ServiceError(5);
    return found;
  };

  const write = async (
    to: Connection,
    { name, namespace }: TableId,
    file: Buffer,
    mode: "create" | "overwrite",
  ): Promise<Partial<CommitOfRows> & { version: number; rows: RowCounts }> => {
    await beforeCommit();
    const table = await nativeOf<NativeConnection>(to).createTable(
      name,
      file,
      mode,
      [...namespace],
      connection.storageOptions,
    );
    return { version: await table.version(), rows: noRows };
  };

  const restore = (target: WriteTarget, version: number): Promise<Commit> =>
    plain(target, async (table) => {
      try {
        await table.checkout(version);
      } catch (error) {
        throw classify(error, 11);
      }
      await table.restore();
    });

  return {
    async createTable(table, data, mode) {
      const stream = readStream(data, limits);
      const file = toArrowFile([stream]);
      await checkDecoding(file);
      const found = await existing(table);
      if (found !== undefined && mode !== "overwrite") return keep(found, mode);
      // The SDK creates the table also in a namespace that does not exist.
      await requireNamespace(table);
      const to = await connected();
      const created = await write(to, table, file, mode === "overwrite" ? mode : "create").catch(async (error) => {
        const failure = classifyWrite(error);
        const other = isLost(failure) && mode !== "overwrite" ? await existing(table) : undefined;
        if (other === undefined) throw failure;
        return other;
      });
      if (created.before !== undefined) return keep(created, mode);
      const { version } = created;
      if (mode === "overwrite") return { ...(found && { before: found.version }), version, rows: rowsOf(stream) };
      if (version === firstVersion) return { version, rows: rowsOf(stream) };
      // Of concurrent creations, the SDK commits several, and each replaces the rows of the one before it.
      const restored = await restore({ table }, version - 1);
      return keep({ before: version, version: restored.version, rows: noRows }, mode);
    },
    async insertRows(target, data, mode) {
      const streams = data.map((each) => readStream(each, limits)) as [Stream, ...Stream[]];
      const inserted = streams.reduce((total, { outline }) => total + outline.rows, 0);
      const file = toArrowFile(streams);
      // A small body may decompress to more than it says, and more than the process has.
      if (streams.some(({ outline }) => outline.isCompressed)) await checkDecoding(file);
      return commit(target, async (table) => {
        try {
          const { version } = await nativeOf<NativeTable>(table).add(file, mode);
          return { version, rows: { ...noRows, inserted } };
        } catch (error) {
          // The call decodes all rows before it writes any. A panic has no text that tells one from the other.
          if (isPanic(error)) await checkDecoding(file);
          throw error;
        }
      });
    },
    async mergeRows(target, data, clauses) {
      const file = toArrowFile([readStream(data, limits)]);
      await checkDecoding(file);
      return commit(target, async (table) => {
        let merge = nativeOf<NativeTable>(table).mergeInsert([...clauses.on]);
        if (clauses.updateMatched) merge = merge.whenMatchedUpdateAll(clauses.updateMatchedIf);
        if (clauses.insertNotMatched) merge = merge.whenNotMatchedInsertAll();
        if (clauses.deleteNotMatchedBySource)
          merge = merge.whenNotMatchedBySourceDelete(clauses.deleteNotMatchedBySourceIf);
        if (!clauses.useIndex) merge = merge.useIndex(false);
        const merged = await merge.execute(file);
        return {
          version: merged.version,
          attempts: merged.numAttempts,
          rows: {
            inserted: merged.numInsertedRows,
            updated: merged.numUpdatedRows,
            deleted: merged.numDeletedRows,
          },
        };
      });
    },
    updateRows: (target, predicate, updates) =>
      commit(target, async (table) => {
        const { rowsUpdated, version } = await table.update({
          valuesSql: Object.fromEntries(updates),
          ...(predicate === undefined ? {} : { where: predicate }),
        });
        return { version, rows: { ...noRows, updated: rowsUpdated } };
      }),
    deleteRows: (target, predicate) =>
      commit(target, async (table) => {
        const { numDeletedRows, version } = await table.delete(predicate);
        return { version, rows: { ...noRows, deleted: numDeletedRows } };
      }),
    addColumns: (target, columns) =>
      plain(target, (table) => table.addColumns(columns.map(([name, valueSql]) => ({ name, valueSql })))),
    alterColumns: (target, alterations) =>
      plain(target, (table) =>
        nativeOf<NativeTable>(table).alterColumns(
          alterations.map(({ path, rename, nullable, dataType }) => ({
            path,
            ...(rename === undefined ? {} : { rename }),
            ...(nullable === undefined ? {} : { nullable }),
            ...(dataType === undefined ? {} : { dataType: JSON.stringify(inLanceWords(dataType)) }),
          })),
        ),
      ),
    dropColumns: (target, columns) => plain(target, (table) => table.dropColumns([...columns])),
    updateFieldMetadata: (target, updates) =>
      plain(target, (table) =>
        table.updateFieldMetadata(
          updates.map(({ path, metadata, replace }) => ({ path, metadata: { ...metadata }, replace })),
        ),
      ),
    restoreVersion: restore,
    createIndex: (target, specification) =>
      plain(target, async (table) => {
        const { column, name } = specification;
        const config = buildIndex(specification);
        try {
          await table.createIndex(column, { config, ...(name === undefined ? {} : { name }) });
        } catch (error) {
          // When the store's response is lost, the SDK mistakes its own commit for that of another writer.
          const isConflict = classifyWrite(error).code === 14;
          if (isConflict && (await hasIndex(target, name ?? `${column}_idx`))) throw outcomeUnknown(error);
          throw error;
        }
      }),
    dropIndex: (target, name) =>
      plain(target, async (table) => {
        if (!(await table.listIndices()).some((index) => index.name === name)) throw new ServiceError(6);
        await table.dropIndex(name);
      }),
    async dropTable(table) {
      const to = await connected();
      // An object store deletes what is not there without an error. A table that cannot be opened is dropped all the same.
      const isMissing = await existing(table).then(
        (found) => found === undefined,
        (error: unknown) => {
          if (error instanceof ServiceError && error.code === 1) throw error;
          return false;
        },
      );
      if (isMissing) {
        await requireNamespace(table);
        throw new ServiceError(4);
      }
      const drop = async (): Promise<ServiceError | undefined> => {
        try {
          await to.dropTable(table.name, [...table.namespace]);
          return undefined;
        } catch (error) {
          const failure = classifyWrite(error);
          if (failure.code === 4) return failure;
          throw failure;
        }
      };
      await beforeCommit();
      const failure = await drop();
      if (failure === undefined) return;
      // The response to a deletion was lost, and its next attempt found no object: then the SDK deletes no other. Or another
      // writer has dropped the table at the same time.
      const isAbsent = await existing(table).then(
        (found) => found === undefined,
        () => false,
      );
      if (!isAbsent) throw outcomeUnknown(failure);
      await drop();
    },
    // The SDK ignores the modes.
    async createNamespace({ parts }, mode, properties) {
      const to = await connected();
      await beforeCommit();
      try {
        const created = await to.createNamespace([...parts], { mode: "create", properties: { ...properties } });
        return created.properties ?? {};
      } catch (error) {
        const failure = classifyWrite(error);
        if (!isLost(failure)) throw failure;
        const properties = await describeNamespace(to, parts);
        if (mode === "exist_ok") return properties;
        throw new ServiceError(2, { cause: error });
      }
    },
    async dropNamespace({ parts }, mustExist) {
      const to = await connected();
      await beforeCommit();
      try {
        await to.dropNamespace([...parts]);
      } catch (error) {
        const failure = classifyWrite(error);
        if (failure.code !== 1 || mustExist) throw failure;
      }
    },
    async createBranch(table, name, { branch, version }) {
      const handle = await open({ table });
      try {
        const branches = await handle.branches();
        // The SDK fails with an internal error for a branch that exists.
        const existing = await branches.list();
        if (Object.hasOwn(existing, name)) throw new ServiceError(23);
        if (branch !== undefined && !Object.hasOwn(existing, branch)) throw new ServiceError(22);
        await beforeCommit();
        await branches.create(name, branch, version);
      } catch (error) {
        throw isGone(error) ? new ServiceError(11, { cause: error }) : classifyWrite(error);
      }
    },
    async deleteBranch(table, name) {
      const handle = await open({ table });
      try {
        const branches = await handle.branches();
        await beforeCommit();
        await branches.delete(name);
      } catch (error) {
        throw classifyWrite(error);
      }
    },
  };
};
