import { z } from "zod";
import { seesNamespace } from "../../auth/index.ts";
import { defineOperation } from "../operation.ts";
import { pageOfNames, pageParameters, pageToken } from "../shared/page.ts";
import { emptyBody } from "../shared/snapshot.ts";

export const listNamespaces = defineOperation({
  name: "list_namespaces",
  target: "namespace",
  path: "list",
  methods: ["GET"],
  scope: null,
  admission: "metadata",
  errors: [],
  summary: "Lists the visible namespaces directly in a namespace",
  body: emptyBody,
  parameters: pageParameters,
  answer: z.object({ namespaces: z.array(z.string()), page_token: pageToken }),
  handle: async ({ database }, namespace, _, { parameters, principal }) => {
    const all = await database.namespaces(namespace);
    const visible = all.filter((name) => seesNamespace(principal, [...namespace.parts, name]));
    const { entries, token } = pageOfNames(visible, parameters);
    return { namespaces: entries, ...token };
  },
});
