import type { Responder } from "../support/object-store-protocol.ts";

/** A real store server, behind the request count and faults of `test/support/object-store.ts`; or what is missing for it. */
export type StoreServer =
  | { readonly name: string; readonly behind: Responder; stop(): Promise<void> }
  | { readonly missing: string };
