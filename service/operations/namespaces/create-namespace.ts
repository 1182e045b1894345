import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { optional } from "../../query/fields.ts";
import { jsonObject } from "../../query/lists.ts";
import { defineOperation } from "../operation.ts";
import { createMode } from "../shared/write.ts";

export const createNamespace = defineOperation({
  name: "create_namespace",
  target: "namespace",
  path: "create",
  methods: ["POST"],
  scope: "manage",
  admission: "write",
  errors: [0, 2],
  summary: "Creates a namespace",
  body: z.object({
    mode: optional(createMode).describe("What to do if the namespace exists: create fails, exist_ok keeps it"),
    properties: optional(
      jsonObject()
        .refine((properties) => Object.values(properties).every((value) => typeof value === "string"), {
          error: "must map each key to a string",
        })
        .meta({ type: "object", additionalProperties: { type: "string" } }),
    ),
  }),
  answer: z.object({ properties: z.record(z.string(), z.string()) }),
  handle: async ({ database }, namespace, { mode = "create", properties = {} }) => {
    if (mode === "overwrite")
      throw new ServiceError(0, { message: "mode overwrite is not supported: drop the namespace and create it" });
    return { properties: await database.createNamespace(namespace, mode, properties as Record<string, string>) };
  },
});
