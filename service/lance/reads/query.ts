import type { Query as ScanQuery, Table, VectorQuery } from "@lancedb/lancedb";
import { invalid } from "../../errors.ts";
import type { VerifiedQuery } from "../../guard/verify-query.ts";
import type { FullText } from "../../query/model.ts";
import type { VectorSearch } from "../../query/wire.ts";
import { buildClause, indexedColumns, needsColumns } from "./full-text.ts";

/** The SDK's default of both numbers of probes. Each setter checks it against the other, so their order matters. */
const defaultProbes = 20;

const applyProbes = (query: VectorQuery, { nprobes, minimumNprobes, maximumNprobes: maximum }: VectorSearch): void => {
  const isBounded = maximum !== undefined && maximum !== 0;
  if (isBounded && minimumNprobes !== undefined && maximum < minimumNprobes)
    throw invalid(
      `maximum_nprobes is ${maximum}, below minimum_nprobes (${minimumNprobes}): raise it, lower the other, or send 0 for all`,
    );
  const minimum = minimumNprobes ?? (isBounded ? Math.min(maximum, defaultProbes) : nprobes);
  // Sets both, so that the next setter is not checked against the default.
  if (minimum !== undefined) query.nprobes(minimum);
  if (maximum !== undefined) query.maximumNprobes(maximum);
};

const applyVector = (query: ScanQuery, vector: VectorSearch): VectorQuery => {
  const [first, ...more] = vector.vectors as [Float32Array, ...Float32Array[]];
  const search = query.nearestTo(first);
  for (const next of more) search.addQueryVector(next);
  if (vector.column !== undefined) search.column(vector.column);
  if (vector.distanceType !== undefined) search.distanceType(vector.distanceType as "l2" | "cosine" | "dot");
  if (vector.bypassIndex) search.bypassVectorIndex();
  if (vector.ef !== undefined) search.ef(vector.ef);
  if (vector.refineFactor !== undefined) search.refineFactor(vector.refineFactor);
  if (vector.lowerBound !== undefined || vector.upperBound !== undefined)
    search.distanceRange(vector.lowerBound, vector.upperBound);
  applyProbes(search, vector);
  return search;
};

const applyFullText = async (query: ScanQuery, fullText: FullText, table: Table): Promise<void> => {
  if (fullText.kind === "string") {
    query.fullTextSearch(fullText.query, fullText.columns.length > 0 ? { columns: [...fullText.columns] } : {});
    return;
  }
  const columns = needsColumns(fullText.clause) ? await indexedColumns(table) : [];
  query.fullTextSearch(buildClause(fullText.clause, columns));
};

/**
 * A vector search filters its result unless `prefilter` is true, like the catalog's reference implementation. Scans and
 * full-text searches always filter before: the SDK has no alternative.
 */
const applyFilter = (query: ScanQuery | VectorQuery, verified: VerifiedQuery): void => {
  const { filter, prefilter, vector } = verified;
  if (filter === undefined) return;
  if (filtersFullText(verified))
    throw invalid(
      "prefilter is false: a full-text search that filters what it found is two queries, which have no plan; send true or leave it out, or send the query to query",
    );
  query.where(filter);
  if (vector !== undefined && prefilter !== true) (query as VectorQuery).postfilter();
};

/** Whether a full-text search is to filter what it found. The SDK can do so for a vector search only. */
export const filtersFullText = ({ filter, prefilter, fullText }: VerifiedQuery): boolean =>
  filter !== undefined && fullText !== undefined && prefilter === false;

/**
 * Builds the SDK's query. Every field of the request is applied or rejected.
 * @throws ServiceError code 13 for fields that the SDK cannot express, native errors of the database.
 */
export const buildQuery = async (table: Table, query: VerifiedQuery): Promise<ScanQuery | VectorQuery> => {
  const scan = table.query();
  const built = query.vector === undefined ? scan : applyVector(scan, query.vector);
  if (query.fullText !== undefined) await applyFullText(scan, query.fullText, table);
  applyFilter(built, query);
  if (query.k !== "unlimited") built.limit(query.k);
  if (query.offset !== undefined) built.offset(query.offset);
  if (query.columns !== undefined)
    built.select(query.columns.kind === "names" ? [...query.columns.names] : new Map(query.columns.expressions));
  if (query.orderBy !== undefined && query.orderBy.length > 0) built.orderBy([...query.orderBy]);
  if (query.withRowId) built.withRowId();
  if (query.fastSearch) built.fastSearch();
  if (query.useLsm !== undefined) built.useLsm(query.useLsm);
  return built;
};
