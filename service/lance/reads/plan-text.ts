import { resolve } from "node:path";
import { invalid } from "../../errors.ts";

/** Maximum length of a plan in characters: it is in memory several times at once. */
export const maxPlanLength = 8 * 2 ** 20;

/**
 * The part of `uri=` in a plan that locates the database: a local path, or the prefix in the bucket. It is removed from
 * plans, because their readers are not entitled to know it.
 */
const rootPrefix = (uri: string): string => {
  const remote = /^[a-z0-9+]+:\/\/[^/]+\/?(.*)$/i.exec(uri);
  const path = remote === null || /^file:/i.test(uri) ? resolve(uri.replace(/^file:\/\//i, "")) : (remote[1] ?? "");
  const trimmed = path.replace(/^\/+|\/+$/g, "");
  return trimmed === "" ? "" : `${trimmed}/`;
};

/** @returns a function that makes the addresses in a plan relative to the database's root. */
const hideRoot = (uri: string): ((plan: string) => string) => {
  const prefix = rootPrefix(uri);
  return prefix === "" ? (plan) => plan : (plan) => plan.replaceAll(`uri=${prefix}`, "uri=");
};

/**
 * @returns a function that converts the engine's plan into that of the response. It throws ServiceError code 13 for a plan
 * that is too long.
 */
export const presentPlan = (uri: string): ((plan: string) => string) => {
  const hidden = hideRoot(uri);
  return (plan) => {
    if (plan.length > maxPlanLength)
      throw invalid(
        `the plan has more than ${maxPlanLength} characters: shorten the filter and the column expressions`,
      );
    return hidden(plan);
  };
};
