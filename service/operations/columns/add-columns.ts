import { z } from "zod";
import { functionColumns } from "../../functions/index.ts";
import { ifSet, newColumnName, optional } from "../../query/fields.ts";
import { jsonObject, listOf, maxSizes, passOn } from "../../query/lists.ts";
import { closed, unset } from "../../query/unknown-field.ts";
import { addFunctionColumns } from "../functions/function-columns.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { authorizeSql, branchOf, branchParameters, committed, versionAnswer } from "../shared/write.ts";

const column = closed({
  name: newColumnName,
  expression: optional(z.string()).describe("An SQL expression that is computed now"),
  computed: optional(z.string()).describe(
    "An SQL expression that the table keeps, and that backfill_column computes; not beside expression",
  ),
}).transform(({ name, expression, computed }, context) => {
  const sql = expression ?? computed;
  if (sql !== undefined && (expression === undefined || computed === undefined))
    return { name, sql, isComputed: computed !== undefined };
  context.addIssue({
    code: "custom",
    message:
      sql === undefined
        ? "needs expression or computed, an SQL expression; or send the columns as an Arrow IPC stream"
        : "has expression and computed: send one of them",
  });
  return z.NEVER;
});

/** Columns that a Function fills: LanceDB's client says what follows from the Function and the table, too. */
const functionBody = z.object({
  new_columns: listOf(
    closed({ name: newColumnName, all_null: z.literal(true, { error: "must be true beside function" }) }),
    maxSizes.columns,
  ),
  function: functionColumns,
  branch: branchField,
  auto_refresh_enabled: optional(z.literal(false, { error: "must be false: backfill_column refreshes the column" })),
});

const body = z.object({
  new_columns: listOf(column, maxSizes.columns)
    .refine((columns) => columns.length > 0, { error: "is empty: name a column and its SQL expression" })
    .refine((columns) => new Set(columns.map(({ isComputed }) => isComputed)).size < 2, {
      error: "has columns with expression and with computed: add them in two requests",
    })
    .meta({
      items: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1 },
          expression: { type: "string" },
          computed: { type: "string" },
          all_null: { type: "boolean", description: "true beside function" },
        },
        required: ["name"],
        additionalProperties: unset,
      },
      minItems: 1,
    })
    .describe("Names and SQL expressions"),
  branch: branchField,
  auto_refresh_enabled: optional(
    z.literal(false, { error: "must be false: a computed column is refreshed by backfill_column" }),
  ),
});

const documentedBody = body.extend({
  function: optional(jsonObject()).describe(
    "The Function that fills the columns, as LanceDB's client sends it; requires the scope `functions`",
  ),
});

type Body = Uint8Array | z.output<typeof functionBody> | (z.output<typeof body> & { readonly function?: undefined });

const isOfFunction = (wire: unknown): boolean =>
  typeof wire === "object" && wire !== null && "function" in wire && ifSet(wire.function) !== undefined;

export const addColumns = defineOperation({
  name: "add_columns",
  target: "table",
  path: "add_columns",
  scope: "manage",
  admission: "write",
  errors: [0, 12, 14, 20, 22],
  summary:
    "Adds columns that SQL expressions compute from the rows, now or by backfill_column (which also requires the scope `read`), or those of an Arrow IPC stream without rows, all null",
  takesSchema: true,
  body: z.unknown().transform((wire, context): Body => {
    if (wire instanceof Uint8Array) return wire;
    const parsed = isOfFunction(wire) ? functionBody.safeParse(wire) : body.safeParse(wire);
    if (parsed.success) return parsed.data;
    passOn(parsed.error.issues, context);
    return z.NEVER;
  }),
  documentedBody,
  parameters: branchParameters,
  example: { new_columns: [{ name: "double", expression: "id * 2" }] },
  answer: versionAnswer,
  handle: async (tools, table, wire, call) => {
    const { parameters } = call;
    if (wire instanceof Uint8Array) {
      const target = { table, ...branchOf(tools, parameters.branch) };
      const commit = await tools.database.addEmptyColumns(target, { kind: "bytes", bytes: wire });
      return committed({ version: commit.version }, commit);
    }
    if (wire.function !== undefined) {
      const names = wire.new_columns.map(({ name }) => name);
      return addFunctionColumns(tools, table, wire.function, names, wire.branch ?? parameters.branch, call);
    }
    authorizeSql(call, table);
    const target = { table, ...branchOf(tools, wire.branch ?? parameters.branch) };
    const isComputed = wire.new_columns.some((each) => each.isComputed);
    const columns = wire.new_columns.map(
      ({ name, sql }) =>
        [name, tools.guard.expression(sql, `${isComputed ? "computed" : "expression"} of ${name}`)] as const,
    );
    const commit = await (isComputed
      ? tools.database.addComputedColumns(target, columns)
      : tools.database.addColumns(target, columns));
    return committed({ version: commit.version }, commit);
  },
});
