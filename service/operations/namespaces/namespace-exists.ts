import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { emptyBody } from "../shared/snapshot.ts";

export const namespaceExists = defineOperation({
  name: "namespace_exists",
  target: "namespace",
  path: "exists",
  methods: ["POST"],
  scope: null,
  admission: "metadata",
  errors: [],
  summary: "Checks that a namespace exists",
  body: emptyBody,
  media: "empty",
  answer: z.null(),
  handle: ({ database }, namespace) => database.describeNamespace(namespace),
});
