import { z } from "zod";
import { statisticsAnswer } from "../../query/answers.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { snapshotOf } from "../shared/snapshot.ts";

export const stats = defineOperation({
  name: "stats",
  target: "table",
  path: "stats",
  methods: ["POST", "GET"],
  scope: "stats",
  admission: "metadata",
  errors: [22],
  summary: "Returns the size of a table: bytes, live rows, indices, fragments",
  body: z.object({ branch: branchField }),
  answer: statisticsAnswer,
  handle: (tools, table, body, call) => tools.database.statistics(table, snapshotOf(tools, body, call)),
});
