/** The parts of a parsed query, with the SDK's field names; `wire.ts` parses them. */

/** The data that a request addresses: a table's latest version unless `version` or `branch` is set. */
export interface Snapshot {
  readonly version?: number | undefined;
  /** Branch name; absent for main. */
  readonly branch?: string | undefined;
  /** The oldest acceptable state of main; without effect beside `version` or `branch`. */
  readonly minimumState?: MinimumState;
}

/** The last state of a table that a client has read, from any replica. */
export interface MinimumState {
  readonly version?: number;
  /** Earliest time of the read from the store, in milliseconds since 1970. */
  readonly time?: number;
}

export const distanceTypes = ["l2", "cosine", "dot", "hamming"] as const;
export type DistanceType = (typeof distanceTypes)[number];

export type Projection =
  | { readonly kind: "names"; readonly names: readonly string[] }
  | { readonly kind: "expressions"; readonly expressions: readonly (readonly [alias: string, expression: string])[] };

export interface Ordering {
  readonly columnName: string;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

export type FullText =
  | { readonly kind: "string"; readonly query: string; readonly columns: readonly string[] }
  | { readonly kind: "structured"; readonly clause: Clause };

export interface MatchClause {
  readonly kind: "match";
  readonly terms: string;
  /** Absent: every column with a full-text index. */
  readonly column?: string;
  readonly boost: number;
  /** Edit distance. */
  readonly fuzziness: number;
  readonly maxExpansions: number;
  readonly operator: "AND" | "OR";
  readonly prefixLength: number;
}

export type Clause =
  | MatchClause
  | { readonly kind: "phrase"; readonly terms: string; readonly column?: string; readonly slop: number }
  | { readonly kind: "boost"; readonly positive: Clause; readonly negative: Clause; readonly negativeBoost?: number }
  | {
      readonly kind: "multi_match";
      readonly terms: string;
      readonly columns: readonly string[];
      readonly boosts: readonly number[];
      readonly operator: "AND" | "OR";
    }
  | {
      readonly kind: "boolean";
      readonly must: readonly Clause[];
      readonly should: readonly Clause[];
      readonly mustNot: readonly Clause[];
    };
