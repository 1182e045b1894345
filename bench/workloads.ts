import type { Table } from "@lancedb/lancedb";
import type { Task as Round } from "./measure.ts";

/** A round of one workload. */
export type Task = Round & { readonly workload: string };

/** One kind of request, over HTTP and as a call of the bare SDK. */
export interface Workload {
  readonly name: string;
  readonly table: string;
  /** Path after `/v1/table/{id}/`. */
  readonly operation: string;
  /** The request's JSON; `index` counts up and never repeats within a run. */
  body(index: number): string;
  direct(table: Table, index: number): Promise<unknown>;
  /** Each request needs a unique name, so a round has a fixed number of them. */
  readonly isNumbered?: true;
}

export const tables = {
  narrow: { name: "narrow", rows: 20_000, dimensions: 128 },
  wide: { name: "wide", rows: 5000, dimensions: 1536 },
} as const;

export const knownTag = "known";
const variants = 64;

/** Deterministic, with all digits of a 32-bit float in JSON. */
export const vectorOf = (seed: number, dimensions: number): Float32Array =>
  Float32Array.from({ length: dimensions }, (_, index) => Math.sin(seed * 12.9898 + index * 78.233));

const search = (kind: "explain" | "analyze", { name, dimensions }: (typeof tables)["narrow" | "wide"]): Workload => {
  const vectors = Array.from({ length: variants }, (_, seed) => vectorOf(seed + 0.5, dimensions));
  const bodies = vectors.map((vector) => {
    const query = { k: 10, vector: [...vector], vector_column: "vector" };
    return JSON.stringify(kind === "explain" ? { query } : query);
  });
  return {
    name: `${kind}_plan, ${dimensions} dimensions`,
    table: name,
    operation: `${kind}_plan`,
    body: (index) => bodies[index % variants] ?? "",
    direct: (table, index) => {
      const vector = vectors[index % variants] ?? new Float32Array();
      const query = table.query().nearestTo(vector).column("vector").limit(10);
      return kind === "explain" ? query.explainPlan(false) : query.analyzePlan();
    },
  };
};

/**
 * The six operations; those that carry a vector, in both sizes.
 * @param side prefix of created tags, so that all sides can use one table.
 */
export const createWorkloads = (side: string): readonly Workload[] => [
  search("explain", tables.narrow),
  search("explain", tables.wide),
  search("analyze", tables.narrow),
  search("analyze", tables.wide),
  { name: "stats", table: "narrow", operation: "stats", body: () => "{}", direct: (table) => table.stats() },
  {
    name: "tags/version",
    table: "narrow",
    operation: "tags/version",
    body: () => JSON.stringify({ tag: knownTag }),
    direct: async (table) => (await table.tags()).getVersion(knownTag),
  },
  {
    name: "tags/create",
    table: "narrow",
    operation: "tags/create",
    body: (index) => JSON.stringify({ tag: `${side}-${index}`, version: 1 }),
    direct: async (table, index) => (await table.tags()).create(`${side}-${index}`, 1),
    isNumbered: true,
  },
  // Runs after tags/create and deletes its tags: both count from the same number.
  {
    name: "tags/delete",
    table: "narrow",
    operation: "tags/delete",
    body: (index) => JSON.stringify({ tag: `${side}-${index}` }),
    direct: async (table, index) => (await table.tags()).delete(`${side}-${index}`),
    isNumbered: true,
  },
];
