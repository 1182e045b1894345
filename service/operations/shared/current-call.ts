import { AsyncLocalStorage } from "node:async_hooks";

/** The call of an operation that changes tables, for what runs it elsewhere. */
export interface CurrentCall {
  readonly caller: string | undefined;
  /** Aborted when nobody waits for the call any more and others wait for what it uses. */
  readonly stop?: AbortSignal | undefined;
}

export const currentCall = new AsyncLocalStorage<CurrentCall>();

/** The caller, to whom uploads and jobs belong. */
export const callerOf = (): string => {
  const caller = currentCall.getStore()?.caller;
  if (caller === undefined) throw new Error("a caller outside of a request");
  return caller;
};
