import { resolve } from "node:path";
import { invalid } from "../errors.ts";

/** Characters of a plan that is answered: many times what anybody reads, and a plan is in memory more than once. */
const maxPlanLength = 8 * 2 ** 20;

/**
 * The part of a plan's `uri=` that says where the operator keeps the database: a path of the machine, or the prefix in
 * the bucket. A plan shows tables relative to it, because those who may read a plan need not know the rest.
 */
const rootPrefix = (uri: string): string => {
  const remote = /^[a-z0-9+]+:\/\/[^/]+\/?(.*)$/i.exec(uri);
  const path = remote === null || /^file:/i.test(uri) ? resolve(uri.replace(/^file:\/\//i, "")) : (remote[1] ?? "");
  const trimmed = path.replace(/^\/+|\/+$/g, "");
  return trimmed === "" ? "" : `${trimmed}/`;
};

/** @returns a function that shortens the addresses in a plan to those below the database's root. */
const hideRoot = (uri: string): ((plan: string) => string) => {
  const prefix = rootPrefix(uri);
  return prefix === "" ? (plan) => plan : (plan) => plan.replaceAll(`uri=${prefix}`, "uri=");
};

/**
 * @returns a function that makes of the engine's plan the one that is answered.
 * @throws ServiceError code 13 from that for a plan that is too long.
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
