import { z } from "zod";
import { isEngineKey } from "../../guard/engine-keys.ts";
import { newColumnName, optional } from "../../query/fields.ts";
import { jsonObject, listOf, maxSizes } from "../../query/lists.ts";
import { closed, unset } from "../../query/unknown-field.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { branchOf, columnPath, committed, versionAnswer } from "../shared/write.ts";

const common = {
  target: "table",
  scope: "manage",
  admission: "write",
  errors: [12, 14, 20, 22],
  answer: versionAnswer,
} as const;

const alteration = closed({
  path: columnPath,
  rename: optional(newColumnName),
  nullable: optional(z.boolean()),
  data_type: optional(jsonObject('must be an object such as {"type": "float"}')),
});

export const alterColumns = defineOperation({
  ...common,
  name: "alter_columns",
  path: "alter_columns",
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
  handle: async (tools, table, { alterations, branch }) => {
    const commit = await tools.database.alterColumns(
      { table, ...branchOf(tools, branch) },
      alterations.map(({ data_type: dataType, ...rest }) => ({ ...rest, dataType })),
    );
    return committed({ version: commit.version }, commit);
  },
});

export const dropColumns = defineOperation({
  ...common,
  name: "drop_columns",
  path: "drop_columns",
  summary: "Removes columns",
  body: z.object({
    columns: listOf(columnPath, maxSizes.columns)
      .refine((columns) => columns.length > 0, { error: "is empty: name the columns to remove" })
      .meta({ items: { type: "string", minLength: 1 }, minItems: 1 }),
    branch: branchField,
  }),
  example: { columns: ["text"] },
  handle: async (tools, table, { columns, branch }) => {
    const commit = await tools.database.dropColumns({ table, ...branchOf(tools, branch) }, columns);
    return committed({ version: commit.version }, commit);
  },
});

const isText = (value: unknown): value is string | null => value === null || typeof value === "string";

const entry = closed({
  path: columnPath,
  metadata: jsonObject()
    .refine((metadata) => Object.values(metadata).every(isText), {
      error: "must map each key to a string, or to null to delete it",
    })
    .refine((metadata) => !Object.keys(metadata).some(isEngineKey), {
      error:
        "has a key of the engine or of Arrow (lance-…, lance:…, ARROW:…) or of this service (lakehead.…), which say how values are stored or computed: choose another key",
    }),
  replace: optional(z.boolean()),
});

export const updateFieldMetadata = defineOperation({
  ...common,
  name: "update_field_metadata",
  path: "update_field_metadata",
  summary: "Sets the metadata of columns",
  body: z.object({
    updates: listOf(entry, maxSizes.columns)
      .refine((updates) => updates.length > 0, { error: "is empty: name a column and its metadata" })
      .meta({
        items: {
          type: "object",
          properties: {
            path: { type: "string", minLength: 1 },
            metadata: { type: "object", additionalProperties: { type: ["string", "null"] } },
            replace: {
              type: "boolean",
              description: "Remove the column's other metadata, except that of the engine and of Arrow",
            },
          },
          required: ["path", "metadata"],
          additionalProperties: unset,
        },
        minItems: 1,
      }),
    branch: branchField,
  }),
  example: { updates: [{ path: "id", metadata: { unit: "none" } }] },
  handle: async (tools, table, { updates, branch }) => {
    const commit = await tools.database.updateFieldMetadata(
      { table, ...branchOf(tools, branch) },
      updates.map(({ path, metadata, replace = false }) => ({
        path,
        metadata: metadata as Record<string, string | null>,
        replace,
      })),
    );
    return committed({ version: commit.version }, commit);
  },
});
