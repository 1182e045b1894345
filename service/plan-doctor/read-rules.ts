import {
  attributeOf,
  below,
  bytesRead,
  type Case,
  type Found,
  indexOf,
  named,
  percent,
  projectionOf,
  type Rule,
  readsTable,
  refineFilter,
  rowsRead,
  takesRows,
  textIndexOn,
} from "./case.ts";
import { addFlag, changeQuery, optimize } from "./fix.ts";
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

/** What a query returns by name; undefined for expressions. */
const returned = ({ query, facts }: Case): readonly string[] | undefined =>
  query.columns?.kind === "expressions" ? undefined : (query.columns?.names ?? facts.columns?.map(({ name }) => name));

/** Whether a filter names a column in tests for null alone. */
const onlyTestsForNull = (filter: string, column: string): boolean => {
  const name = String.raw`\b${RegExp.escape(column)}\b`;
  const rest = filter.replaceAll(new RegExp(`${name} IS (?:NOT )?NULL`, "g"), "");
  return rest !== filter && !new RegExp(name).test(rest);
};

/** A filter that asks of binary values only whether they are null, for which the engine reads them. */
const testedForNull = (examined: Case): Found | undefined => {
  for (const node of examined.nodes.filter(readsTable)) {
    const bytes = bytesRead(node) ?? 0;
    const column = (examined.facts.columns ?? []).find(
      ({ name, type }) =>
        /binary/.test(type) &&
        projectionOf(node).includes(name) &&
        returned(examined)?.includes(name) === false &&
        onlyTestsForNull(refineFilter(node) ?? "", name),
    )?.name;
    if (column === undefined || bytes < thresholds.droppedBytes.value) continue;
    return {
      node,
      evidence: [
        ["bytes read", bytes],
        ["column", column],
      ],
      why: "The filter asks whether the values are null, and the engine reads all of them to know.",
      fix: addFlag(examined, column),
    };
  }
  return undefined;
};

/** Rows that are sorted with their large values, of which few are returned. */
const droppedBySort = (examined: Case): Found | undefined => {
  const [sort] = named(examined, "SortExec");
  const node = sort && below(sort).find(readsTable);
  const rows = node && rowsRead(node);
  const bytes = node && bytesRead(node);
  if (!node || !sort || !rows || !bytes) return undefined;
  const wide = wideColumns(examined).map(({ name }) => name);
  const read = projectionOf(node).filter((name) => wide.includes(name));
  const kept = without(examined, read);
  const dropped = Math.round(bytes * (1 - (sort.rows_out ?? rows) / rows));
  if (kept === undefined || dropped < thresholds.droppedBytes.value) return undefined;
  return {
    node,
    evidence: [
      ["bytes read", bytes],
      ["rows read", rows],
      ["rows returned", sort.rows_out],
      ["wide columns", read.join(", ")],
    ],
    why: "The rows are sorted with all of their columns, so the large values of every row are read, and most are dropped.",
    fix: changeQuery(
      examined,
      { columns: { kind: "names", names: kept }, withRowId: true },
      "Sort without the wide columns, then read them for the rows that you show, by a filter on _rowid.",
    ),
  };
};

const unreturnedValues: Rule = {
  code: "unreturned-values",
  severity: "warning",
  title: "Large values are read and not returned",
  find: (examined) => droppedBySort(examined) ?? testedForNull(examined),
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
  unreturnedValues,
  deepOffset,
  fastSearchOmitsRows,
];
