import { z } from "zod";
import { seesNamespace } from "../auth/index.ts";
import { ServiceError } from "../errors.ts";
import { optional } from "../query/fields.ts";
import { jsonObject } from "../query/lists.ts";
import { defineOperation } from "./operation.ts";
import { pageOfNames, pageParameters, pageToken } from "./shared/page.ts";
import { emptyBody } from "./shared/snapshot.ts";
import { createMode, dropBehavior, dropMode } from "./shared/write.ts";

const changing = { target: "namespace", scope: "manage", admission: "write" } as const;

const reading = { target: "namespace", scope: null, admission: "metadata", errors: [] } as const;

export const createNamespace = defineOperation({
  ...changing,
  name: "create_namespace",
  path: "create",
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

export const dropNamespace = defineOperation({
  ...changing,
  name: "drop_namespace",
  path: "drop",
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

export const listNamespaces = defineOperation({
  ...reading,
  name: "list_namespaces",
  path: "list",
  methods: ["GET"],
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

export const describeNamespace = defineOperation({
  ...reading,
  name: "describe_namespace",
  path: "describe",
  summary: "Returns the properties of a namespace",
  body: emptyBody,
  answer: z.object({ properties: z.record(z.string(), z.string()) }),
  handle: async ({ database }, namespace) => ({ properties: await database.describeNamespace(namespace) }),
});

export const namespaceExists = defineOperation({
  ...reading,
  name: "namespace_exists",
  path: "exists",
  summary: "Checks that a namespace exists",
  body: emptyBody,
  media: "empty",
  answer: z.null(),
  handle: ({ database }, namespace) => database.describeNamespace(namespace),
});
