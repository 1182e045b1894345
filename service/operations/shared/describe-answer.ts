import { z } from "zod";
import { storageOptionsAnswer } from "./vend.ts";

const strings = z.record(z.string(), z.string());

const type = z.object({
  type: z
    .string()
    .describe(
      "With a trailing slash in the address Lance's name of the type (string, float), else Arrow's (utf8, float32)",
    ),
  length: z.int().optional(),
  get fields() {
    return z.array(field).optional();
  },
});

const field = z
  .object({
    name: z.string(),
    nullable: z.boolean(),
    metadata: strings.optional(),
    get type() {
      return type;
    },
  })
  .meta({ id: "ArrowField" });

export const description = z.object({
  table: z.string(),
  namespace: z.array(z.string()),
  version: z.int().min(0).optional().describe("Absent for a table that is only declared, as the schema"),
  schema: z.object({ fields: z.array(field), metadata: strings.optional() }).optional(),
  location: z
    .string()
    .optional()
    .describe("Location of the table in its storage; absent with LAKEHEAD_TABLE_LOCATIONS=off"),
  table_uri: z.string().optional(),
  stats: z.object({ num_deleted_rows: z.int().min(0), num_fragments: z.int().min(0) }).optional(),
  metadata: strings.optional().describe("Counts of the version: rows, files, fragments"),
  is_only_declared: z.boolean().optional(),
  storage_options: storageOptionsAnswer,
});
