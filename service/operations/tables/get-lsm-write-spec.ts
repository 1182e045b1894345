import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";

const sharding = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("unsharded") }),
  z.object({ mode: z.literal("bucket"), column: z.string(), num_buckets: z.int().min(1) }),
  z.object({ mode: z.literal("identity"), column: z.string() }),
]);

/** LanceDB's data loader calls it for each table that it reads. */
export const getLsmWriteSpec = defineOperation({
  name: "get_lsm_write_spec",
  target: "table",
  path: "get_lsm_write_spec",
  scope: null,
  admission: "metadata",
  errors: [],
  summary: "Returns how merges are written to a table's write-ahead log; null if it has none",
  body: emptyBody,
  answer: z.object({
    lsm_write_spec: z
      .object({
        sharding,
        maintained_indexes: z.array(z.string()),
        writer_config_defaults: z.record(z.string(), z.string()),
      })
      .nullable(),
  }),
  handle: async ({ database }, table, _, { minimumState }) => ({
    lsm_write_spec: await database.lsmWriteSpec(table, minimumState === undefined ? {} : { minimumState }),
  }),
});
