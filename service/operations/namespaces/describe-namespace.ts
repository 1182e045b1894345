import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";

export const describeNamespace = defineOperation({
  name: "describe_namespace",
  target: "namespace",
  path: "describe",
  methods: ["POST"],
  scope: null,
  admission: "metadata",
  errors: [],
  summary: "Returns the properties of a namespace",
  body: emptyBody,
  answer: z.object({ properties: z.record(z.string(), z.string()) }),
  handle: async ({ database }, namespace) => ({ properties: await database.describeNamespace(namespace) }),
});
