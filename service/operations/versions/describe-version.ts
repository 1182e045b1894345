import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { defineOperation } from "../operation.ts";
import { snapshotOf, snapshotShape } from "../shared/snapshot.ts";
import { versionAnswer } from "../shared/version.ts";

export const describeVersion = defineOperation({
  name: "describe_version",
  target: "table",
  path: "version/describe",
  methods: ["POST"],
  scope: null,
  admission: "analyze",
  errors: [11, 22],
  summary: "Returns the creation time and the counts of a version of a table",
  body: z.object(snapshotShape),
  example: { version: 1 },
  answer: z.object({ version: versionAnswer }),
  handle: async (tools, table, body, call) => {
    const { version, branch } = snapshotOf(tools, body, call);
    const all = await tools.database.versions(table, branch);
    const found = version === undefined ? all.at(-1) : all.find((entry) => entry.version === version);
    if (found === undefined) throw new ServiceError(11);
    return { version: found };
  },
});
