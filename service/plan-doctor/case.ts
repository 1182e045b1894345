import type { Query } from "../query/wire.ts";
import { metricValue, nodesOf } from "./parse.ts";
import type { ColumnFacts, Evidence, Facts, Finding, Fix, IndexFacts, PlanNode, PlanTree } from "./types.ts";

/** All that a finding is judged by. */
export interface Case {
  readonly tree: PlanTree;
  /** In the order of the text. */
  readonly nodes: readonly PlanNode[];
  readonly parents: ReadonlyMap<PlanNode, PlanNode>;
  readonly query: Query;
  readonly facts: Facts;
  /** The table's id in a path. */
  readonly table: string;
}

/** What a rule found. Numbers that are unknown are left out of the evidence. */
export interface Found {
  /** In place of the rule's: a loss of less than its threshold is an `info`. */
  readonly severity?: Finding["severity"];
  /** Null for a finding about the table. */
  readonly node: PlanNode | null;
  readonly evidence: readonly (readonly [name: string, value: number | string | null | undefined])[];
  readonly why: string;
  readonly fix: Fix;
}

/** One finding: when it holds, and what to do. A section of docs/plan-doctor.md has its code as the heading. */
export interface Rule extends Pick<Finding, "code" | "severity" | "title"> {
  /** A pure function; undefined where it does not hold or cannot be judged. */
  readonly find: (examined: Case) => Found | undefined;
}

export const caseOf = (tree: PlanTree, query: Query, facts: Facts, table: string): Case => {
  const nodes = nodesOf(tree);
  const parents = new Map(nodes.flatMap((node) => node.children.map((child) => [child, node] as const)));
  return { tree, nodes, parents, query, facts, table };
};

const isKnown = (entry: Found["evidence"][number]): entry is readonly [string, number | string] =>
  entry[1] !== null && entry[1] !== undefined;

export const evidenceOf = (evidence: Found["evidence"]): readonly Evidence[] =>
  evidence.filter(isKnown).map(([name, value]) => ({ name, value }));

export const attributeOf = (node: PlanNode, key: string): string | undefined =>
  node.attributes.find((attribute) => attribute.key === key)?.value;

export const named = ({ nodes }: Pick<Case, "nodes">, ...names: readonly string[]): readonly PlanNode[] =>
  nodes.filter(({ name }) => names.includes(name));

/** The nodes below a node, without itself. */
export const below = (node: PlanNode): readonly PlanNode[] =>
  node.children.flatMap((child) => [child, ...below(child)]);

export const above = ({ parents }: Case, node: PlanNode): readonly PlanNode[] => {
  const parent = parents.get(node);
  return parent === undefined ? [] : [parent, ...above({ parents } as Case, parent)];
};

/** Whether a node takes rows by their ids, which another node found. */
export const takesRows = (node: PlanNode): boolean =>
  node.name === "LanceRead" && attributeOf(node, "source")?.startsWith("stream(") === true;

/** Whether a node reads a table in its order. */
export const readsTable = (node: PlanNode): boolean =>
  node.name === "LanceScan" || (node.name === "LanceRead" && !takesRows(node));

/** Rows that a node reads from the table; null if the query did not run. */
export const rowsRead = (node: PlanNode): number | null => metricValue(node.metrics, "rows_scanned") ?? node.rows_out;

/** Bytes that a node reads; null if the query did not run. */
export const bytesRead = (node: PlanNode): number | null => metricValue(node.metrics, "bytes_read");

/** The columns that a node reads. */
export const projectionOf = (node: PlanNode): readonly string[] =>
  attributeOf(node, "projection")?.slice(1, -1).split(", ") ?? [];

/** The filter that is evaluated row by row; undefined for none. */
export const refineFilter = (node: PlanNode): string | undefined => {
  const filter = attributeOf(node, "refine_filter");
  return filter === undefined || filter === "--" ? undefined : filter;
};

export const usesScalarIndex = (node: PlanNode): boolean =>
  node.children.some(({ name }) => name === "ScalarIndexQuery");

const isVectorType = ({ type }: ColumnFacts): boolean => /^fixed_size_list<(float|double|uint8|halffloat)/.test(type);

export const vectorColumns = ({ facts }: Case): readonly ColumnFacts[] => (facts.columns ?? []).filter(isVectorType);

/** The vector column of a search: the one that the query names, else the only one. */
export const searchedColumn = (examined: Case): string | undefined => {
  const candidates = vectorColumns(examined);
  return examined.query.vector?.column ?? (candidates.length === 1 ? candidates[0]?.name : undefined);
};

const isVectorIndex = ({ type }: IndexFacts): boolean => /IVF|HNSW/.test(type);

export const vectorIndexOn = ({ facts }: Case, column: string): IndexFacts | undefined =>
  facts.indices?.find((index) => isVectorIndex(index) && index.columns.includes(column));

/** The index of a node that names it: `name=vector_idx`, `]@id_idx(BTree)`. */
export const indexOf = ({ facts }: Case, node: PlanNode): IndexFacts | undefined =>
  facts.indices?.find(({ name }) => attributeOf(node, "name") === name || node.text.includes(`]@${name}(`));

/** The search of a vector index, if the plan has one, and its index as far as the facts name it. */
export const indexSearch = (
  examined: Case,
): { readonly node: PlanNode; readonly index: IndexFacts | undefined } | undefined => {
  const [node] = named(examined, "ANNSubIndex");
  return node === undefined ? undefined : { node, index: indexOf(examined, node) };
};

export const textIndexOn = ({ facts }: Case, column: string | undefined): IndexFacts | undefined =>
  facts.indices?.find(({ type, columns }) => type === "FTS" && columns.includes(column ?? ""));

/** Rows of the result, from the first node that counts them. */
export const resultRows = ({ nodes }: Case): number | null =>
  nodes.find(({ rows_out }) => rows_out !== null)?.rows_out ?? null;

export const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10;
