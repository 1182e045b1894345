import type { Query } from "../query/wire.ts";
import type { Case } from "./case.ts";
import type { Fix, FixRequest, IndexFacts } from "./types.ts";

const quoted = (text: string): string => JSON.stringify(text);

/** Vectors of more numbers are named rather than printed. */
const maxPrintedNumbers = 64;

const call = (method: string, ...values: readonly (string | number | undefined)[]): string => {
  const given = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  return `.${method}(${given.map((value) => String(value)).join(", ")})`;
};

const when = (condition: boolean | undefined, ...calls: readonly string[]): readonly string[] =>
  condition ? calls : [];

const set = <T>(value: T | undefined, write: (value: T) => string): readonly string[] =>
  value === undefined ? [] : [write(value)];

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The calls that both SDKs have for a search. @param named the SDK's form of a name. @param absent its word for no value. */
const vectorCalls = ({ vector }: Query, named: (name: string) => string, absent: string): readonly string[] => [
  ...set(vector?.distanceType, (type) => call(named("distanceType"), quoted(type))),
  ...when(vector?.bypassIndex, call(named("bypassVectorIndex"))),
  ...set(vector?.ef, (ef) => call("ef", ef)),
  ...set(vector?.refineFactor, (factor) => call(named("refineFactor"), factor)),
  ...when(
    vector?.lowerBound !== undefined || vector?.upperBound !== undefined,
    call(named("distanceRange"), vector?.lowerBound ?? absent, vector?.upperBound),
  ),
  ...set(vector?.minimumNprobes ?? vector?.nprobes, (probes) => call("nprobes", probes)),
  ...set(vector?.maximumNprobes, (probes) => call(named("maximumNprobes"), probes)),
];

const limitOf = ({ k }: Query): number | undefined => (k === "unlimited" ? undefined : k);

const typescriptSelect = ({ columns }: Query): readonly string[] => {
  if (columns === undefined) return [];
  if (columns.kind === "names") return [call("select", `[${columns.names.map(quoted).join(", ")}]`)];
  const entries = columns.expressions.map(([alias, expression]) => `[${quoted(alias)}, ${quoted(expression)}]`);
  return [call("select", `new Map([${entries.join(", ")}])`)];
};

const typescriptText = ({ fullText }: Query): readonly string[] => {
  if (fullText === undefined) return [];
  if (fullText.kind === "structured") return [call("fullTextSearch", "fullTextQuery")];
  const columns = fullText.columns.map(quoted).join(", ");
  return [call("fullTextSearch", quoted(fullText.query), columns === "" ? undefined : `{ columns: [${columns}] }`)];
};

/** The calls that build a query; `table`, `vector`, `vectors` and `fullTextQuery` are the reader's own. */
const typescriptQuery = (query: Query): string => {
  const { vector } = query;
  const calls = [
    ...set(vector, ({ vectors }) => call("nearestTo", vectors.length > 1 ? "vectors[0]" : "vector")),
    ...(vector?.vectors ?? []).slice(1).map((_, index) => call("addQueryVector", `vectors[${index + 1}]`)),
    ...set(vector?.column, (column) => call("column", quoted(column))),
    ...vectorCalls(query, (name) => name, "undefined"),
    ...typescriptText(query),
    ...set(query.filter, (filter) => call("where", quoted(filter))),
    ...when(query.filter !== undefined && vector !== undefined && query.prefilter !== true, call("postfilter")),
    ...set(limitOf(query), (limit) => call("limit", limit)),
    ...set(query.offset, (offset) => call("offset", offset)),
    ...typescriptSelect(query),
    ...set(query.orderBy, (by) => call("orderBy", JSON.stringify(by))),
    ...when(query.withRowId, call("withRowId")),
    ...when(query.fastSearch, call("fastSearch")),
  ];
  return ["table", "  .query()", ...calls.map((line) => `  ${line}`)].join("\n");
};

const pythonSearch = ({ vector, fullText }: Query): string => {
  const column = vector?.column === undefined ? "" : `, vector_column_name=${quoted(vector.column)}`;
  if (vector !== undefined) return `table.search(${vector.vectors.length > 1 ? "vectors" : "vector"}${column})`;
  if (fullText === undefined) return "table.search()";
  if (fullText.kind === "structured") return 'table.search(full_text_query, query_type="fts")';
  const columns = fullText.columns.length === 0 ? "" : `, fts_columns=[${fullText.columns.map(quoted).join(", ")}]`;
  return `table.search(${quoted(fullText.query)}, query_type="fts"${columns})`;
};

