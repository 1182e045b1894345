import {
  attributeOf,
  bytesRead,
  type Case,
  indexOf,
  named,
  percent,
  type Rule,
  readsTable,
  refineFilter,
  rowsRead,
  textIndexOn,
  usesScalarIndex,
} from "./case.ts";
import { changeQuery, createScalarIndices, optimize } from "./fix.ts";
import { thresholds } from "./thresholds.ts";
import type { PlanNode } from "./types.ts";

const literal = /Utf8\(".*?"\)|\w+\([^()]*\)/g;

/** The column of a comparison that a scalar index can answer: `id = ?`, `id IN ([?, ?])`, `id BETWEEN ? AND ?`. */
const comparedColumn = (term: string, columns: readonly string[]): string | undefined =>
  columns.find((column) => new RegExp(`^${RegExp.escape(column)} (?:=|<=?|>=?|IN)(?: |$)`).test(term));

/** Columns with which a scalar index would answer a filter or a part of it; empty if none would. */
const indexable = ({ facts }: Case, filter: string): readonly string[] => {
  const columns = (facts.columns ?? []).filter(({ type }) => !type.includes("<")).map(({ name }) => name);
  const plain = filter.replaceAll(literal, "?");
  const terms = plain.split(/ (?:AND|OR) /).map((term) => comparedColumn(term.replace(/^\(+/, ""), columns));
  const found = [...new Set(terms.filter((column) => column !== undefined))];
  // With OR, one term without an index needs every row.
  return plain.includes(" OR ") && terms.includes(undefined) ? [] : found;
};

const hasScalarIndex = ({ facts }: Case, column: string): boolean =>
  facts.indices?.some(({ type, columns }) => columns.includes(column) && /BTREE|BITMAP/.test(type)) === true;

/** Columns of a node's filter that lack an index which would answer a part of it. */
const missingIndices = (examined: Case, node: PlanNode): readonly string[] => {
  const filter = refineFilter(node);
  if (filter === undefined || examined.facts.indices === null) return [];
  return indexable(examined, filter).filter((column) => !hasScalarIndex(examined, column));
};

const filterEvidence = (node: PlanNode) =>
  [
    ["rows scanned", rowsRead(node)],
    ["rows kept", node.rows_out],
    ["bytes read", bytesRead(node)],
  ] as const;

const keepsFew = (node: PlanNode): boolean => {
  const [read, kept] = [rowsRead(node), node.rows_out];
  if (read === null || kept === null || read < thresholds.filteredRows.value) return false;
  return percent(kept, read) <= thresholds.selectivePercent.value;
};

const isPrefilter = ({ parents }: Case, node: PlanNode): boolean =>
  ["ANNSubIndex", "MatchQuery", "PhraseQuery"].includes(parents.get(node)?.name ?? "");

const unindexedPrefilter: Rule = {
  code: "unindexed-prefilter",
  severity: "warning",
  title: "The filter before the search reads every row",
  find: (examined) => {
    const node = examined.nodes.find(
      (read) => readsTable(read) && isPrefilter(examined, read) && refineFilter(read) !== undefined,
    );
    if (node === undefined || usesScalarIndex(node)) return undefined;
    const columns = missingIndices(examined, node);
    const rows = rowsRead(node) ?? examined.facts.statistics?.rows ?? 0;
    if (columns.length === 0 || rows < thresholds.filteredRows.value) return undefined;
    return {
      node,
      evidence: filterEvidence(node),
      why: "The search uses an index, but the filter before it reads a column of the whole table.",
      fix: createScalarIndices(examined, columns, "Create a scalar index for the filter: no row is read for it."),
    };
  },
};

const missingScalarIndex: Rule = {
  code: "missing-scalar-index",
  severity: "warning",
  title: "A scalar index would answer the filter",
  find: (examined) => {
    const node = examined.nodes.find(
      (read) => readsTable(read) && !isPrefilter(examined, read) && !usesScalarIndex(read) && keepsFew(read),
    );
    const columns = node === undefined ? [] : missingIndices(examined, node);
    if (node === undefined || columns.length === 0) return undefined;
    return {
      node,
      evidence: filterEvidence(node),
      why: "The filter keeps few rows, and every row is read to find them.",
      fix: createScalarIndices(examined, columns, "Create a scalar index: only rows that match are read."),
    };
  },
};

const filterPartlyIndexed: Rule = {
  code: "filter-partly-indexed",
  severity: "warning",
  title: "A scalar index answers a part of the filter",
  find: (examined) => {
    const node = examined.nodes.find((read) => readsTable(read) && usesScalarIndex(read) && keepsFew(read));
    const columns = node === undefined ? [] : missingIndices(examined, node);
    if (node === undefined || columns.length === 0) return undefined;
    return {
      node,
      evidence: [...filterEvidence(node), ["left for each row", refineFilter(node)]],
      why: "The index finds the candidates; the rest of the filter reads each of them.",
      fix: createScalarIndices(examined, columns, "Create an index for the rest of the filter: fewer rows are read."),
    };
  },
};

const unindexedScalars: Rule = {
  code: "unindexed-scalars",
  severity: "warning",
  title: "Rows that the scalar index does not cover",
  find: (examined) => {
    for (const node of named(examined, "ScalarIndexQuery")) {
      const index = indexOf(examined, node);
      const rows = index?.unindexed_rows ?? 0;
      if (index === undefined || rows < thresholds.unindexedRows.value) continue;
      const read = examined.parents.get(node);
      return {
        node,
        evidence: [
          ["rows without index", rows],
          ["rows in the index", index.indexed_rows],
          ["rows scanned", read === undefined ? null : rowsRead(read)],
          ["rows kept", read?.rows_out],
        ],
        why: `The index ${index.name} does not cover rows that were added after it was built: each query reads them all.`,
        fix: optimize(examined, "Add the rows to the index: only rows that match are read."),
      };
    }
    return undefined;
  },
};

const unindexedText: Rule = {
  code: "unindexed-text",
  severity: "warning",
  title: "Rows that the full-text index does not cover",
  find: (examined) => {
    const [node] = named(examined, "FlatMatchQuery");
    if (node === undefined) return undefined;
    const index = textIndexOn(examined, attributeOf(node, "column"));
    const rows = node.rows_in ?? index?.unindexed_rows ?? 0;
    if (rows < thresholds.unindexedRows.value) return undefined;
    return {
      node,
      evidence: [
        ["rows without index", rows],
        ["rows in the index", index?.indexed_rows],
      ],
      why: "The text of rows that were added after the index was built is split into words in every query.",
      fix: optimize(examined, "Add the rows to the index: no query reads their text any more."),
    };
  },
};

const floats = /^(?:float|real|double)/i;

/** A bound for a whole number that has the same meaning as one with decimals. */
const wholeBound = (operator: string, bound: number): number | undefined => {
  if (Number.isInteger(bound)) return bound;
  if (operator === ">" || operator === "<=") return Math.floor(bound);
  return operator === ">=" || operator === "<" ? Math.ceil(bound) : undefined;
};

/** A filter without the cast of an indexed column of whole numbers; undefined if the meaning could differ. */
const withoutCast = (filter: string, column: string): string | undefined => {
  const name = `(?:${RegExp.escape(column)}|\`${RegExp.escape(column)}\`)`;
  const form = new RegExp(
    `\\bcast\\s*\\(\\s*(${name})\\s+as\\s+(\\w+)\\s*\\)\\s*(=|<=|>=|<|>)\\s*(-?\\d+(?:\\.\\d+)?)(?![\\w.])`,
    "i",
  );
  const match = form.exec(filter);
  if (match === null || !floats.test(match[2] ?? "")) return undefined;
  const [whole, written, , operator = "", digits] = match;
  const bound = wholeBound(operator, Number(digits));
  return bound === undefined || !Number.isSafeInteger(bound)
    ? undefined
    : filter.replace(whole, () => `${written} ${operator} ${bound}`);
};

const castInFilter: Rule = {
  code: "cast-in-filter",
  severity: "warning",
  title: "The filter casts the column and misses its index",
  find: (examined) => {
    const { query, facts } = examined;
    for (const node of examined.nodes.filter(readsTable)) {
      const rows = rowsRead(node) ?? facts.statistics?.rows ?? 0;
      const filter = refineFilter(node);
      if (filter === undefined || query.filter === undefined) continue;
      for (const { name, type } of facts.columns ?? []) {
        if (!/^u?int\d+$/.test(type) || !filter.includes(`CAST(${name} AS `) || !hasScalarIndex(examined, name))
          continue;
        const next = withoutCast(query.filter, name);
        if (next === undefined) continue;
        return {
          node,
          severity: rows < thresholds.filteredRows.value ? "info" : "warning",
          evidence: [...filterEvidence(node), ["filter", filter]],
          why: `The index of ${name} holds its values as they are stored, not as the cast makes them.`,
          fix: changeQuery(
            examined,
            { filter: next } as never,
            `Compare ${name} itself: the index answers the filter, and only rows that match are read.`,
          ),
        };
      }
    }
    return undefined;
  },
};

/** Findings about filters and full-text searches. */
export const filterRules: readonly Rule[] = [
  unindexedPrefilter,
  missingScalarIndex,
  filterPartlyIndexed,
  unindexedScalars,
  unindexedText,
  castInFilter,
];
