import { z } from "zod";

/** A version of a table in an answer. */
export const versionAnswer = z
  .object({
    version: z.int().min(0),
    manifest_path: z.string().describe("Path of the manifest within the root of the database"),
    timestamp_millis: z.int().describe("When the version was made, in milliseconds since 1970"),
    metadata: z.record(z.string(), z.string()).describe("Counts of the version: rows, files, fragments"),
  })
  .meta({ id: "TableVersion" });
