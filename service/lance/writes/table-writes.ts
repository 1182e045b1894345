import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import { isEngineKey } from "../../guard/engine-keys.ts";
import { type ArrowField, kinds } from "../arrow/schema.ts";
import {
  faultOfSchema,
  faultOfValues,
  readSizes,
  refuse,
  type SchemaLimits,
  valueBytesOf,
} from "../arrow/schema-sizes.ts";
import { isGone } from "../errors/classify.ts";
import { classifyWrite, outcomeUnknown } from "../errors/classify-write.ts";
import { describeNamespace, listTables } from "../reads/lists.ts";
import { inLanceWords, readTableSchema } from "../reads/schema.ts";
import { refuseAlterations, refuseRemovals, refuseView } from "./bound-columns.ts";
import { type Commits, isLost, nativeOf } from "./commits.ts";
import { buildIndex } from "./index-types.ts";
import type { RowWrites } from "./row-writes.ts";
import type { ColumnAlteration, FieldMetadata, WriteCalls, WriteTarget } from "./write-calls.ts";

/** The key of a field's metadata by which the SDK keeps the expression of a computed column. */
export const computedExpression = "computed_column.expression";

/** A native call without the checks of the SDK's own method. */
interface NativeTable {
  alterColumns(
    alterations: { path: string; rename?: string; nullable?: boolean; dataType?: string }[],
  ): Promise<{ readonly version: number }>;
}

/** Writes of columns, indices, tables, namespaces and branches. */
export const openTableWrites = (
  { connected, open, commit, plain, existing, restore, beforeCommit }: Commits,
  limits: SchemaLimits,
): Omit<WriteCalls, keyof RowWrites | "declareTable" | "createView" | "refreshView"> => {
  /** A new column may be a copy of one that another program made. @throws ServiceError code 13 beyond the limits, 20 for a view. */
  const verifyGrowth = async (table: Table, words: unknown): Promise<void> => {
    await refuseView(table);
    const text = JSON.stringify(words);
    const { bytes, columns } = await readSizes(table);
    refuse(faultOfSchema(bytes + Buffer.byteLength(text), limits));
    refuse(
      faultOfValues(
        columns().filter(({ name }) => text.includes(name)),
        limits,
      ),
    );
  };

  /** The way back from a schema that is too large: a request that only removes metadata is always taken. */
  const verifyMetadata = async (table: Table, updates: readonly FieldMetadata[]): Promise<void> => {
    const added = updates.flatMap(({ metadata }) => Object.entries(metadata)).filter(([, value]) => value !== null);
    if (added.length === 0) return;
    const { bytes } = await readSizes(table);
    refuse(faultOfSchema(bytes + Buffer.byteLength(JSON.stringify(added)), limits));
  };

  /** @throws ServiceError code 13 for types whose values exceed the limit. */
  const verifyTypes = (alterations: readonly ColumnAlteration[]): void => {
    const typed = alterations.filter(({ dataType }) => dataType !== undefined);
    refuse(
      faultOfValues(
        typed.map(({ path, dataType }) => ({ name: path, valueBytes: valueBytesOf(dataType) })),
        limits,
      ),
    );
  };

  /** Of other vectors, the engine panics. @throws ServiceError code 20 */
  const verifyHamming = async (table: Table, column: string): Promise<void> => {
    const { fields } = await readTableSchema(table);
    const [item] = fields.find(({ name }) => name === column)?.children ?? [];
    if (item !== undefined && !(item.type.kind === kinds.int && item.type.bits === 8))
      throw new ServiceError(20, {
        message: "distance_type hamming compares vectors of uint8: choose l2, cosine or dot for this column",
      });
  };

  /** By the path of a column, its metadata that a replacement must keep: without it, the table is unreadable. */
  const engineMetadata = async (table: Table): Promise<(path: string) => Readonly<Record<string, string>>> => {
    const { fields } = await readTableSchema(table);
    const find = (path: string): ArrowField | undefined => {
      let [level, found]: [readonly ArrowField[], ArrowField | undefined] = [fields, undefined];
      for (const part of path.split(".")) {
        found = level.find(({ name }) => name === part);
        level = found?.children ?? [];
      }
      return found;
    };
    return (path) => Object.fromEntries((find(path)?.metadata ?? []).filter(([key]) => isEngineKey(key)));
  };

  const hasIndex = async (target: WriteTarget, name: string): Promise<boolean> => {
    const table = await open(target);
    try {
      return (await table.listIndices()).some((index) => index.name === name);
    } finally {
      table.close();
    }
  };

  return {
    addColumns: (target, columns) =>
      plain(target, async (table) => {
        await verifyGrowth(table, columns);
        return table.addColumns(columns.map(([name, valueSql]) => ({ name, valueSql })));
      }),
    addComputedColumns: (target, columns) =>
      plain(target, async (table) => {
        await verifyGrowth(table, columns);
        return table.addColumns({ computed: columns.map(([name, valueSql]) => ({ name, valueSql })) });
      }),
    refreshColumn: (target, column, expression) =>
      commit(target, async (table) => {
        const { fields } = await readTableSchema(table);
        const declared = fields.find(({ name }) => name === column)?.metadata ?? [];
        // Metadata can be written by those who create tables, and is run here.
        if (new Map(declared).get(computedExpression) !== expression)
          throw new ServiceError(14, { message: "the column was declared anew meanwhile; retry" });
        const { rowsFilled, version } = await table.refreshColumn(column);
        return { rowsAssigned: Number(rowsFilled), version: Number(version) };
      }),
    alterColumns: async (target, alterations) => {
      verifyTypes(alterations);
      return plain(target, async (table) => {
        await refuseAlterations(
          table,
          alterations.map(({ path }) => path),
        );
        await verifyGrowth(table, alterations);
        return nativeOf<NativeTable>(table).alterColumns(
          alterations.map(({ path, rename, nullable, dataType }) => ({
            path,
            ...(rename === undefined ? {} : { rename }),
            ...(nullable === undefined ? {} : { nullable }),
            ...(dataType === undefined ? {} : { dataType: JSON.stringify(inLanceWords(dataType)) }),
          })),
        );
      });
    },
    dropColumns: (target, columns) =>
      plain(target, async (table) => {
        await refuseRemovals(table, columns);
        return table.dropColumns([...columns]);
      }),
    updateFieldMetadata: (target, updates) =>
      plain(target, async (table) => {
        await verifyMetadata(table, updates);
        const kept = updates.some(({ replace }) => replace) ? await engineMetadata(table) : () => ({});
        return table.updateFieldMetadata(
          updates.map(({ path, metadata, replace }) => ({
            path,
            metadata: { ...(replace ? kept(path) : {}), ...metadata },
            replace,
          })),
        );
      }),
    restoreVersion: restore,
    createIndex: (target, specification) =>
      plain(target, async (table) => {
        const { column, name, replace } = specification;
        if (specification.parameters.distanceType === "hamming") await verifyHamming(table, column);
        const config = buildIndex(specification);
        try {
          await table.createIndex(column, {
            config,
            ...(replace === undefined ? {} : { replace }),
            ...(name === undefined ? {} : { name }),
          });
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
      // What is only declared cannot be opened, but has a name.
      if (isMissing && !(await listTables(to, table.namespace)).includes(table.name)) throw new ServiceError(4);
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
