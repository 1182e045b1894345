import { resolve } from "node:path";

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
export const hideRoot = (uri: string): ((plan: string) => string) => {
  const prefix = rootPrefix(uri);
  return prefix === "" ? (plan) => plan : (plan) => plan.replaceAll(`uri=${prefix}`, "uri=");
};
