import type { ExpressionLimits } from "./expression/index.ts";
import type { IdLimits } from "./table-id.ts";

/** Every bound on a request, after defaults. `variables.ts` gives each its variable, default and meaning. */
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
