import { z } from "zod";
import { newColumnName, optional } from "../../query/fields.ts";
import { jsonObject, listOf, maxSizes } from "../../query/lists.ts";
import { closed, unset } from "../../query/unknown-field.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { branchOf, columnPath, committed, versionAnswer } from "../shared/write.ts";

const alteration = closed({
  path: columnPath,
  rename: optional(newColumnName),
  nullable: optional(z.boolean()),
  data_type: optional(jsonObject('must be an object such as {"type": "float"}')),
});

export const alterColumns = defineOperation({
  name: "alter_columns",
  target: "table",
  path: "alter_columns",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [12, 14, 20, 22],
  summary: "Renames columns, or changes their type or whether they may be null",
  body: z.object({
    alterations: listOf(alteration, maxSizes.columns)
      .refine((alterations) => alterations.length > 0, { error: "is empty: name a column and what to change" })
      .meta({
        items: {
          type: "object",
          properties: {
            path: { type: "string", minLength: 1 },
            rename: { type: "string" },
            nullable: { type: "boolean" },
            data_type: { type: "object" },
          },
          required: ["path"],
          additionalProperties: unset,
        },
        minItems: 1,
      }),
    branch: branchField,
  }),
  example: { alterations: [{ path: "id", rename: "key" }] },
  answer: versionAnswer,
  handle: async (tools, table, { alterations, branch }) => {
    const commit = await tools.database.alterColumns(
      { table, ...branchOf(tools, branch) },
      alterations.map(({ data_type: dataType, ...rest }) => ({ ...rest, dataType })),
    );
    return committed({ version: commit.version }, commit);
  },
});