const pythonSelect = ({ columns }: Query): readonly string[] => {
  if (columns === undefined) return [];
  if (columns.kind === "names") return [call("select", `[${columns.names.map(quoted).join(", ")}]`)];
  const entries = columns.expressions.map(([alias, expression]) => `${quoted(alias)}: ${quoted(expression)}`);
  return [call("select", `{${entries.join(", ")}}`)];
};

const pythonOrder = ({ orderBy }: Query): readonly string[] =>
  set(orderBy, (by) => {
    const columns = by.map(
      ({ columnName, ascending, nullsFirst }) =>
        `{"column_name": ${quoted(columnName)}, "ascending": ${ascending ? "True" : "False"}, "nulls_first": ${nullsFirst ? "True" : "False"}}`,
    );
    return call("order_by", `[${columns.join(", ")}]`);
  });

/** A query for LanceDB's Python SDK. `table`, `vector`, `vectors` and `full_text_query` are the reader's own. */
export const pythonQuery = (query: Query): string => {
  const { vector } = query;
  const prefilter = vector === undefined ? undefined : `prefilter=${query.prefilter === true ? "True" : "False"}`;
  const calls = [
    ...vectorCalls(query, snakeCase, "None"),
    ...set(query.filter, (filter) => call("where", quoted(filter), prefilter)),
    ...set(limitOf(query), (limit) => call("limit", limit)),
    ...set(query.offset, (offset) => call("offset", offset)),
    ...pythonSelect(query),
    ...pythonOrder(query),
    ...when(query.withRowId, call("with_row_id", "True")),
    ...when(query.fastSearch, call("fast_search")),
  ];
  return ["(", `    ${pythonSearch(query)}`, ...calls.map((line) => `    ${line}`), "    .to_arrow()", ")"].join("\n");
};

const wireVector = ({ vector }: Query): unknown => {
  if (vector === undefined) return undefined;
  const vectors = vector.vectors.map((one) => [...one]);
  if (vectors.flat().length > maxPrintedNumbers) return "(as in your request)";
  return vectors.length === 1 ? { single_vector: vectors[0] } : { multi_vector: vectors };
};

const wireColumns = ({ columns }: Query): unknown => {
  if (columns === undefined) return undefined;
  return columns.kind === "names"
    ? { column_names: columns.names }
    : { column_aliases: Object.fromEntries(columns.expressions) };
};

const wireText = ({ fullText }: Query): unknown => {
  if (fullText === undefined) return undefined;
  return fullText.kind === "structured"
    ? "(as in your request)"
    : { string_query: { query: fullText.query, columns: fullText.columns } };
};

const body = (query: Query): string => {
  const { vector } = query;
  return JSON.stringify({
    k: query.k === "unlimited" ? Number.MAX_SAFE_INTEGER : query.k,
    vector: wireVector(query),
    vector_column: vector?.column,
    distance_type: vector?.distanceType,
    bypass_vector_index: vector?.bypassIndex === true ? true : undefined,
    ef: vector?.ef,
    refine_factor: vector?.refineFactor,
    lower_bound: vector?.lowerBound,
    upper_bound: vector?.upperBound,
    nprobes: vector?.nprobes,
    minimum_nprobes: vector?.minimumNprobes,
    maximum_nprobes: vector?.maximumNprobes,
    full_text_query: wireText(query),
    filter: query.filter,
    prefilter: query.prefilter,
    offset: query.offset,
    columns: wireColumns(query),
    order_by: query.orderBy?.map(({ columnName, ascending, nullsFirst }) => ({
      column_name: columnName,
      ascending,
      nulls_first: nullsFirst,
    })),
    with_row_id: query.withRowId ? true : undefined,
    fast_search: query.fastSearch ? true : undefined,
    version: query.version,
    branch: query.branch,
  });
};

const path = (table: string, operation: string): string => `POST /v1/table/${encodeURIComponent(table)}/${operation}`;

/** The REST forms of a fix that changes the table. */
const writes = ({ table }: Case, requests: readonly FixRequest[]): Pick<Fix, "rest" | "write"> => ({
  rest: requests.map(({ operation, body }) => `${path(table, operation)}\n${JSON.stringify(body)}`).join("\n"),
  ...(requests.length === 1 ? { write: requests[0] } : {}),
});

/** An index belongs to the branch that the query reads. */
const branchOf = ({ query }: Case): { readonly branch?: string } =>
  query.branch === undefined ? {} : { branch: query.branch };

