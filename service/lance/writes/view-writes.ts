import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { Schema } from "apache-arrow";
import { ServiceError } from "../../errors.ts";
import type { TableId } from "../../guard/table-id.ts";
import { classifyWrite } from "../errors/classify-write.ts";
import { readTableSchema } from "../reads/schema.ts";
import { viewKey } from "./bound-columns.ts";
import type { Commits } from "./commits.ts";
import type { StoredView, ViewDefinition, WriteCalls } from "./write-calls.ts";

const incarnationKey = "mv.incarnation";

/** What the metadata of a table says of it as a materialized view; undefined if it is none. */
export const storedView = (metadata: Readonly<Record<string, string>> | undefined): StoredView | undefined => {
  const definition = metadata?.[viewKey];
  return definition === undefined ? undefined : { definition, incarnation: metadata?.[incarnationKey] ?? "" };
};

const readView = async (table: Table): Promise<StoredView | undefined> =>
  storedView(Object.fromEntries((await readTableSchema(table)).metadata));

/** @throws ServiceError code 14 if it is not the view that was verified. */
const requireView = async (table: Table, { definition, incarnation }: StoredView, message: string): Promise<void> => {
  const found = await readView(table);
  if (found?.definition !== definition || found.incarnation !== incarnation) throw new ServiceError(14, { message });
};

const queryOf = ({ select, filter, limit }: ViewDefinition) => ({
  ...(select === undefined ? {} : { select: select.map(([name, expression]): [string, string] => [name, expression]) }),
  ...(filter === undefined ? {} : { where: filter }),
  ...(limit === undefined ? {} : { limit }),
});

const stableRowIds = { storageOptions: { new_table_enable_stable_row_ids: "true" } };

/**
 * The schema of a view, with its definition. The SDK defines views in the root namespace alone, but refreshes all: so it defines
 * one over an empty table like the source in memory, whose name is replaced.
 */
const schemaOfView = async (source: Table, definition: ViewDefinition): Promise<Schema> => {
  const { name, namespace } = definition.source;
  const memory = await connect("memory://");
  try {
    await memory.createEmptyTable("source", await source.schema(), stableRowIds);
    const made = await memory.createMaterializedView("view", "source", queryOf(definition));
    const { fields, metadata } = await made.table().schema();
    const stored = {
      ...JSON.parse(metadata.get(viewKey) ?? ""),
      ...(namespace.length === 0 ? {} : { kind: "namespaced_select", source_namespace: namespace }),
      source_table: name,
    };
    return new Schema(fields, new Map([...metadata, [viewKey, JSON.stringify(stored)]]));
  } finally {
    memory.close();
  }
};

/** A version that no table has: a refresh looks at the source before it finds that out. */
const noVersion = Number.MAX_SAFE_INTEGER;

/** Creates a view that is in a namespace, or whose source is. @throws ServiceError code 19 for a source without stable row ids. */
const createInNamespace = async (
  to: Connection,
  source: Table,
  { name, namespace }: TableId,
  definition: ViewDefinition,
): Promise<Table> => {
  const schema = await schemaOfView(source, definition);
  const table = await to.createEmptyTable(name, schema, [...namespace], stableRowIds);
  const failure = await table.refreshMaterializedView(false, noVersion).catch(classifyWrite);
  if (!(failure instanceof ServiceError) || failure.code !== 19) return table;
  table.close();
  await to.dropTable(name, [...namespace]);
  throw failure;
};

/** Materialized views. */
export const openViewWrites = ({
  connected,
  requireNamespace,
  open,
  commit,
  beforeCommit,
}: Commits): Pick<WriteCalls, "createView" | "refreshView"> => ({
  createView: async (view, definition) => {
    const to = await connected();
    await requireNamespace(view);
    // Of a source that cannot be opened, nothing is created.
    const source = await open({ table: definition.source });
    await beforeCommit();
    const isRoot = view.namespace.length === 0 && definition.source.namespace.length === 0;
    const made = isRoot
      ? to.createMaterializedView(view.name, definition.source.name, queryOf(definition)).then((each) => each.table())
      : createInNamespace(to, source, view, definition);
    const table = await made
      .catch((error: unknown) => {
        throw error instanceof ServiceError ? error : classifyWrite(error);
      })
      .finally(() => source.close());
    try {
      const stored = await readView(table);
      if (stored === undefined) throw new Error("a new materialized view has no definition");
      return { version: await table.version(), stored };
    } finally {
      table.close();
    }
  },
  refreshView: (view, expected, { full, sourceVersion }) =>
    commit({ table: view }, async (table) => {
      // Writers of the table's files can write its metadata, and what it names is read with the rights of the service.
      await requireView(table, expected, "the view was defined anew meanwhile; retry");
      const refreshed = await table.refreshMaterializedView(full, sourceVersion);
      await table.checkoutLatest();
      await requireView(table, expected, "the view was defined anew during the refresh: drop it, and create it again");
      return {
        mode: refreshed.mode,
        rowsWritten: Number(refreshed.rowsWritten),
        sourceVersion: Number(refreshed.sourceVersion),
        version: Number(refreshed.version),
      };
    }),
});
