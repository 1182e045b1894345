import { z } from "zod";
import { authorize } from "../auth/index.ts";
import { invalid, ServiceError } from "../errors.ts";
import type { TableId } from "../guard/table-id.ts";
import { mapConcurrently } from "../lance/map-concurrently.ts";
import { storedView } from "../lance/writes/view-writes.ts";
import type { StoredView } from "../lance/writes/write-calls.ts";
import { natural, optional } from "../query/fields.ts";
import { type Call, defineOperation, OperationResponse, type Tools } from "./operation.ts";
import { callerOf } from "./shared/current-call.ts";
import { pageOfNames, pageParameters, pageToken } from "./shared/page.ts";
import { consistencyOf, emptyBody } from "./shared/snapshot.ts";
import { committed } from "./shared/write.ts";

/** The definition that the SDK keeps of a view of the kind `select`, or `namespaced_select` for a source in a namespace. */
const storedDefinition = z.object({
  kind: z.string(),
  source_table: z.string(),
  source_namespace: z.array(z.string()).default([]),
  projections: z.array(z.object({ output: z.string(), expression: z.string() })).default([]),
  filter: z.string().nullish(),
  limit: z.int().min(0).nullish(),
  inputs: z.array(z.string()).default([]),
});

const notAView = (): ServiceError =>
  new ServiceError(0, { message: "the table is not a materialized view: materialized_view/list names those that are" });

const parseDefinition = ({ definition }: StoredView): z.output<typeof storedDefinition> => {
  try {
    return storedDefinition.parse(JSON.parse(definition));
  } catch {
    throw new ServiceError(0, { message: "the table's metadata defines no materialized view: create it again" });
  }
};

/** @throws ServiceError code 0 for a table that is no view. */
const find = async ({ database }: Tools, view: TableId, call: Pick<Call, "minimumState">) => {
  const { schema } = await database.describe(view, consistencyOf(call), "arrow");
  const stored = storedView(schema.metadata);
  if (stored === undefined) throw notAView();
  return { stored, definition: parseDefinition(stored) };
};

/** Starts the job that computes a view. Its definition was verified. @returns the job's id. */
const startRefresh = (
  { jobs }: Tools,
  { parts, key }: TableId,
  { definition, incarnation }: StoredView,
  options: { readonly full: boolean; readonly source_version?: number | undefined },
): Promise<string> =>
  jobs.start(
    { type: "refresh_view", table: key, spec: { id: parts, definition, incarnation, ...options } },
    callerOf(),
  );

const example = { query: "SELECT id FROM docs WHERE id > 1 LIMIT 10" };

export const createView = defineOperation({
  name: "create_materialized_view",
  target: "view",
  path: "create",
  scope: "manage",
  admission: "write",
  missing: [1, 4],
  errors: [0, 5, 12, 19, 20],
  summary:
    "Defines a materialized view: columns, a filter and a limit of one table, by SQL. Starts the job that computes its rows unless with_no_data; requires the scope `read` for the table",
  body: z.object({
    query: optional(z.string()).describe("SELECT columns FROM table [WHERE predicate] [LIMIT n]"),
    with_no_data: optional(z.boolean()).describe("Leave the view without rows; default: false"),
    // The catalog's specification describes a view of Geneva's by these.
    ...Object.fromEntries(
      ["kind", "source_query", "output_schema", "udtf_spec", "auto_refresh"].map((name) => [
        name,
        optional(z.unknown()).describe("Of a view that Geneva computes: refused"),
      ]),
    ),
  }),
  example,
  successes: [200, 202],
  answer: z.object({ version: natural, job_id: z.string().optional() }),
  handle: async (tools, view, { query, with_no_data: withoutData = false, ...geneva }, { principal }) => {
    if (query === undefined && Object.values(geneva).some((value) => value !== undefined))
      throw new ServiceError(0, {
        message:
          "a view of this kind is computed by Geneva, whose query only its own server reads: send query, an SQL SELECT over one table",
      });
    const other = Object.entries(geneva).find(([, value]) => value !== undefined && value !== false)?.[0];
    if (other !== undefined) throw invalid(`${other} does not go with query: leave it out`);
    if (query === undefined) throw invalid("query is missing: send an SQL SELECT over one table");
    const { source, ...columns } = tools.guard.viewQuery(query);
    const table = tools.guard.tableId(source);
    authorize(principal, "read", table.parts);
    const { stored, ...commit } = await tools.database.createView(view, { source: table, ...columns });
    if (withoutData) return committed({ version: commit.version }, commit);
    try {
      const job = await startRefresh(tools, view, stored, { full: false });
      return new OperationResponse({ version: commit.version, job_id: job }, {}, { status: 202, commit });
    } catch (error) {
      // A repeated request would find a view without rows.
      await tools.database.dropTable(view).catch(() => undefined);
      throw error;
    }
  },
});

