import { defaultExpressionLimits, type ExpressionLimits } from "./expression/index.ts";
import type { IdLimits } from "./table-id.ts";

/** Every bound on a request. `config/schema.ts` has the variable, default and description of each configurable one. */
export interface RequestLimits extends IdLimits {
  readonly maxBodyBytes: number;
  readonly maxJsonDepth: number;
  readonly maxK: number;
  readonly maxOffset: number;
  readonly maxNprobes: number;
  readonly maxEf: number;
  readonly maxRefineFactor: number;
  /** Rows that a vector search may fetch to re-rank: (k + offset) times refine_factor. */
  readonly maxCandidates: number;
  readonly maxDimensions: number;
  readonly maxVectors: number;
  readonly maxColumns: number;
  readonly maxFullTextDepth: number;
  readonly maxFullTextClauses: number;
  readonly maxFullTextBytes: number;
  readonly maxFullTextExpansions: number;
  readonly maxTagLength: number;
  readonly expression: ExpressionLimits;
}

/** The bounds that an operator can set. */
export interface ConfigurableLimits extends Omit<RequestLimits, "expression"> {
  readonly expression: Pick<ExpressionLimits, "maxBytes" | "maxDepth" | "maxOperators" | "maxListItems">;
}

/** Adds the bounds that an operator cannot set. */
export const requestLimits = (limits: ConfigurableLimits): RequestLimits => ({
  ...limits,
  expression: { ...defaultExpressionLimits, ...limits.expression },
});
