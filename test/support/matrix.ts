import { appendFileSync } from "node:fs";
import { inject } from "vitest";
import { operations } from "../../service/operations/index.ts";
import { addressOf, errorsOf } from "../../service/operations/operation.ts";
import { labelOf } from "./openapi.ts";
import type { Answer } from "./request.ts";

/** One response that a test saw: the run's summary is made of these lines. */
export interface Seen {
  readonly operation: string;
  /** Lance error code; "ok" for 200. */
  readonly code: number | "ok";
}

export const record = (operation: string, { status, body }: Answer): void => {
  const seen: Seen = { operation, code: status < 300 ? "ok" : body.code };
  appendFileSync(inject("seen"), `${JSON.stringify(seen)}\n`);
};

/** The codes that each operation can answer, by its label. One that no test saw fails the run. Code 0 is 405. */
export const possible: Readonly<Record<string, readonly Seen["code"][]>> = Object.fromEntries(
  operations.map((operation) => [
    labelOf(addressOf(operation)),
    [...new Set(["ok", 0, ...errorsOf(operation)] as const)],
  ]),
);
