import { z } from "zod";
import { invalid, ServiceError } from "../../errors.ts";
import { type IndexType, indexTypes } from "../../lance/writes/index-types.ts";
import { distanceType, optional } from "../../query/fields.ts";
import { listOf, maxSizes } from "../../query/lists.ts";
import { defineOperation } from "../operation.ts";
import { branchField } from "../shared/common-fields.ts";
import { branchOf, columnPath, committed, transactionAnswer } from "../shared/write.ts";

const whole = (max: number) =>
  optional(z.int({ error: "must be a whole number" }).min(1, { error: "must be 1 or greater" }).max(max));
/** A number with which the time of a build grows. */
const costly = (max: number) =>
  optional(
    z
      .int({ error: "must be a whole number" })
      .min(1, { error: "must be 1 or greater" })
      .max(max, {
        error: ({ input }) => `must be at most ${max}, not ${input}: the time in which an index is built grows with it`,
      }),
  );
const flag = optional(z.boolean());

/** An option of the engine that LanceDB's clients always send and the SDK cannot set. */
const off = optional(
  z.literal(false, { error: "is not supported by the database's SDK: send false, or remove it" }),
).describe("Always false");

const tokenizers = ["simple", "whitespace", "raw", "ngram", "icu", "icu/split"] as const;

const tokenizer = z
  .string()
  .meta({ enum: tokenizers })
  .transform((value, context) => {
    const known = tokenizers.find((each) => each === value);
    if (known !== undefined) return known;
    const message = /^(?:jieba|lindera)\//.test(value)
      ? "needs the files of a language model, which this service does not have: use icu"
      : `must be one of ${tokenizers.join(", ")}`;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

/** The engine ends its process for another language. */
const languages = [
  "Arabic",
  "Danish",
  "Dutch",
  "English",
  "Finnish",
  "French",
  "German",
  "Greek",
  "Hungarian",
  "Italian",
  "Norwegian",
  "Portuguese",
  "Romanian",
  "Russian",
  "Spanish",
  "Swedish",
  "Tamil",
  "Turkish",
] as const;

const body = z.object({
  column: columnPath,
  index_type: z
    .string()
    .meta({ enum: indexTypes })
    .transform((value) => value.toUpperCase())
    .describe("Type of the index"),
  name: optional(z.string().max(200)).describe(
    "Default: the column's name with _idx; an index of that name is replaced unless replace is false",
  ),
  distance_type: optional(distanceType),
  metric_type: optional(distanceType).describe("The same as distance_type"),
  num_partitions: costly(65_536),
  num_sub_vectors: whole(65_536),
  num_bits: whole(8),
  // Ten times the engine's defaults, and sixteen times.
  max_iterations: costly(500),
  sample_rate: costly(4096),
  // The time grows with their product, which is at most some seventeen times that of the engine's defaults, 20 and 300.
  m: costly(100),
  ef_construction: costly(1000),
  with_position: flag,
  base_tokenizer: optional(tokenizer),
  language: optional(z.enum(languages)),
  max_token_length: whole(1_000_000),
  lower_case: flag,
  stem: flag,
  remove_stop_words: flag,
  custom_stop_words: optional(
    listOf(z.string().max(128), maxSizes.columns).meta({ items: { type: "string" } }),
  ).describe("Words to leave out beside those of the language, with remove_stop_words"),
  ascii_folding: flag,
  min_ngram_length: whole(64),
  max_ngram_length: whole(64),
  prefix_only: flag,
  block_size: optional(z.literal([128, 256], { error: "must be 128 or 256" })).describe(
    "Documents of one block of a full-text index",
  ),
  lance_tokenizer: optional(z.literal("text", { error: "must be text" })).describe("Always text"),
  index_operators: off,
  preserve_original: off,
  split_identifiers: off,
  split_on_numerics: off,
  replace: flag.describe("false refuses to replace an index of the name (default true)"),
  branch: branchField,
});

type Body = z.output<typeof body>;

const typeOf = (name: string): IndexType => {
  const type = name === "INVERTED" ? "FTS" : name;
  const known = indexTypes.find((each) => each === type);
  if (known === undefined)
    throw new ServiceError(0, { message: `index_type is not supported: use one of ${indexTypes.join(", ")}` });
  return known;
};

const parametersOf = (wire: Body) => {
  const { distance_type: distance, metric_type: metric } = wire;
  if (distance !== undefined && metric !== undefined && distance !== metric)
    throw invalid("distance_type differs from metric_type: send one of them");
  return {
    distanceType: distance ?? metric,
    numPartitions: wire.num_partitions,
    numSubVectors: wire.num_sub_vectors,
    numBits: wire.num_bits,
    maxIterations: wire.max_iterations,
    sampleRate: wire.sample_rate,
    m: wire.m,
    efConstruction: wire.ef_construction,
    withPosition: wire.with_position,
    baseTokenizer: wire.base_tokenizer,
    language: wire.language,
    maxTokenLength: wire.max_token_length,
    lowercase: wire.lower_case,
    stem: wire.stem,
    removeStopWords: wire.remove_stop_words,
    customStopWords: wire.custom_stop_words,
    asciiFolding: wire.ascii_folding,
    ngramMinLength: wire.min_ngram_length,
    ngramMaxLength: wire.max_ngram_length,
    prefixOnly: wire.prefix_only,
    blockSize: wire.block_size,
  };
};

const define = (name: "create_index" | "create_scalar_index", summary: string, example: string) =>
  defineOperation({
    name,
    target: "table",
    path: name,
    scope: "manage",
    admission: "write",
    errors: [0, 7, 12, 14, 19, 20, 22],
    summary,
    body,
    example: { column: "id", index_type: example },
    answer: transactionAnswer,
    handle: async (tools, table, wire) => {
      const commit = await tools.database.createIndex(
        { table, ...branchOf(tools, wire.branch) },
        {
          column: wire.column,
          type: typeOf(wire.index_type),
          name: wire.name,
          replace: wire.replace,
          parameters: parametersOf(wire),
        },
      );
      return committed({}, commit);
    },
  });

export const createIndex = define(
  "create_index",
  "Creates an index on a column, and answers when it is complete",
  "BTREE",
);

/** The catalog's address for the same operation. */
export const createScalarIndex = define("create_scalar_index", "The same as create_index", "BITMAP");
