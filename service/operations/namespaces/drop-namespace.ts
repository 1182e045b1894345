import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { optional } from "../../query/fields.ts";
import { defineOperation } from "../operation.ts";
import { dropBehavior, dropMode } from "../shared/write.ts";

export const dropNamespace = defineOperation({
  name: "drop_namespace",
  target: "namespace",
  path: "drop",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [0, 3],
  summary: "Removes an empty namespace",
  body: z.object({
    mode: optional(dropMode).describe("What to do if the namespace does not exist: fail, or skip"),
    behavior: optional(dropBehavior).describe("Only restrict: a namespace that is not empty stays"),
  }),
  answer: z.object({}),
  handle: async ({ database }, namespace, { mode = "fail", behavior = "restrict" }) => {
    if (behavior === "cascade")
      throw new ServiceError(0, {
        message: "behavior cascade is not supported: drop the tables of the namespace first",
      });
    await database.dropNamespace(namespace, mode === "fail");
    return {};
  },
});
