import type { Principal, Scope } from "../auth/index.ts";

/** What a lent credential permits on the files of one table. */
export const rights = ["read", "write"] as const;
export type Right = (typeof rights)[number];

/**
 * The scopes that a caller needs for each right. Files have no columns, rows or versions to withhold: who reads them reads
 * all. Who may put them can replace any of them, and so whatever `manage` protects.
 */
export const scopesOf: Readonly<Record<Right, readonly Scope[]>> = {
  read: ["credentials", "read"],
  write: ["credentials", "read", "write", "manage"],
};

/** The greatest right of a caller; undefined without any. */
export const rightOf = ({ scopes }: Pick<Principal, "scopes">): Right | undefined =>
  rights.findLast((right) => scopesOf[right].every((scope) => scopes.has(scope)));
