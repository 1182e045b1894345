import { Index } from "@lancedb/lancedb";

/** Parameters of an index; each type uses some of them, and the database's default where one is absent. */
export interface IndexParameters {
  readonly distanceType?: "l2" | "cosine" | "dot" | "hamming" | undefined;
  readonly numPartitions?: number | undefined;
  readonly numSubVectors?: number | undefined;
  readonly numBits?: number | undefined;
  readonly maxIterations?: number | undefined;
  readonly sampleRate?: number | undefined;
  readonly m?: number | undefined;
  readonly efConstruction?: number | undefined;
  readonly withPosition?: boolean | undefined;
  readonly baseTokenizer?: string | undefined;
  readonly language?: string | undefined;
  readonly maxTokenLength?: number | undefined;
  readonly lowercase?: boolean | undefined;
  readonly stem?: boolean | undefined;
  readonly removeStopWords?: boolean | undefined;
  readonly customStopWords?: readonly string[] | undefined;
  readonly asciiFolding?: boolean | undefined;
  readonly ngramMinLength?: number | undefined;
  readonly ngramMaxLength?: number | undefined;
  readonly prefixOnly?: boolean | undefined;
  readonly blockSize?: number | undefined;
}

/** The index types that the SDK builds, by their names in requests. */
const builders = {
  IVF_PQ: Index.ivfPq,
  IVF_FLAT: Index.ivfFlat,
  IVF_RQ: Index.ivfRq,
  IVF_HNSW_PQ: Index.hnswPq,
  IVF_HNSW_SQ: Index.hnswSq,
  BTREE: Index.btree,
  BITMAP: Index.bitmap,
  LABEL_LIST: Index.labelList,
  FM: Index.fm,
  FTS: Index.fts,
} as const satisfies Record<string, (options?: never) => Index>;

export type IndexType = keyof typeof builders;

export const indexTypes = Object.keys(builders) as readonly IndexType[];

export interface IndexSpecification {
  readonly column: string;
  readonly type: IndexType;
  /** Default: the column's name with `_idx`. */
  readonly name?: string | undefined;
  /** Whether an index of that name is replaced; default true. */
  readonly replace?: boolean | undefined;
  readonly parameters: IndexParameters;
}

/** @throws Error if the SDK refuses a parameter. */
export const buildIndex = ({ type, parameters }: IndexSpecification): Index => {
  const set = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
  return (builders[type] as (options?: object) => Index)(set);
};
