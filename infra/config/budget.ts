import { z } from "zod";
import { count, form } from "./fields.ts";

const email = form(/^[^@\s]+@[^@\s]+\.[^@\s]+$/, "an e-mail address");

const shape = {
  monthly: count(1, 10_000_000).describe("Amount for one month, in whole units of the account's currency"),
  emails: z.array(email).min(1).max(5).describe("Who gets the alerts"),
  percents: z
    .array(count(1, 1000))
    .min(1)
    .max(4)
    .default([50, 80, 100])
    .describe("Alerts at these percents of the amount; one more when the forecast passes it"),
};
const text = "A monthly budget of what carries the stack's tag `stack`, with alerts by e-mail; see docs/monitoring.md";

export const amazonBudget = z.strictObject(shape).optional().describe(text);
export const googleBudget = z
  .strictObject({
    ...shape,
    billingAccount: form(
      /^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$/,
      "the id of a billing account, such as 012345-6789AB-CDEF01",
    ).describe("Id of the project's billing account"),
  })
  .optional()
  .describe(text);

/** The value of the tag by which a stack's costs are found: a user's own may be written in another case. */
export const stackTag = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags).find(([key]) => key.toLowerCase() === "stack")?.[1] ?? "";
