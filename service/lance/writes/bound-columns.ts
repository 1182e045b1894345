import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import { bindingKey, readBinding } from "../../functions/index.ts";
import { readArrowSchema, schemaFile } from "../arrow/schema.ts";

/** The key of a table's metadata by which the SDK keeps the definition of a materialized view. */
export const viewKey = "mv.definition";

interface Bound {
  /** Columns that Functions fill. */
  readonly columns: ReadonlySet<string>;
  /** By the name of a column, those that are computed from it. */
  readonly inputs: ReadonlyMap<string, readonly string[]>;
}

const none: Bound = { columns: new Set(), inputs: new Map() };

/**
 * Most tables have none: a search of the schema's bytes takes less than reading them.
 * @throws ServiceError code 20 for a materialized view.
 */
const readBound = async (table: Table): Promise<Bound> => {
  const schema = await schemaFile(table);
  const bytes = Buffer.from(schema.buffer, schema.byteOffset, schema.byteLength);
  if (bytes.includes(viewKey) && readArrowSchema(schema).metadata.some(([key]) => key === viewKey))
    throw new ServiceError(20, {
      message:
        "the table is a materialized view: its rows and columns come from its source by materialized_view/refresh; drop the view and create another",
    });
  if (!bytes.includes(bindingKey)) return none;
  const bound = readArrowSchema(schema).fields.flatMap(({ name, metadata }) => {
    const binding = readBinding(Object.fromEntries(metadata));
    return binding === undefined ? [] : [{ name, inputs: binding.inputs.map(({ column }) => column) }];
  });
  const pairs = bound.flatMap(({ name, inputs }) => inputs.map((input) => ({ input, name })));
  const inputs = Map.groupBy(pairs, ({ input }) => input);
  return {
    columns: new Set(bound.map(({ name }) => name)),
    inputs: new Map([...inputs].map(([input, of]) => [input, of.map(({ name }) => name)])),
  };
};

const rootOf = (path: string): string => path.replace(/^`([^`]*)`.*$/s, "$1").split(".")[0] ?? path;

/** @throws ServiceError code 20 for values of a column that a Function fills. */
export const refuseValues = async (table: Table, names: readonly string[]): Promise<void> => {
  const { columns } = await readBound(table);
  const name = names.map(rootOf).find((each) => columns.has(each));
  if (name !== undefined)
    throw new ServiceError(20, {
      message: `the column ${JSON.stringify(name)} is filled by a Function: leave it out; backfill_column computes it`,
    });
};

/** @throws ServiceError code 20 for a change of such a column, or of one that it is computed from. */
export const refuseAlterations = async (table: Table, paths: readonly string[]): Promise<void> => {
  const { columns, inputs } = await readBound(table);
  const name = paths.map(rootOf).find((each) => columns.has(each) || inputs.has(each));
  if (name !== undefined)
    throw new ServiceError(20, {
      message: `the column ${JSON.stringify(name)} belongs to a Function: drop the column that the Function fills first`,
    });
};

/** @throws ServiceError code 20 for the removal of an input whose column stays. */
export const refuseRemovals = async (table: Table, names: readonly string[]): Promise<void> => {
  const { inputs } = await readBound(table);
  const removed = new Set(names.map(rootOf));
  const input = [...removed].find((each) => inputs.get(each)?.some((column) => !removed.has(column)));
  if (input !== undefined)
    throw new ServiceError(20, {
      message: `the column ${JSON.stringify(input)} is an input of a Function: drop the columns that the Function fills first`,
    });
};

/** @throws ServiceError code 20 for a materialized view. */
export const refuseView = async (table: Table): Promise<void> => {
  await readBound(table);
};
