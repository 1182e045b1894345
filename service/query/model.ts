/**
 * A query after its wire form has been read: one shape, whatever client sent it. Field names are the SDK's own;
 * `wire.ts` says which request key each comes from.
 */

/** Which data a request addresses: a table's latest version unless `version` or `branch` say otherwise. */
export interface Snapshot {
  readonly version?: number;
  /** A branch's name; absent means main. */
  readonly branch?: string;
  /** How new the latest version of main must be; means nothing beside `version` or `branch`. */
  readonly atLeast?: AtLeast;
}

/** What a client has seen of a table already, here or on another replica: it wants nothing older. */
export interface AtLeast {
  readonly version?: number;
  /** When the store must have been looked at, in milliseconds since 1970. */
  readonly time?: number;
}

export interface Query extends Snapshot {
  /** Rows to return; "unlimited" only where a client asked for 2^63-1. */
  readonly k: number | "unlimited";
  readonly offset?: number;
  readonly filter?: string;
  readonly columns?: Projection;
  readonly fullText?: FullText;
  readonly orderBy?: readonly Ordering[];
  readonly withRowId: boolean;
  readonly fastSearch: boolean;
  readonly useLsm?: boolean;
  /** Absent means the default of the kind of query, see `lance/query.ts`. */
  readonly prefilter?: boolean;
  readonly vector?: VectorSearch;
}

/** Everything that means something only beside a query vector. */
export interface VectorSearch {
  /** One vector, or several of a multi-vector query. Never empty. */
  readonly vectors: readonly Float32Array[];
  readonly column?: string;
  readonly distanceType?: DistanceType;
  readonly bypassIndex: boolean;
  readonly ef?: number;
  readonly nprobes?: number;
  readonly minimumNprobes?: number;
  /** 0 means no upper bound. */
  readonly maximumNprobes?: number;
  readonly refineFactor?: number;
  readonly lowerBound?: number;
  readonly upperBound?: number;
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
  /** Absent means every column with a full-text index. */
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
