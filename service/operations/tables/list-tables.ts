import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { phalanxVersion } from "../shared/headers.ts";
import { pageOfNames, pageParameters, pageToken } from "../shared/page.ts";
import { emptyBody } from "../shared/snapshot.ts";

/** Parameters of both lists of tables. */
export const tableListParameters = pageParameters.extend({
  include_declared: z
    .stringbool({ error: "must be true or false" })
    .optional()
    .describe("Accepted and ignored: tables that are only declared are always listed"),
});

export const listTables = defineOperation({
  name: "list_tables",
  target: "namespace",
  path: "table/list",
  methods: ["GET"],
  scope: null,
  admission: "metadata",
  errors: [],
  summary: "Lists the permitted tables of a namespace",
  body: emptyBody,
  parameters: tableListParameters,
  answer: z.object({ tables: z.array(z.string()), page_token: pageToken }),
  headers: phalanxVersion,
  handle: async ({ database }, namespace, _, { parameters, principal }) => {
    const all = await database.tables(namespace);
    const permitted = all.filter((name) => principal.tables.permits([...namespace.parts, name]));
    const { entries, token } = pageOfNames(permitted, parameters);
    return { tables: entries, ...token };
  },
});
