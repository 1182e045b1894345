import {
  above,
  attributeOf,
  below,
  bytesRead,
  type Case,
  indexOf,
  indexSearch,
  named,
  percent,
  type Rule,
  readsTable,
  resultRows,
  rowsRead,
  searchedColumn,
  takesRows,
  vectorColumns,
  vectorIndexOn,
} from "./case.ts";
import { changeQuery, createVectorIndex, optimize } from "./fix.ts";
import { metricValue } from "./parse.ts";
import { thresholds } from "./thresholds.ts";
import type { IndexFacts, PlanNode } from "./types.ts";

/** A comparison of the query's vector with rows of the table as they are stored, without an index. */
interface Exhaustive {
  readonly node: PlanNode;
  readonly read: PlanNode;
  /** Compared rows; null if unknown. */
  readonly rows: number | null;
}

const usesVectorIndex = (examined: Case): boolean => named(examined, "ANNSubIndex").length > 0;

const exhaustive = (examined: Case): Exhaustive | undefined => {
  for (const node of named(examined, "KNNVectorDistance")) {
    const read = below(node).find(readsTable);
    if (read !== undefined && !below(node).some(({ name }) => name === "ANNSubIndex"))
      return { node, read, rows: node.rows_out };
  }
  return undefined;
};

const atLeast = (value: number | null | undefined, limit: number): boolean => (value ?? 0) >= limit;

/** Rows of a whole table that are compared one by one. */
const comparedRows = (examined: Case): (Exhaustive & { readonly column: string }) | undefined => {
  if (examined.query.vector === undefined || examined.query.vector.bypassIndex || usesVectorIndex(examined))
    return undefined;
  const found = exhaustive(examined);
  const column = searchedColumn(examined);
  if (found === undefined || column === undefined || examined.facts.indices === null) return undefined;
  const rows = found.rows ?? (examined.query.filter === undefined ? (examined.facts.statistics?.rows ?? null) : null);
  return { ...found, rows, column };
};

const noVectorIndex: Rule = {
  code: "no-vector-index",
  severity: "warning",
  title: "No vector index",
  find: (examined) => {
    const compared = comparedRows(examined);
    if (!atLeast(compared?.rows, thresholds.exhaustiveRows.value)) return undefined;
    if (compared === undefined || vectorIndexOn(examined, compared.column) !== undefined) return undefined;
    const { node, read, rows, column } = compared;
    return {
      node,
      evidence: [
        ["rows compared", rows],
        ["bytes read", bytesRead(read)],
      ],
      why: `The column ${column} has no index, so the search compares the vector with every row.`,
      fix: createVectorIndex(
        examined,
        column,
        attributeOf(node, "metric") ?? "l2",
        undefined,
        "Create a vector index: the search then reads a part of the rows only.",
      ),
    };
  },
};

const vectorIndexMetric: Rule = {
  code: "vector-index-metric",
  severity: "warning",
  title: "The vector index has another metric",
  find: (examined) => {
    const compared = comparedRows(examined);
    const index = compared === undefined ? undefined : vectorIndexOn(examined, compared.column);
    const wanted = compared === undefined ? undefined : attributeOf(compared.node, "metric")?.toLowerCase();
    if (compared === undefined || index?.metric == null || wanted === undefined || index.metric === wanted)
      return undefined;
    const { node, rows, column } = compared;
    return {
      node,
      severity: atLeast(rows, thresholds.exhaustiveRows.value) ? "warning" : "info",
      evidence: [
        ["rows compared", rows],
        ["metric of the query", wanted],
        [`metric of ${index.name}`, index.metric],
      ],
      why: `The query asks for ${wanted} and the index holds ${index.metric}, so the engine leaves the index out and compares every row.`,
      fix: createVectorIndex(
        examined,
        column,
        wanted,
        index,
        `Build the index for ${wanted}, or search with ${index.metric}: either reads a part of the rows only.`,
      ),
    };
  },
};

