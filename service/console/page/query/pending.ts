import type { Query } from "../api.ts";
import { addressOf } from "../route.ts";
import { fromQuery } from "./form.ts";
import type { RunKind } from "./snippets.ts";

interface Pending {
  readonly table: string;
  readonly kind: RunKind;
  readonly query: Query;
  /** A run with which the result is compared. */
  readonly compareWith?: string | undefined;
}

/** A run that a button asked for. It is not in the address: a link must not run a query with the reader's rights. */
let pending: Pending | undefined;

/** Fills the form of the query view with a query, and runs it there. */
export const openAndRun = (run: Pending): void => {
  pending = run;
  const address = addressOf({ view: "query", table: run.table, fields: fromQuery(run.query) });
  if (location.hash === address) dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = address;
};

/** @returns the run, once. */
export const takePending = (table: string): Pending | undefined => {
  const found = pending?.table === table ? pending : undefined;
  pending = undefined;
  return found;
};
