import {
  attributeOf,
  bytesRead,
  type Case,
  indexOf,
  named,
  percent,
  projectionOf,
  type Rule,
  readsTable,
  rowsRead,
  takesRows,
  textIndexOn,
} from "./case.ts";
import { changeQuery, optimize } from "./fix.ts";
import { metricValue } from "./parse.ts";
import { thresholds } from "./thresholds.ts";
import type { ColumnFacts, Fix } from "./types.ts";

const smallFragments: Rule = {
  code: "small-fragments",
  severity: "warning",
  title: "Many small fragments",
  find: (examined) => {
    const { statistics } = examined.facts;
    const node = examined.nodes.find(readsTable);
    if (node === undefined || statistics === null) return undefined;
    if (statistics.small_fragments < thresholds.smallFragments.value) return undefined;
    return {
      node,
      evidence: [
        ["small fragments", statistics.small_fragments],
        ["fragments", statistics.fragments],
        ["rows", statistics.rows],
        ["requests", metricValue(node.metrics, "requests")],
      ],
      why: "A query opens the files of each fragment that it reads, however few rows they have.",
      fix: optimize(examined, "Join the fragments: the same rows come from fewer files, with fewer requests."),
    };
  },
};

const deletedRows: Rule = {
  code: "deleted-rows",
  severity: "warning",
  title: "Many deleted rows are still stored",
  find: (examined) => {
    const { statistics } = examined.facts;
    const node = examined.nodes.find(readsTable);
    if (node === undefined || statistics === null) return undefined;
    const stored = statistics.rows + statistics.deleted_rows;
    if (percent(statistics.deleted_rows, stored) < thresholds.deletedPercent.value) return undefined;
    if (statistics.deleted_rows < thresholds.unindexedRows.value) return undefined;
    return {
      node,
      evidence: [
        ["deleted rows", statistics.deleted_rows],
        ["percent of the stored rows", percent(statistics.deleted_rows, stored)],
        ["bytes read", bytesRead(node)],
      ],
      why: "Deleted rows stay in the files, and queries read them along with the others.",
      fix: optimize(examined, "Write the files without the deleted rows: queries read fewer bytes."),
    };
  },
};

const wideType = /list|binary|struct|map/;

/** Columns that hold most of a row's bytes by their type. */
const wideColumns = ({ facts }: Case): readonly ColumnFacts[] =>
  (facts.columns ?? []).filter(({ type }) => wideType.test(type));

/** The columns that a query returns, less some; undefined if none would remain. */
const without = ({ query, facts }: Case, left: readonly string[]): readonly string[] | undefined => {
  if (query.columns?.kind === "expressions") return undefined;
  const all = query.columns?.names ?? facts.columns?.map(({ name }) => name) ?? [];
  const kept = all.filter((name) => !left.includes(name));
  return kept.length === 0 || kept.length === all.length ? undefined : kept;
};

const unneededColumns: Rule = {
  code: "wide-columns",
  severity: "info",
  title: "The query returns vectors",
  find: (examined) => {
    if (examined.query.columns !== undefined) return undefined;
    const names = wideColumns(examined).map(({ name }) => name);
    const reads = examined.nodes.filter(
      (node) => (readsTable(node) || takesRows(node)) && projectionOf(node).some((name) => names.includes(name)),
    );
    const kept = without(examined, names);
    const bytes = reads.reduce((sum, read) => sum + (bytesRead(read) ?? 0), 0);
    const [node] = reads;
    if (node === undefined || kept === undefined || bytes < thresholds.wideBytes.value) return undefined;
    return {
      node,
      evidence: [
        ["bytes read", bytes],
        ["wide columns", names.join(", ")],
      ],
      why: "The query names no columns, so it returns all; vectors and binary values are most of their bytes.",
      fix: changeQuery(
        examined,
        { columns: { kind: "names", names: kept } },
        "Name the columns that you need: the others are not read.",
      ),
    };
  },
};

const rowByRowReads: Rule = {
  code: "row-by-row-reads",
  severity: "info",
  title: "Columns are read row by row",
  find: (examined) => {
    const node = examined.nodes.find((read) => {
      const rows = rowsRead(read) ?? 0;
      const reads = metricValue(read.metrics, "iops") ?? 0;
      return takesRows(read) && rows >= thresholds.takenRows.value && reads >= rows * thresholds.readsPerRow.value;
    });
    if (node === undefined) return undefined;
    const taken = projectionOf(node);
    const kept = without(examined, taken);
    if (kept === undefined) return undefined;
    return {
      node,
      evidence: [
        ["rows", rowsRead(node)],
        ["reads", metricValue(node.metrics, "iops")],
        ["columns", taken.join(", ")],
      ],
      why: "These columns are read after the filter, each row with a read of its own.",
      fix: changeQuery(
        examined,
        { columns: { kind: "names", names: kept } },
        "Leave the wide columns out, or read them for the rows that you show: far fewer reads.",
      ),
    };
  },
};

/** Stands in the fix for a number of the reader's own: `_distance` of the last row of the page before. */
const lastDistance = "<last distance>";

const afterLastPage = ({ python, typescript, ...fix }: Fix): Fix => ({
  ...fix,
  python: python.replace(lastDistance, "last_distance"),
  typescript: typescript.replace(lastDistance, "lastDistance"),
});

const deepOffset: Rule = {
  code: "deep-offset",
  severity: "info",
  title: "Most rows that were ranked are skipped",
  find: (examined) => {
    const { query } = examined;
    const node = named(examined, "GlobalLimitExec").find(
      (limit) => Number(attributeOf(limit, "skip") ?? 0) >= thresholds.skippedRows.value,
    );
    // Other queries have no position to continue from that the engine can seek.
    if (node === undefined || query.vector?.vectors.length !== 1) return undefined;
    return {
      node,
      evidence: [
        ["rows skipped", Number(attributeOf(node, "skip"))],
        ["rows returned", node.rows_out],
      ],
      why: "The search ranks all rows before the page as well, and throws them away.",
      fix: afterLastPage(
        changeQuery(
          examined,
          { offset: undefined, search: { lowerBound: lastDistance as never } },
          "Continue at the last _distance of the page before: only the rows of this page are ranked.",
        ),
      ),
    };
  },
};

const fastSearchOmitsRows: Rule = {
  code: "fast-search-omits-rows",
  severity: "info",
  title: "fast_search leaves rows out",
  find: (examined) => {
    if (!examined.query.fastSearch) return undefined;
    for (const node of named(examined, "ANNSubIndex", "MatchQuery", "PhraseQuery")) {
      const index = indexOf(examined, node) ?? textIndexOn(examined, attributeOf(node, "column"));
      if (index === undefined || (index.unindexed_rows ?? 0) === 0) continue;
      return {
        node,
        evidence: [
          ["rows left out", index.unindexed_rows],
          ["rows in the index", index.indexed_rows],
        ],
        why: "fast_search returns rows of the index only; rows that were added later are never in a result.",
        fix: optimize(
          examined,
          "Add the rows to the index: fast_search finds them.",
          (index.unindexed_rows ?? 0) >= thresholds.unindexedRows.value,
        ),
      };
    }
    return undefined;
  },
};

/** Findings about the files of a table and what a query returns of them. */
export const readRules: readonly Rule[] = [
  smallFragments,
  deletedRows,
  unneededColumns,
  rowByRowReads,
  deepOffset,
  fastSearchOmitsRows,
];
