import { authorize } from "../../auth/index.ts";
import { invalid, ServiceError } from "../../errors.ts";
import { type Binding, bind, type FunctionColumns, type FunctionVersion } from "../../functions/index.ts";
import type { TableId } from "../../guard/table-id.ts";
import { emptyColumns } from "../../lance/arrow/empty-columns.ts";
import type { Call, Tools } from "../operation.ts";
import { callerOf } from "../shared/current-call.ts";
import { consistencyOf } from "../shared/snapshot.ts";
import { authorizeSql, branchOf, committed } from "../shared/write.ts";

/** The type of the jobs that a runner on Ray performs. */
export const refreshFunction = "refresh_function";

/** @throws ServiceError code 15 without the scopes, or for a Function that the caller's patterns do not permit. */
const authorizeFunction = (call: Call, table: TableId, id: readonly string[]): void => {
  authorizeSql(call, table);
  authorize(call.principal, "functions", table.parts);
  authorize(call.principal, "functions", id);
};

const requireOn = ({ functions }: Tools): NonNullable<Tools["functions"]> => {
  if (functions !== undefined) return functions;
  throw new ServiceError(0, { message: "Functions are off: the operator turns them on with LAKEHEAD_FUNCTIONS=on" });
};

/** Adds columns without values that a Function fills. */
export const addFunctionColumns = async (
  tools: Tools,
  table: TableId,
  sent: FunctionColumns,
  names: readonly string[],
  branch: string | undefined,
  call: Call,
) => {
  const target = branchOf(tools, branch);
  const { name, namespace_path: namespace = [], version } = sent.application.function;
  const id = [...namespace, name];
  authorizeFunction(call, table, id);
  const found = await requireOn(tools).find(id, Number(version));
  // Of a 404, clients before 0.41 say that there is no such table.
  if (found === undefined) throw invalid(`function: there is no version ${version} of this Function`);
  const { schema } = await tools.database.describe(table, { ...target, ...consistencyOf(call) }, "arrow");
  const columns = bind(found, sent, names, schema.fields);
  const commit = await tools.database.addEmptyColumns(
    { table, ...target },
    { kind: "bytes", bytes: emptyColumns(columns) },
  );
  return committed({ version: commit.version }, commit);
};

/** What the runner needs of a Function; the source comes from the catalog, by its digest. */
const runtimeOf = ({ id, version, definition, objectId }: FunctionVersion) => ({
  name: id.join("$"),
  version: String(version),
  object: objectId,
  artifact: definition.artifact,
  signature: definition.signature,
  runtime: definition.runtime,
  // Names alone: the workers have the values.
  secrets: (definition.secret_bindings ?? []).map(({ variable, secret_ref: { name, namespace_path: path = [] } }) => ({
    variable,
    file: [...path, name].join("$"),
  })),
});

/** Starts the job that fills a column, and those of the same binding. @returns its id. */
export const startRefresh = async (
  tools: Tools,
  table: TableId,
  { binding, column, branch, call }: { binding: Binding; column: string; branch: string | undefined; call: Call },
): Promise<string> => {
  const { id, version, object } = binding.function;
  authorizeFunction(call, table, id);
  const found = await requireOn(tools).find(id, version);
  if (found?.objectId !== object)
    throw new ServiceError(20, {
      message: "column: its Function was dropped: drop the column, and add it with a Function that is there",
    });
  const { location } = await tools.database.describe(table, consistencyOf(call), "arrow");
  if (location === undefined) throw new Error("the location of a table is unknown");
  const spec = {
    id: table.parts,
    column,
    ...(branch === undefined ? {} : { branch }),
    binding: binding.binding,
    // The directory in the database, for a runner with another view of the store.
    directory: location.address.split("/").at(-1),
    function: runtimeOf(found),
    inputs: binding.inputs,
    ...(binding.initialization === undefined ? {} : { initialization: binding.initialization }),
  };
  return tools.jobs.start({ type: refreshFunction, table: table.key, spec }, callerOf());
};
