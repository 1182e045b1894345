import type { Query } from "../api.ts";
import { addressOf } from "../route.ts";
import { fromQuery } from "./form.ts";
import type { RunKind } from "./snippets.ts";

/** A run that another view asked for. It is not in the address: a link must not run a query with the reader's rights. */
let pending: { readonly table: string; readonly kind: RunKind } | undefined;

/** Opens the query view with a query, and runs it there. */
export const openAndRun = (table: string, kind: RunKind, query: Query): void => {
  pending = { table, kind };
  location.hash = addressOf({ view: "query", table, fields: fromQuery(query) });
};

/** @returns the kind of the run, once. */
export const takePending = (table: string): RunKind | undefined => {
  const found = pending?.table === table ? pending.kind : undefined;
  pending = undefined;
  return found;
};
