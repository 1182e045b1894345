import { z } from "zod";
import { isEngineKey } from "../../guard/engine-keys.ts";
import { optional } from "../../query/fields.ts";
import { jsonObject, listOf, maxSizes } from "../../query/lists.ts";
import { closed, unset } from "../../query/unknown-field.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { branchOf, columnPath, committed, versionAnswer } from "../shared/write.ts";

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
  name: "update_field_metadata",
  target: "table",
  path: "update_field_metadata",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [12, 14, 20, 22],
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
  answer: versionAnswer,
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
