import { z } from "zod";
import { branchName, natural, optional, refName } from "../../query/fields.ts";
import { jsonObject, listOf, most } from "../../query/lists.ts";

/** The fields that every body may carry. `identity` is accepted and never authenticates; see `auth/credentials.ts`. */
export const commonShape = {
  id: optional(listOf(z.string(), most.parts).meta({ items: { type: "string" } })).describe(
    "The table id in parts; must equal the path's",
  ),
  identity: optional(z.object({ api_key: optional(z.string()), auth_token: optional(z.string()) })).describe(
    "Accepted and ignored: credentials are read from the headers only",
  ),
  context: optional(jsonObject().meta({ type: "object", additionalProperties: true })).describe(
    "Entries for the request's log line and trace",
  ),
} as const;

export const branchField = optional(branchName).describe("A branch; absent for main");

export const tagField = z
  .string()
  .meta({ pattern: `^${refName}$` })
  .describe("The tag's name");

export const newTagField = z.string().meta({ pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]*$" }).describe("The tag's name");

/** A version of a table. */
export const versionNumber = natural;

/** The common fields of a body whose own fields are read elsewhere. */
export const commonBody = z.object(commonShape);