const unindexedVectors: Rule = {
  code: "unindexed-vectors",
  severity: "warning",
  title: "Rows that the vector index does not cover",
  find: (examined) => {
    const search = indexSearch(examined);
    const found = exhaustive(examined);
    if (search === undefined || found === undefined) return undefined;
    const { index } = search;
    const rows = rowsRead(found.read) ?? index?.unindexed_rows;
    if (!atLeast(rows, thresholds.unindexedRows.value)) return undefined;
    return {
      node: found.node,
      evidence: [
        ["rows without index", rows],
        ["rows in the index", index?.indexed_rows],
        ["bytes read", bytesRead(found.read)],
      ],
      why: "Rows that were added after the index was built are compared one by one, in every query.",
      fix: optimize(examined, "Add the rows to the index: no query compares them one by one any more."),
    };
  },
};

const starvedPostfilter: Rule = {
  code: "starved-postfilter",
  severity: "warning",
  title: "The filter leaves fewer rows than requested",
  find: (examined) => {
    const { query } = examined;
    const rows = resultRows(examined);
    const wanted = query.k === "unlimited" ? undefined : query.k * (query.vector?.vectors.length ?? 1);
    if (query.vector === undefined || query.filter === undefined || query.prefilter === true) return undefined;
    if (wanted === undefined || rows === null || rows >= wanted) return undefined;
    const node = named(examined, "FilterExec").find(
      (filter) =>
        !/_distance@\d+ IS NOT NULL/.test(filter.text) &&
        below(filter).some(({ name }) => name === "ANNSubIndex" || name === "KNNVectorDistance"),
    );
    const of = node?.metrics.find(({ unit }) => unit === "ratio")?.of;
    if (node === undefined || of === undefined || of[0] >= of[1]) return undefined;
    return {
      node,
      evidence: [
        ["rows returned", rows],
        ["rows requested", wanted],
        ["rows before the filter", of[1]],
      ],
      why: "The filter runs on the nearest rows after the search, so that fewer than k remain although more rows may match.",
      fix: changeQuery(examined, { prefilter: true }, "Filter before the search: all k rows match the filter."),
    };
  },
};

/** The node that reads the exact vectors of the rows that an index found. */
const refining = (examined: Case): PlanNode | undefined =>
  examined.nodes.find(
    (node) =>
      takesRows(node) &&
      examined.parents.get(node)?.name === "KNNVectorDistance" &&
      below(node).some(({ name }) => name === "ANNSubIndex"),
  );

const refineCost: Rule = {
  code: "refine-cost",
  severity: "info",
  title: "Many rows are re-ranked",
  find: (examined) => {
    const { query } = examined;
    const factor = query.vector?.refineFactor ?? 0;
    const node = refining(examined);
    if (node === undefined || query.k === "unlimited" || factor <= thresholds.refineFactor.value) return undefined;
    const rows = rowsRead(node) ?? (query.k + (query.offset ?? 0)) * factor;
    if (rows < thresholds.refinedRows.value) return undefined;
    return {
      node,
      evidence: [
        ["rows re-ranked", rows],
        ["rows requested", query.k],
        ["bytes read", bytesRead(node)],
      ],
      why: `refine_factor ${factor} reads the exact vectors of ${factor} times the requested rows.`,
      fix: changeQuery(
        examined,
        { search: { refineFactor: thresholds.refineFactor.value } },
        "Lower refine_factor: fewer vectors are read. Compare the rows with those of bypass_vector_index first.",
      ),
    };
  },
};

/** The index of a search that compares its own codes alone. */
const quantizedSearch = (examined: Case): { node: PlanNode; index: IndexFacts; bits: number } | undefined => {
  const { node, index } = indexSearch(examined) ?? {};
  const dimensions = vectorColumns(examined).find(({ name }) => name === index?.columns[0])?.dimensions;
  if (node === undefined || index?.code_bits == null || dimensions == null) return undefined;
  return { node, index, bits: index.code_bits / dimensions };
};