/** What a rule changes of a query; undefined removes a field. */
export type Change = { readonly [K in keyof Query]?: Query[K] | undefined } & {
  readonly search?: {
    readonly [K in keyof NonNullable<Query["vector"]>]?: NonNullable<Query["vector"]>[K] | undefined;
  };
};

const changed = (query: Query, { search, ...change }: Change): Query =>
  ({
    ...query,
    ...change,
    ...(query.vector === undefined ? {} : { vector: { ...query.vector, ...search } }),
  }) as Query;

/** The query with a change, as a whole. */
export const changeQuery = ({ query, table }: Case, change: Change, summary: string): Fix => {
  const next = changed(query, change);
  return {
    summary,
    python: pythonQuery(next),
    typescript: `const query = ${typescriptQuery(next)};\nawait query.toArrow();`,
    rest: `${path(table, "query")}\n${body(next)}`,
  };
};

/**
 * Compacts fragments, removes deleted rows and adds new rows to all indices. The service's own operation does so on main,
 * where the table's rule says that it is due.
 */
export const optimize = (examined: Case, summary: string, isDue = true): Fix => ({
  summary,
  python: "table.optimize()",
  typescript: "await table.optimize();",
  ...(isDue && examined.query.branch === undefined
    ? writes(examined, [{ operation: "maintain", body: {} }])
    : { rest: "# The service has no such operation: run the Python or the TypeScript line." }),
});

/** A column that holds whether another one has values. */
export const addFlag = (examined: Case, column: string): Fix => {
  const [name, expression] = [`has_${column}`, `\`${column}\` IS NOT NULL`];
  return {
    summary: `Keep the answer in a column of its own, and filter by ${name}: its values are a bit each. Writers fill it from then on.`,
    python: `table.add_columns({${quoted(name)}: ${quoted(expression)}})`,
    typescript: `await table.addColumns([{ name: ${quoted(name)}, valueSql: ${quoted(expression)} }]);`,
    rest: `${path(examined.table, "add_columns")}\n${JSON.stringify({ new_columns: [{ name, expression }], ...branchOf(examined) })}`,
  };
};

/** Constructors of the SDK by the type of index; the first is for a new index. */
const constructors: Readonly<Record<string, string>> = {
  IVF_PQ: "ivfPq",
  IVF_FLAT: "ivfFlat",
  IVF_SQ: "ivfSq",
  IVF_RQ: "ivfRq",
  IVF_HNSW_PQ: "hnswPq",
  IVF_HNSW_SQ: "hnswSq",
  IVF_HNSW_FLAT: "hnswFlat",
};

export const createVectorIndex = (
  examined: Case,
  column: string,
  metric: string,
  replaced: IndexFacts | undefined,
  summary: string,
): Fix => {
  const type = replaced !== undefined && Object.hasOwn(constructors, replaced.type) ? replaced.type : "IVF_PQ";
  const config = `lancedb.Index.${constructors[type]}({ distanceType: ${quoted(metric)} })`;
  const [wire, name] = [
    { column, index_type: type, distance_type: metric, ...branchOf(examined) },
    replaced === undefined ? [] : [`name=${quoted(replaced.name)}`],
  ];
  const options = [`config: ${config}`, ...(replaced === undefined ? [] : [`name: ${quoted(replaced.name)}`])];
  const python = [
    `vector_column_name=${quoted(column)}`,
    `index_type=${quoted(type)}`,
    `metric=${quoted(metric)}`,
    ...name,
  ];
  return {
    summary,
    python: `table.create_index(${python.join(", ")})`,
    typescript: `await table.createIndex(${quoted(column)}, { ${options.join(", ")} });`,
    ...writes(examined, [
      { operation: "create_index", body: replaced === undefined ? wire : { ...wire, name: replaced.name } },
    ]),
  };
};

export const createScalarIndices = (examined: Case, columns: readonly string[], summary: string): Fix => ({
  summary,
  python: columns.map((column) => `table.create_scalar_index(${quoted(column)}, index_type="BTREE")`).join("\n"),
  typescript: columns
    .map((column) => `await table.createIndex(${quoted(column)}, { config: lancedb.Index.btree() });`)
    .join("\n"),
  ...writes(
    examined,
    columns.map((column) => ({
      operation: "create_scalar_index",
      body: { column, index_type: "BTREE", ...branchOf(examined) },
    })),
  ),
});
