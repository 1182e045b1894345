import { ServiceError } from "../../errors.ts";
import { classify, findMeaning, isExhausted, type Meaning, means, missingColumn, quotable } from "./classify.ts";

const named = (name: string, before: string, after: string): string =>
  quotable.test(name) ? `${before} "${name}" ${after}` : `${before} ${after}`;

const ofColumn =
  (after: string) =>
  (name: string): string =>
    named(name, "the column", after);

const ambiguousColumn = ofColumn(
  "is ambiguous: write target.column for the table's, or source.column for that of the rows",
);

export const blobsNeedTable =
  "the table's file format has no blob columns of this kind (lance-encoding:blob): create a table with them";

/**
 * Native errors of writes. `test/service/lance/classify-write.test.ts` provokes each row on the real database. All of them
 * are found before the commit, so the table is unchanged.
 */
export const writeMeanings: readonly Meaning[] = [
  means(5, /^Table '[^']*' already exists/),
  means(2, /^Namespace already exists/),
  means(3, /^Namespace not empty/),
  means(23, /^Dataset already exists: \S*\/tree\//),
  means(23, /^Encountered internal error\. .*Clone operation should not enter build_manifest/),
  // Another writer created the table or namespace.
  means(14, /^Concurrent modification: Object /),
  means(6, /^Lance index not found/),
  means(19, /^Ref conflict error: Branch/, "other branches start from this branch: delete them first"),
  means(
    14,
    /^Too (?:much write contention|many concurrent writers)/,
    "other writers changed the same rows at the same time, also after several retries: send the write again",
  ),
  means(7, /Index name '(.+?)' already exists, please specify a different name/s, (name) =>
    named(name, "the index", "already exists: send replace: true, another name, or drop it first"),
  ),
  means(7, /^Index name '(.+?)' already exists with different fields/s, (name) =>
    named(name, "the index", "exists on other columns: choose another name, or drop it first"),
  ),
  means(12, /^Column '?"?(.+?)"?'? does not exist in (?:the )?dataset/s, missingColumn),
  means(12, /^Merge insert key column '(.+?)' does not exist/s, missingColumn),
  means(12, /^Field path `(.+?)` not found in schema/s, missingColumn),
  means(12, /^Field '(.+?)' not found\./s, missingColumn),
  means(20, /^(?:field|Field) '(.+?)' does not exist in table schema/s, (name) =>
    named(name, "the rows have the column", "which the table lacks: leave it out, or add it to the table first"),
  ),
  means(20, /^Append with different schema/, "the columns of the rows differ from those of the table"),
  means(
    20,
    /^cannot cast field '(.+?)' from/s,
    ofColumn("has another type or another number of dimensions in the table"),
  ),
  means(20, /^The field `(.+?)` contained null values even though/s, ofColumn("must not contain null")),
  means(20, /^(?:Compute error: )?Vector column contains NaN values/, "a vector contains NaN: replace or remove it"),
  means(20, /^Column (.+?) already exists in the dataset/s, ofColumn("exists: choose another name, or drop it first")),
  means(20, /^Duplicate field name "(.+?)" in schema/s, ofColumn("would exist twice: choose another name")),
  means(
    20,
    /[Cc]olumn '(.+?)' is computed; its values come from refresh/s,
    ofColumn("is computed: leave it out of the rows; backfill_column fills it"),
  ),
  // Not code 19: LanceDB's client repeats a 409.
  means(
    20,
    /[Cc]olumn '(.+?)' is read by computed column/s,
    ofColumn("is an input of a computed column: drop that column first, in a request of its own"),
  ),
  means(
    20,
    /metadata keys of a computed-column declaration cannot be edited \(path '(.+?)'\)/s,
    ofColumn("is computed, and these keys declare it: drop the column and add it again"),
  ),
  means(
    19,
    /^Invalid input, (?:materialized views require stable row ids on the source table|source table '.*?' does not have stable row ids)/s,
    "the table has no stable row ids, which a view needs, and which a table gets only when it is created: with LAKEHEAD_STABLE_ROW_IDS=on, create it anew from its rows",
  ),
  means(12, /^Invalid input, invalid view filter: unknown column '(.+?)'/s, missingColumn),
  means(
    13,
    /^Invalid input, (?:invalid view filter|view filter must be)/,
    "the query's WHERE is no predicate over columns of the table: write one that is true or false for each row",
  ),
  means(13, /^Invalid input, view column name '(.+?)' is reserved/s, (name) =>
    named(name, "the column name", "is reserved: choose another after AS"),
  ),
  means(
    20,
    /^(?:Schema Error: )?the stored definition of view/,
    "the columns of the view or of its source have changed since it was created: drop the view, and create it again",
  ),
  means(12, /Invalid expression for column '.+?': unknown column '(.+?)'/s, missingColumn),
  means(13, /Invalid expression for column '(.+?)': /s, (name) =>
    named(
      name,
      "the expression of the column",
      "cannot be computed for each row alone, or always to the same value: use functions of the row's own columns",
    ),
  ),
  means(20, /^Column '(.+?)' already exists/s, ofColumn("exists: choose another name, or drop it first")),
  means(
    20,
    /^Cannot cast column "(.+?)" from/s,
    ofColumn("cannot be cast to this type: add a column with an expression instead"),
  ),
  means(
    20,
    /^Column "(.+?)" contains NULL values and cannot be made non-nullable/s,
    ofColumn("contains null, so it must stay nullable"),
  ),
  means(13, /^Invalid data type: /, 'data_type is not a type: write for instance {"type": "float"}'),
  means(13, /^Alteration must have/, "an alteration changes nothing: set rename, nullable or data_type"),
  means(13, /^Cannot drop all columns/, "a table keeps at least one column: drop the table instead"),
  means(
    13,
    /^The merge insert job is not configured to change/,
    "the merge changes nothing: set when_matched_update_all, when_not_matched_insert_all or when_not_matched_by_source_delete",
  ),
  means(
    13,
    /^(?:Ambiguous merge insert|.*multiple source rows match)/s,
    "several of the new rows match the same row of the table: send each key once",
  ),
  means(
    20,
    /^A [\w ]{1,40} index cannot be created on the field/,
    "the type of the column does not permit this type of index",
  ),
  means(
    19,
    /^Unprocessable: Not enough rows to train PQ\. Requires (\d+) rows/,
    (rows) => `the table has too few rows for this index: it needs ${rows}; until then use IVF_FLAT, or no index`,
  ),
  means(
    13,
    /Cannot create \d+ IVF partitions: k-means could only form (\d+)/,
    (formed) => `the vectors differ too little for so many partitions: set num_partitions to ${formed} or less`,
  ),
  means(
    13,
    /^Unprocessable: KMeans cannot train/,
    "num_partitions is larger than the number of rows: reduce it, or leave it out",
  ),
  means(13, /^ProductQuantization: num_bits/, "num_bits is not supported: use 8, or 4"),
  means(
    13,
    /^(?:PQ num_sub_vectors|num_sub_vectors|dimension .* (?:must|should) be divisible)/i,
    "num_sub_vectors must divide the number of dimensions",
  ),
  means(
    13,
    /^unknown base tokenizer/,
    "base_tokenizer is not known: use simple, whitespace, raw, ngram, icu or icu/split",
  ),
  means(
    20,
    /^External blob URI/,
    "a blob is an address outside of the database: send its bytes in data instead of uri",
  ),
  means(
    20,
    /^Blob v2 field .* must set exactly one of/,
    "a blob must have either data or uri: send a blob without bytes as null, and not as a struct of nulls",
  ),
  means(20, /^Legacy blob columns/, blobsNeedTable),
  means(
    20,
    /^All-null columns must be nullable, but field '(.+?)' is not/s,
    ofColumn("has no values yet, so it must be nullable"),
  ),
  // The SDK decodes rows before it writes any.
  means(
    13,
    /^Failed to read (?:IPC file|record batch)/,
    "the rows are not valid Arrow data: write them with an Arrow library",
  ),
  means(
    20,
    /^vector dimension must be divisible by 8/,
    "IVF_RQ needs vectors whose number of dimensions is a multiple of 8: use another type of index",
  ),
  // The first is of a merge without an index on its key, the second of one with it.
  means(13, /^Schema error: Ambiguous reference to unqualified field "?([^"]+?)"?$/, ambiguousColumn),
  means(13, /^Schema error: No field named "?(.+?)"?\. Valid fields are source, target\.$/s, ambiguousColumn),
  means(20, /^(?:Schema(?! error: No field named)|LanceError\(Schema\))/, "the schema of the rows is not supported"),
  means(20, /^Cast error: /, "a value cannot be cast to the type of its column"),
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
