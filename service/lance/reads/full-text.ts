import {
  BooleanQuery,
  BoostQuery,
  type FullTextQuery,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  Operator,
  PhraseQuery,
  type Table,
} from "@lancedb/lancedb";
import { invalid } from "../../errors.ts";
import type { Clause, MatchClause } from "../../query/model.ts";

const operators = { AND: Operator.And, OR: Operator.Or } as const;

/** Whether a clause names no column. */
export const needsColumns = (clause: Clause): boolean => {
  switch (clause.kind) {
    case "match":
    case "phrase":
      return clause.column === undefined;
    case "multi_match":
      return false;
    case "boost":
      return needsColumns(clause.positive) || needsColumns(clause.negative);
    case "boolean":
      return [...clause.must, ...clause.should, ...clause.mustNot].some(needsColumns);
  }
};

/** The columns that have a full-text index, in the order of their indices. */
export const indexedColumns = async (table: Table): Promise<string[]> => {
  const indices = await table.listIndices();
  return indices.filter(({ indexType }) => indexType === "FTS").flatMap(({ columns }) => columns);
};

const oneOf = (columns: readonly string[], clause: string): string => {
  const [column, ...others] = columns;
  if (column === undefined)
    throw invalid("no column of the table has a full-text index: create one, or set column in the clause");
  if (others.length > 0)
    throw invalid(`the table has several columns with a full-text index: set column in the ${clause} clause`);
  return column;
};

const buildMatch = (clause: MatchClause, columns: readonly string[]): FullTextQuery => {
  const plain = clause.fuzziness === 0 && clause.maxExpansions === 50 && clause.prefixLength === 0;
  // Without a column, the engine searches all of them. The SDK needs their names for that, and its multi-match has no fuzziness.
  if (clause.column === undefined && columns.length > 1 && plain)
    return new MultiMatchQuery(clause.terms, [...columns], {
      boosts: columns.map(() => clause.boost),
      operator: operators[clause.operator],
    });
  return new MatchQuery(clause.terms, clause.column ?? oneOf(columns, "match"), {
    boost: clause.boost,
    fuzziness: clause.fuzziness,
    maxExpansions: clause.maxExpansions,
    operator: operators[clause.operator],
    prefixLength: clause.prefixLength,
  });
};

/**
 * Builds the SDK's full-text query.
 * @param columns with a full-text index, for clauses that name none.
 * @throws ServiceError code 13 for a clause that the SDK cannot express.
 */
export const buildClause = (clause: Clause, columns: readonly string[]): FullTextQuery => {
  const build = (child: Clause): FullTextQuery => buildClause(child, columns);
  switch (clause.kind) {
    case "match":
      return buildMatch(clause, columns);
    case "phrase":
      return new PhraseQuery(clause.terms, clause.column ?? oneOf(columns, "phrase"), { slop: clause.slop });
    case "multi_match":
      return new MultiMatchQuery(clause.terms, [...clause.columns], {
        boosts: [...clause.boosts],
        operator: operators[clause.operator],
      });
    case "boost":
      return new BoostQuery(
        build(clause.positive),
        build(clause.negative),
        clause.negativeBoost === undefined ? {} : { negativeBoost: clause.negativeBoost },
      );
    case "boolean":
      return new BooleanQuery([
        ...clause.must.map((child): [Occur, FullTextQuery] => [Occur.Must, build(child)]),
        ...clause.should.map((child): [Occur, FullTextQuery] => [Occur.Should, build(child)]),
        ...clause.mustNot.map((child): [Occur, FullTextQuery] => [Occur.MustNot, build(child)]),
      ]);
  }
};