export const describeView = defineOperation({
  name: "describe_materialized_view",
  target: "view",
  path: "describe",
  extension: "lancedb",
  scope: null,
  admission: "metadata",
  errors: [0],
  summary: "Returns the query of a materialized view",
  body: emptyBody,
  answer: z.object({
    name: z.string(),
    source_table: z.string(),
    source_namespace: z.array(z.string()),
    projections: z.array(z.object({ output_column: z.string(), expression: z.string() })),
    filter: z.string().optional(),
    limit: natural.optional(),
    inputs: z.array(z.string()).describe("Columns of the source that the view is computed from"),
    incarnation: z.string().optional().describe("Differs for each view that ever had the name"),
  }),
  handle: async (tools, view, _, call) => {
    const { stored, definition } = await find(tools, view, call);
    const { source_table, source_namespace, projections, filter, limit, inputs } = definition;
    return {
      name: view.name,
      source_table,
      source_namespace,
      projections: projections.map(({ output, expression }) => ({ output_column: output, expression })),
      ...(filter == null ? {} : { filter }),
      ...(limit == null ? {} : { limit }),
      inputs,
      ...(stored.incarnation === "" ? {} : { incarnation: stored.incarnation }),
    };
  },
});

export const refreshView = defineOperation({
  name: "refresh_materialized_view",
  target: "view",
  path: "refresh",
  scope: "write",
  admission: "metadata",
  errors: [0, 14],
  summary:
    "Starts a job that brings a materialized view up to date, by what has changed in its source where that can be told; requires the scope `read` for the source",
  body: z.object({
    full: optional(z.boolean()).describe("Compute all rows anew"),
    source_version: optional(natural).describe("The version of the source; absent for the latest"),
    src_version: optional(natural).describe("The same as source_version, in the specification's words"),
    expected_incarnation: optional(z.string()).describe("Fail with 409 if the view was dropped and created anew since"),
  }),
  successes: [202],
  answer: z.object({ job_id: z.string() }),
  handle: async (tools, view, { full = false, expected_incarnation: expected, ...body }, call) => {
    const { stored, definition } = await find(tools, view, call);
    const { kind, source_table, source_namespace, projections, filter } = definition;
    if (kind !== (source_namespace.length === 0 ? "select" : "namespaced_select"))
      throw new ServiceError(0, {
        message: "the view was defined by a newer client, in a form that the engine cannot refresh",
      });
    if (expected !== undefined && expected !== stored.incarnation)
      throw new ServiceError(14, { message: "the view was dropped and created anew: open it again" });
    // A program that writes files, or a table's creator, may have put it there.
    authorize(call.principal, "read", tools.guard.tableId([...source_namespace, source_table]).parts);
    for (const { expression } of projections) tools.guard.expression(expression, "a column of the view");
    if (filter != null) tools.guard.expression(filter, "the filter of the view");
    const source_version = body.source_version ?? body.src_version;
    const job = await startRefresh(tools, view, stored, { full, source_version });
    return new OperationResponse({ job_id: job }, {}, { status: 202, pending: true });
  },
});

export const dropView = defineOperation({
  name: "drop_materialized_view",
  target: "view",
  path: "drop",
  extension: "lancedb",
  scope: "manage",
  admission: "write",
  errors: [0],
  summary: "Deletes a materialized view with its rows; its source stays",
  body: emptyBody,
  answer: z.object({}),
  handle: async (tools, view, _, call) => {
    const { schema } = await tools.database.describe(view, consistencyOf(call), "arrow");
    if (storedView(schema.metadata) === undefined) throw notAView();
    await tools.database.dropTable(view);
    return {};
  },
});

/** Tables whose schemas a page reads, and how many of them at the same time. */
const maxRead = 100;
const concurrency = 8;

export const listViews = defineOperation({
  name: "list_materialized_views",
  target: "namespace",
  path: "materialized_view/list",
  methods: ["GET"],
  extension: "lancedb",
  scope: null,
  // A page reads the schemas of its tables.
  admission: "analyze",
  errors: [],
  summary: `Lists the permitted materialized views of a namespace. A page has those among ${maxRead} tables, so one without views may be followed by others`,
  body: emptyBody,
  parameters: pageParameters,
  answer: z.object({ views: z.array(z.string()), page_token: pageToken }),
  handle: async ({ database }, namespace, _, { parameters, principal }) => {
    const permitted = (await database.tables(namespace)).filter((name) =>
      principal.tables.permits([...namespace.parts, name]),
    );
    const limit = Math.min(parameters.limit ?? maxRead, maxRead);
    const { entries, token } = pageOfNames(permitted, { ...parameters, limit });
    const found = await mapConcurrently(concurrency, entries, async (name) => {
      const parts = [...namespace.parts, name];
      const table = { namespace: namespace.parts, name, parts, key: parts.join("$") };
      const description = await database.describe(table, {}, "arrow").catch((error: unknown) => {
        // Meanwhile dropped, without data, or of types without a name.
        if (error instanceof ServiceError && error.status < 500) return undefined;
        throw error;
      });
      return storedView(description?.schema.metadata) === undefined ? [] : [name];
    });
    return { views: found.flat(), ...token };
  },
});
