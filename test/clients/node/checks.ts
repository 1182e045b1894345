import { strict as assert } from "node:assert";

/** Runs a case and reports its result. */
export type Say = (operation: string, name: string, check: () => Promise<void>) => Promise<void>;

/** A call that must fail with a matching error text: this SDK has no error classes. */
export const fails = async (pattern: RegExp, call: () => Promise<unknown>): Promise<void> => {
  const outcome = await call().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) throw new Error(`it was expected to fail, and gave ${JSON.stringify(outcome.value)}`);
  assert.ok(outcome.error instanceof Error, "what was thrown is no Error");
  assert.match(outcome.error.message, pattern);
};
