import { z } from "zod";

/** A version of a table in a response. */
export const versionAnswer = z
  .object({
    version: z.int().min(0),
    manifest_path: z.string().describe("Path of the manifest in the database"),
    timestamp_millis: z.int().describe("Creation time, in milliseconds since 1970"),
    timestamp: z.iso
      .datetime()
      .describe("Creation time (RFC 3339), for LanceDB clients that do not read timestamp_millis"),
    metadata: z.record(z.string(), z.string()).describe("Counts of the version: rows, files, fragments"),
  })
  .meta({ id: "TableVersion" });
