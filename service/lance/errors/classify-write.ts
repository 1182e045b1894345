import { ServiceError } from "../../errors.ts";
import { classify, findMeaning, isExhausted, type Meaning, missingColumn, quotable } from "./classify.ts";

const named = (name: string, before: string, after: string): string =>
  quotable.test(name) ? `${before} "${name}" ${after}` : `${before} ${after}`;

const ambiguousColumn = (name: string): string =>
  named(name, "the column", "is ambiguous: write target.column for the table's, or source.column for that of the rows");

export const blobsNeedTable =
  "the table's file format has no blob columns of this kind (lance-encoding:blob): create a table with them";

/**
 * Native errors of writes. `test/service/lance/classify-write.test.ts` provokes each row on the real database. All of them
 * are found before the commit, so the table is unchanged.
 */
export const writeMeanings: readonly Meaning[] = [
  { pattern: /^Table '[^']*' already exists/, code: 5 },
  { pattern: /^Namespace already exists/, code: 2 },
  { pattern: /^Namespace not empty/, code: 3 },
  { pattern: /^Dataset already exists: \S*\/tree\//, code: 23 },
  { pattern: /^Encountered internal error\. .*Clone operation should not enter build_manifest/, code: 23 },
  // Another writer created the table or namespace.
  { pattern: /^Concurrent modification: Object /, code: 14 },
  { pattern: /^Lance index not found/, code: 6 },
  {
    pattern: /^Ref conflict error: Branch/,
    code: 19,
    say: () => "other branches start from this branch: delete them first",
  },
  {
    pattern: /^Too (?:much write contention|many concurrent writers)/,
    code: 14,
    say: () => "other writers changed the same rows at the same time, also after several retries: send the write again",
  },
  {
    pattern: /Index name '(.+?)' already exists, please specify a different name/s,
    code: 7,
    say: (name) => named(name, "the index", "already exists: send replace: true, another name, or drop it first"),
  },
  {
    pattern: /^Index name '(.+?)' already exists with different fields/s,
    code: 7,
    say: (name) => named(name, "the index", "exists on other columns: choose another name, or drop it first"),
  },
  { pattern: /^Column '?"?(.+?)"?'? does not exist in (?:the )?dataset/s, code: 12, say: missingColumn },
  { pattern: /^Merge insert key column '(.+?)' does not exist/s, code: 12, say: missingColumn },
  { pattern: /^Field path `(.+?)` not found in schema/s, code: 12, say: missingColumn },
  { pattern: /^Field '(.+?)' not found\./s, code: 12, say: missingColumn },
  {
    pattern: /^(?:field|Field) '(.+?)' does not exist in table schema/s,
    code: 20,
    say: (name) =>
      named(name, "the rows have the column", "which the table lacks: leave it out, or add it to the table first"),
  },
  {
    pattern: /^Append with different schema/,
    code: 20,
    say: () => "the columns of the rows differ from those of the table",
  },
  {
    pattern: /^cannot cast field '(.+?)' from/s,
    code: 20,
    say: (name) => named(name, "the column", "has another type or another number of dimensions in the table"),
  },
  {
    pattern: /^The field `(.+?)` contained null values even though/s,
    code: 20,
    say: (name) => named(name, "the column", "must not contain null"),
  },
  {
    pattern: /^(?:Compute error: )?Vector column contains NaN values/,
    code: 20,
    say: () => "a vector contains NaN: replace or remove it",
  },
  {
    pattern: /^Column (.+?) already exists in the dataset/s,
    code: 20,
    say: (name) => named(name, "the column", "exists: choose another name, or drop it first"),
  },
  {
    pattern: /^Duplicate field name "(.+?)" in schema/s,
    code: 20,
    say: (name) => named(name, "the column", "would exist twice: choose another name"),
  },
  {
    pattern: /[Cc]olumn '(.+?)' is computed; its values come from refresh/s,
    code: 20,
    say: (name) => named(name, "the column", "is computed: leave it out of the rows; backfill_column fills it"),
  },
  {
    pattern: /[Cc]olumn '(.+?)' is read by computed column/s,
    // Not code 19: LanceDB's client repeats a 409.
    code: 20,
    say: (name) =>
      named(name, "the column", "is an input of a computed column: drop that column first, in a request of its own"),
  },
  {
    pattern: /metadata keys of a computed-column declaration cannot be edited \(path '(.+?)'\)/s,
    code: 20,
    say: (name) =>
      named(name, "the column", "is computed, and these keys declare it: drop the column and add it again"),
  },
  {
    pattern: /^Invalid input, materialized views require stable row ids on the source table/,
    code: 19,
    say: () =>
      "the table has no stable row ids, which a view needs, and which a table gets only when it is created: with LAKEHEAD_STABLE_ROW_IDS=on, create it anew from its rows",
  },
  {
    pattern: /^Invalid input, invalid view filter: unknown column '(.+?)'/s,
    code: 12,
    say: missingColumn,
  },
  {
    pattern: /^Invalid input, (?:invalid view filter|view filter must be)/,
    code: 13,
    say: () =>
      "the query's WHERE is no predicate over columns of the table: write one that is true or false for each row",
  },
  {
    pattern: /^Invalid input, view column name '(.+?)' is reserved/s,
    code: 13,
    say: (name) => named(name, "the column name", "is reserved: choose another after AS"),
  },
  {
    pattern: /^(?:Schema Error: )?the stored definition of view/,
    code: 20,
    say: () =>
      "the columns of the view or of its source have changed since it was created: drop the view, and create it again",
  },
  {
    pattern: /Invalid expression for column '.+?': unknown column '(.+?)'/s,
    code: 12,
    say: missingColumn,
  },
  {
    pattern: /Invalid expression for column '(.+?)': /s,
    code: 13,
    say: (name) =>
      named(
        name,
        "the expression of the column",
        "cannot be computed for each row alone, or always to the same value: use functions of the row's own columns",
      ),
  },
  {
    pattern: /^Column '(.+?)' already exists/s,
    code: 20,
    say: (name) => named(name, "the column", "exists: choose another name, or drop it first"),
  },
  {
    pattern: /^Cannot cast column "(.+?)" from/s,
    code: 20,
    say: (name) => named(name, "the column", "cannot be cast to this type: add a column with an expression instead"),
  },
  {
    pattern: /^Column "(.+?)" contains NULL values and cannot be made non-nullable/s,
    code: 20,
    say: (name) => named(name, "the column", "contains null, so it must stay nullable"),
  },
  {
    pattern: /^Invalid data type: /,
    code: 13,
    say: () => 'data_type is not a type: write for instance {"type": "float"}',
  },
  {
    pattern: /^Alteration must have/,
    code: 13,
    say: () => "an alteration changes nothing: set rename, nullable or data_type",
  },
  {
    pattern: /^Cannot drop all columns/,
    code: 13,
    say: () => "a table keeps at least one column: drop the table instead",
  },
  {
    pattern: /^The merge insert job is not configured to change/,
    code: 13,
    say: () =>
      "the merge changes nothing: set when_matched_update_all, when_not_matched_insert_all or when_not_matched_by_source_delete",
  },
  {
    pattern: /^(?:Ambiguous merge insert|.*multiple source rows match)/s,
    code: 13,
    say: () => "several of the new rows match the same row of the table: send each key once",
  },
  {
    pattern: /^A [\w ]{1,40} index cannot be created on the field/,
    code: 20,
    say: () => "the type of the column does not permit this type of index",
  },
  {
    pattern: /^Unprocessable: Not enough rows to train PQ\. Requires (\d+) rows/,
    code: 19,
    say: (rows) => `the table has too few rows for this index: it needs ${rows}; until then use IVF_FLAT, or no index`,
  },
  {
    pattern: /Cannot create \d+ IVF partitions: k-means could only form (\d+)/,
    code: 13,
    say: (formed) => `the vectors differ too little for so many partitions: set num_partitions to ${formed} or less`,
  },
  {
    pattern: /^Unprocessable: KMeans cannot train/,
    code: 13,
    say: () => "num_partitions is larger than the number of rows: reduce it, or leave it out",
  },
  {
    pattern: /^ProductQuantization: num_bits/,
    code: 13,
    say: () => "num_bits is not supported: use 8, or 4",
  },
  {
    pattern: /^(?:PQ num_sub_vectors|num_sub_vectors|dimension .* (?:must|should) be divisible)/i,
    code: 13,
    say: () => "num_sub_vectors must divide the number of dimensions",
  },
  {
    pattern: /^unknown base tokenizer/,
    code: 13,
    say: () => "base_tokenizer is not known: use simple, whitespace, raw, ngram, icu or icu/split",
  },
  {
    pattern: /^External blob URI/,
    code: 20,
    say: () => "a blob is an address outside of the database: send its bytes in data instead of uri",
  },
  {
    pattern: /^Blob v2 field .* must set exactly one of/,
    code: 20,
    say: () => "a blob must have either data or uri: send a blob without bytes as null, and not as a struct of nulls",
  },
  {
    pattern: /^Legacy blob columns/,
    code: 20,
    say: () => blobsNeedTable,
  },
  {
    pattern: /^All-null columns must be nullable, but field '(.+?)' is not/s,
    code: 20,
    say: (name) => named(name, "the column", "has no values yet, so it must be nullable"),
  },
  // The SDK decodes rows before it writes any.
  {
    pattern: /^Failed to read (?:IPC file|record batch)/,
    code: 13,
    say: () => "the rows are not valid Arrow data: write them with an Arrow library",
  },
  {
    pattern: /^vector dimension must be divisible by 8/,
    code: 20,
    say: () => "IVF_RQ needs vectors whose number of dimensions is a multiple of 8: use another type of index",
  },
  // The first is of a merge without an index on its key, the second of one with it.
  { pattern: /^Schema error: Ambiguous reference to unqualified field "?([^"]+?)"?$/, code: 13, say: ambiguousColumn },
  {
    pattern: /^Schema error: No field named "?(.+?)"?\. Valid fields are source, target\.$/s,
    code: 13,
    say: ambiguousColumn,
  },
  {
    pattern: /^(?:Schema(?! error: No field named)|LanceError\(Schema\))/,
    code: 20,
    say: () => "the schema of the rows is not supported",
  },
  { pattern: /^Cast error: /, code: 20, say: () => "a value cannot be cast to the type of its column" },
];

/** The remedy for a write whose outcome is unknown. */
export const outcomeUnknown = (cause?: unknown, reason?: string): ServiceError =>
  new ServiceError(18, {
    transport: "outcomeUnknown",
    message: `${reason === undefined ? "" : `${reason}: `}the outcome of the write is unknown: it may have been committed; read the table before you send the write again`,
    cause,
  });

/**
 * The error of a call that may have committed. A failure of the store, and every unknown one, may have happened after the
 * commit.
 */
export const classifyWrite = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error;
  const known = findMeaning(error, writeMeanings) ?? classify(error);
  if (known.code === 18) return outcomeUnknown(error);
  // A full disk refuses the write.
  if (known.code === 17 && (known.dependency === "store" || isExhausted(known))) return outcomeUnknown(error);
  return known;
};
