import { Index } from "@lancedb/lancedb";

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
  /** By the SDK's names; each type uses some of them, and the database's default where one is absent. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** @throws Error if the SDK refuses a parameter. */
export const buildIndex = ({ type, parameters }: IndexSpecification): Index => {
  const set = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
  return (builders[type] as (options?: object) => Index)(set);
};
