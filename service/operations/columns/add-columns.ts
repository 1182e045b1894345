import { z } from "zod";
import { newColumnName } from "../../query/fields.ts";
import { listOf, maxSizes, passOn } from "../../query/lists.ts";
import { closed, unset } from "../../query/unknown-field.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { authorizeSql, branchOf, branchParameters, committed, versionAnswer } from "../shared/write.ts";

const column = closed({
  name: newColumnName,
  expression: z.string({
    error:
      "is missing: send an SQL expression, or the columns as an Arrow IPC stream; computed and virtual columns are not supported yet",
  }),
});

const body = z.object({
  new_columns: listOf(column, maxSizes.columns)
    .refine((columns) => columns.length > 0, { error: "is empty: name a column and its SQL expression" })
    .meta({
      items: {
        type: "object",
        properties: { name: { type: "string", minLength: 1 }, expression: { type: "string" } },
        required: ["name", "expression"],
        additionalProperties: unset,
      },
      minItems: 1,
    })
    .describe("Names and SQL expressions"),
  branch: branchField,
});

export const addColumns = defineOperation({
  name: "add_columns",
  target: "table",
  path: "add_columns",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [12, 14, 20, 22],
  summary:
    "Adds columns that SQL expressions compute from the rows (which also requires the scope `read`), or those of an Arrow IPC stream without rows, all null",
  takesSchema: true,
  body: z.unknown().transform((wire, context): z.output<typeof body> | Uint8Array => {
    if (wire instanceof Uint8Array) return wire;
    const parsed = body.safeParse(wire);
    if (parsed.success) return parsed.data;
    passOn(parsed.error.issues, context);
    return z.NEVER;
  }),
  documentedBody: body,
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
    authorizeSql(call, table);
    const commit = await tools.database.addColumns(
      { table, ...branchOf(tools, wire.branch ?? parameters.branch) },
      wire.new_columns.map(
        ({ name, expression }) => [name, tools.verifyExpression(expression, `expression of ${name}`)] as const,
      ),
    );
    return committed({ version: commit.version }, commit);
  },
});
