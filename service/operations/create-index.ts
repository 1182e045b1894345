import { z } from "zod";
import { invalid, ServiceError } from "../errors.ts";
import { type IndexType, indexTypes } from "../lance/index-types.ts";
import { distanceType, optional } from "../query/fields.ts";
import { defineOperation } from "./operation.ts";
import { branchField } from "./shared/common-fields.ts";
import { branchOf, columnPath, committed } from "./shared/write.ts";

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
    "Default: the column's name with _idx; an index of that name is replaced",
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
  base_tokenizer: optional(z.enum(["simple", "whitespace", "raw", "ngram"])),
  language: optional(z.enum(languages)),
  max_token_length: whole(1_000_000),
  lower_case: flag,
  stem: flag,
  remove_stop_words: flag,
  ascii_folding: flag,
  min_ngram_length: whole(64),
  max_ngram_length: whole(64),
  prefix_only: flag,
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
    asciiFolding: wire.ascii_folding,
    ngramMinLength: wire.min_ngram_length,
    ngramMaxLength: wire.max_ngram_length,
    prefixOnly: wire.prefix_only,
  };
};

const define = (name: "create_index" | "create_scalar_index", summary: string, example: string) =>
  defineOperation({
    name,
    target: "table",
    path: name,
    methods: ["POST"],
    scope: "manage",
    admission: "write",
    errors: [0, 7, 12, 14, 19, 20, 22],
    summary,
    body,
    example: { column: "id", index_type: example },
    answer: z.object({ transaction_id: z.string().optional() }),
    handle: async (tools, table, wire) => {
      const commit = await tools.database.createIndex(
        { table, ...branchOf(tools, wire.branch) },
        { column: wire.column, type: typeOf(wire.index_type), name: wire.name, parameters: parametersOf(wire) },
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