const quantizedWithoutRefine: Rule = {
  code: "quantized-without-refine",
  severity: "info",
  title: "Distances of a quantized index are not exact",
  find: (examined) => {
    const found = quantizedSearch(examined);
    if (found === undefined || found.bits > thresholds.codeBits.value) return undefined;
    const { node, index, bits } = found;
    if (!atLeast(index.indexed_rows, thresholds.exhaustiveRows.value)) return undefined;
    if (above(examined, node).some(({ name }) => name === "KNNVectorDistance")) return undefined;
    return {
      node,
      evidence: [
        ["bits for each number of a vector", Math.round(bits * 100) / 100],
        ["rows in the index", index.indexed_rows],
      ],
      why: "The index ranks by shortened vectors, so near rows may be missing and distances differ from the exact ones.",
      fix: changeQuery(
        examined,
        { search: { refineFactor: 5 } },
        "Re-rank five times the requested rows by their exact vectors: distances are exact, at the cost of these reads.",
      ),
    };
  },
};

const fewProbes: Rule = {
  code: "few-probes",
  severity: "info",
  title: "Few partitions are searched",
  find: (examined) => {
    const { node } = indexSearch(examined) ?? {};
    const [ranking] = named(examined, "ANNIvfPartition");
    const searched = node === undefined ? null : metricValue(node.metrics, "partitions_searched");
    const ranked = ranking === undefined ? null : metricValue(ranking.metrics, "partitions_ranked");
    if (node === undefined || searched === null || ranked === null || ranked === 0) return undefined;
    if (percent(searched, ranked) >= thresholds.probedPercent.value) return undefined;
    const deltas = Number(attributeOf(node, "deltas") ?? 1);
    const probes = Math.ceil((ranked / deltas) * (thresholds.probedPercent.value / 100));
    return {
      node,
      evidence: [
        ["partitions searched", searched],
        ["partitions", ranked],
      ],
      why: "Near rows in partitions that are not searched are missing from the result.",
      fix: changeQuery(
        examined,
        { search: { nprobes: probes, minimumNprobes: undefined, maximumNprobes: undefined } },
        "Search more partitions: fewer near rows are missing. Compare the rows with those of bypass_vector_index.",
      ),
    };
  },
};

const manyDeltas: Rule = {
  code: "many-deltas",
  severity: "warning",
  title: "The vector index has many parts",
  find: (examined) => {
    const { node, index } = indexSearch(examined) ?? {};
    const column = index?.columns[0];
    if (node === undefined || index === undefined || column === undefined) return undefined;
    const deltas = Number(attributeOf(node, "deltas") ?? 0);
    if (deltas < thresholds.deltas.value) return undefined;
    return {
      node,
      evidence: [
        ["parts", deltas],
        ["rows in the index", index.indexed_rows],
        ["partitions searched", metricValue(node.metrics, "partitions_searched")],
      ],
      why: "Each part is searched by itself; each optimize after new rows adds one.",
      fix: createVectorIndex(
        examined,
        column,
        attributeOf(node, "metric")?.toLowerCase() ?? "l2",
        index,
        "Build the index again: one part remains, and each query searches one.",
      ),
    };
  },
};

const coldCache: Rule = {
  code: "cold-cache",
  severity: "info",
  title: "The index was read from the store",
  find: (examined) => {
    const loading = examined.nodes
      .map((node) => ({ node, parts: metricValue(node.metrics, "parts_loaded") ?? 0 }))
      .toSorted((left, right) => right.parts - left.parts)[0];
    if (loading === undefined || loading.parts < thresholds.coldParts.value) return undefined;
    const { node, parts } = loading;
    const index = indexOf(examined, node);
    if (index === undefined) return undefined;
    return {
      node,
      evidence: [
        ["parts loaded", parts],
        ["bytes read", bytesRead(node)],
      ],
      why: "The first query after a start, or after other indices took the cache, reads the index from the store.",
      fix: {
        summary: "Load the index before the first query: later queries read none of it.",
        python: `table.prewarm_index(${JSON.stringify(index.name)})`,
        typescript: `await table.prewarmIndex(${JSON.stringify(index.name)});`,
        rest: "# Send the query once more: the service keeps the parts in its cache.",
      },
    };
  },
};

/** Findings about searches by a vector. */
export const vectorRules: readonly Rule[] = [
  noVectorIndex,
  vectorIndexMetric,
  unindexedVectors,
  starvedPostfilter,
  refineCost,
  quantizedWithoutRefine,
  fewProbes,
  manyDeltas,
  coldCache,
];
