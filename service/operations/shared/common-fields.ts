import { z } from "zod";
import { branchName, natural, optional, refName } from "../../query/fields.ts";
import { jsonObject, listOf, maxSizes } from "../../query/lists.ts";

/** Fields that every body may have. `identity` never authenticates; see `auth/credentials.ts`. */
export const commonShape = {
  id: optional(listOf(z.string(), maxSizes.parts).meta({ items: { type: "string" } })).describe(
    "Parts of the id; must equal the id in the path",
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
  .describe("Tag name");

export const newTagField = z.string().meta({ pattern: "^[A-Za-z0-9_-][A-Za-z0-9._-]*$" }).describe("Tag name");

export const versionNumber = natural;

/** Fields of a body that may stand beside its query. */
export const nestingKeys = ["query", "branch", "verbose"] as const;

/** The common fields alone. */
export const commonBody = z.object(commonShape);

/** The common fields alone, also of the query inside the body. */
export const nestedCommonBody = commonBody.extend({ query: commonBody });
