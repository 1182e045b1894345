import type { Connection, Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import type { TableId } from "../../guard/table-id.ts";
import type { LazyConnection } from "../connection/connection.ts";
import { classify, classifyAccess } from "../errors/classify.ts";
import { classifyWrite } from "../errors/classify-write.ts";
import { describeNamespace } from "../reads/lists.ts";
import type { Commit, CommitOfRows, RowCounts, WriteTarget } from "./write-calls.ts";

/** The native object behind one of the SDK, for calls that the SDK does not pass on. */
export const nativeOf = <T>(wrapper: Connection | Table): T => (wrapper as unknown as { readonly inner: T }).inner;

export const noRows: RowCounts = { inserted: 0, updated: 0, deleted: 0 };

/** Whether another writer was faster. */
export const isLost = ({ code }: ServiceError): boolean => code === 2 || code === 5 || code === 14;

/** What every write needs: handles, commits, and what is there already. */
export type Commits = ReturnType<typeof openCommits>;

/**
 * Writes with handles of their own: one that readers share may be older than the table, for instance if the table was dropped
 * and created again, and would then commit to a table that no longer exists.
 * @param beforeCommit is awaited before each call that may commit. Until then, the tables are as they were.
 */
export const openCommits = (connection: LazyConnection, beforeCommit: () => Promise<void>) => {
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

  /** Makes the content of an old version the newest version. */
  const restore = (target: WriteTarget, version: number): Promise<Commit> =>
    plain(target, async (table) => {
      try {
        await table.checkout(version);
      } catch (error) {
        throw classify(error, 11);
      }
      await table.restore();
    });

  return { connected, requireNamespace, open, commit, plain, existing, restore, beforeCommit };
};
