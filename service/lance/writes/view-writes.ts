import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import { classifyWrite } from "../errors/classify-write.ts";
import { readTableSchema } from "../reads/schema.ts";
import { viewKey } from "./bound-columns.ts";
import type { Commits } from "./commits.ts";
import type { StoredView, WriteCalls } from "./write-calls.ts";

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

/** Materialized views, which the SDK keeps in the root namespace. */
export const openViewWrites = ({
  connected,
  open,
  commit,
  beforeCommit,
}: Commits): Pick<WriteCalls, "createView" | "refreshView"> => ({
  createView: async (view, { source, select, filter, limit }) => {
    const to = await connected();
    // Of a source that cannot be opened, nothing is created.
    (await open({ table: source })).close();
    await beforeCommit();
    const made = await to
      .createMaterializedView(view.name, source.name, {
        ...(select === undefined
          ? {}
          : { select: select.map(([name, expression]): [string, string] => [name, expression]) }),
        ...(filter === undefined ? {} : { where: filter }),
        ...(limit === undefined ? {} : { limit }),
      })
      .catch((error: unknown) => {
        throw classifyWrite(error);
      });
    const table = made.table();
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
