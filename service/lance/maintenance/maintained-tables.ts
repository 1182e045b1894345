/** What maintenance reads and changes of tables. Its handles are opened for one call each and never shared. */

import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Index, type IndexConfig, type Table } from "@lancedb/lancedb";
import type { Facts, IndexFacts } from "../../plan-doctor/types.ts";
import { type CacheSizes, type DatabaseAddress, LazyConnection } from "../connection/connection.ts";
import { describeLocation, localPathOf } from "../connection/location.ts";
import { classify } from "../errors/classify.ts";
import { listIndices } from "../reads/indices.ts";
import { listNamespaces, listTables } from "../reads/lists.ts";
import { readFacts } from "../reads/plan-facts.ts";
import { readSchema } from "../reads/schema.ts";
import { readStatistics } from "../reads/statistics.ts";
import { Tags } from "../refs/refs.ts";
import { readVersions } from "../refs/versions.ts";
import type { History } from "./clean-up.ts";
import { type SampleCost, sampleCost } from "./sample-query.ts";
import { blobBytesOf } from "./wide-rows.ts";

/**
 * How the SDK names a file in a directory until it is whole; then it renames it. A write that is killed leaves such a file,
 * which the SDK's own clean-up does not know.
 */
const unfinished = /^\.tmp\w+$|#\d+$/;

/** Deletes the files of a table in a local directory that writes began before a time and never ended. */
const deleteUnfinishedFiles = async (table: string, before: number): Promise<void> => {
  const entries = await readdir(table, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile() && unfinished.test(entry.name))) {
    const path = join(parentPath, name);
    // Gone, if its write ended meanwhile.
    const changedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (changedAt !== undefined && changedAt < before) await rm(path, { force: true });
  }
};

export interface TableState {
  readonly facts: Facts;
  /** Null if it was not asked for: the SDK reads the manifest of each version. */
  readonly history: History | null;
}

export interface OptimizeOutcome {
  readonly fragmentsRemoved: number;
  readonly fragmentsAdded: number;
  readonly bytesRemoved: number;
  readonly versionsRemoved: number;
}

/** Whether an error means that writers were faster, so that a later attempt may succeed. */
export const isConflict = (error: unknown): boolean =>
  classify(error).code === 14 || /Too many concurrent writers/.test(String(error));

/** For an operator's eyes: the meaning of a known error, the native text of another. */
export const describeFailure = (error: unknown): string => {
  const { code, message } = classify(error);
  return code === 18 ? String(error instanceof Error ? error.message : error).slice(0, 500) : message;
};

export const readHistory = async (table: Table): Promise<History> => {
  const [versions, tags, branches] = await Promise.all([
    readVersions(table),
    new Tags(0, () => undefined).list(table),
    table.branches().then((own) => own.list()),
  ]);
  return {
    versions: versions
      .map(({ version, timestamp }) => ({ version, createdAt: timestamp.getTime() }))
      .sort((left, right) => left.version - right.version),
    tags: Object.fromEntries(
      Object.entries(tags).flatMap(([name, { version, branch }]) => (branch === undefined ? [[name, version]] : [])),
    ),
    bases: Object.values(branches).map(({ parentVersion }) => parentVersion),
  };
};

/** @throws Error if a part of the state cannot be read: nothing is judged by half of the facts. */
const readState = async (table: Table, withHistory: boolean): Promise<TableState> => {
  const facts = await readFacts(await table.version(), {
    statistics: () => readStatistics(table),
    columns: () => readSchema(table, "arrow"),
    indices: () => listIndices(table),
  });
  const missing = facts.missing.find(({ fact }) => fact !== "columns");
  if (missing !== undefined) throw new Error(`the ${missing.fact} of the table cannot be read: ${missing.reason}`);
  const { statistics } = facts;
  const bytes = statistics === null ? 0 : statistics.bytes + (await blobBytesOf(table, statistics.rows));
  return {
    facts: { ...facts, statistics: statistics && { ...statistics, bytes } },
    history: withHistory ? await readHistory(table) : null,
  };
};

interface VectorDetails {
  readonly metric_type?: string;
  readonly compression?: { readonly num_bits?: number; readonly num_sub_vectors?: number };
  readonly hnsw?: { readonly max_connections?: number; readonly construction_ef?: number };
}

type VectorOptions = Parameters<typeof Index.hnswPq>[0] & Parameters<typeof Index.ivfPq>[0];

/**
 * How an index of a type is built anew, as the SDK names the types. The number of partitions is not among an index's details;
 * the SDK chooses it by the number of rows.
 */
const builders: Readonly<Record<string, (options: VectorOptions) => Index>> = {
  IvfFlat: (options) => Index.ivfFlat(options as Parameters<typeof Index.ivfFlat>[0]),
  IvfPq: (options) => Index.ivfPq(options),
  IvfRq: (options) => Index.ivfRq(options as Parameters<typeof Index.ivfRq>[0]),
  IvfHnswPq: (options) => Index.hnswPq(options),
  IvfHnswSq: (options) => Index.hnswSq(options as Parameters<typeof Index.hnswSq>[0]),
};

const typeNames: ReadonlySet<string> = new Set(["IVF_FLAT", "IVF_PQ", "IVF_RQ", "IVF_HNSW_PQ", "IVF_HNSW_SQ"]);

/** Whether an index can be built anew with its own parameters. */
export const canRebuild = ({ type }: Pick<IndexFacts, "type">): boolean => typeNames.has(type);

const present = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;

const optionsOf = ({ indexDetails }: IndexConfig): VectorOptions => {
  const { metric_type: metric, compression, hnsw } = (indexDetails ?? {}) as VectorDetails;
  return present({
    distanceType: metric?.toLowerCase() as "l2",
    numBits: compression?.num_bits,
    numSubVectors: compression?.num_sub_vectors,
    m: hnsw?.max_connections,
    efConstruction: hnsw?.construction_ef,
  }) as VectorOptions;
};

/** A vector index that lance-ray builds anew, by the names of its arguments. */
export interface RebuiltIndex {
  readonly name: string;
  readonly column: string;
  readonly index_type: string;
  readonly metric?: string;
  readonly num_sub_vectors?: number;
  readonly num_bits?: number;
}

/** The types whose parameters lance-ray takes, by the SDK's names. */
const rayTypes: Readonly<Record<string, string>> = { IvfFlat: "IVF_FLAT", IvfPq: "IVF_PQ", IvfRq: "IVF_RQ" };

const forRay = (index: IndexConfig): readonly RebuiltIndex[] => {
  const [column] = index.columns;
  const type = rayTypes[index.indexType];
  if (column === undefined || type === undefined) return [];
  const {
    distanceType: metric,
    numSubVectors,
    numBits,
  } = optionsOf(index) as Partial<Parameters<typeof Index.ivfPq>[0] & object>;
  const options = { metric, num_sub_vectors: numSubVectors, num_bits: numBits };
  return [{ name: index.name, column, index_type: type, ...present(options) } as RebuiltIndex];
};

const rebuild = async (table: Table, name: string): Promise<void> => {
  const index = (await table.listIndices()).find((each) => each.name === name);
  const builder = index === undefined ? undefined : builders[index.indexType];
  const [column] = index?.columns ?? [];
  // Dropped, or replaced by one of another type, since it was found to be due.
  if (index === undefined || builder === undefined || column === undefined) return;
  await table.createIndex(column, { config: builder(optionsOf(index)), replace: true, name });
};

/**
 * Merges fragments, extends the indices and deletes versions: the SDK has one call for all three. By default that call deletes
 * all versions older than seven days; a time long ago deletes none.
 *
 * `deleteUnverified` removes files that no version refers to, but only those older than the oldest version that stays. With a
 * time to keep that is longer than any write, none of them belongs to a write that still runs.
 */
const optimize = async (table: Table, deleteBefore: number | undefined): Promise<OptimizeOutcome> => {
  const { compaction, prune } = await table.optimize({
    cleanupOlderThan: new Date(deleteBefore ?? 0),
    deleteUnverified: deleteBefore !== undefined,
  });
  const local = localPathOf(table);
  if (local !== undefined && deleteBefore !== undefined) await deleteUnfinishedFiles(local, deleteBefore);
  return {
    fragmentsRemoved: compaction.fragmentsRemoved,
    fragmentsAdded: compaction.fragmentsAdded,
    bytesRemoved: Number(prune.bytesRemoved),
    versionsRemoved: Number(prune.oldVersionsRemoved),
  };
};

/** The tables of a database, for a process that may change them. */
export class MaintainedTables {
  readonly #address: DatabaseAddress;
  readonly #caches: CacheSizes;
  readonly #connection: LazyConnection;

  constructor({ caches, ...address }: DatabaseAddress & { readonly caches: CacheSizes }) {
    this.#address = address;
    this.#caches = caches;
    this.#connection = new LazyConnection(address, caches, undefined);
  }

  /** The ids of all tables, by namespace and name. A namespace that is dropped meanwhile has none. */
  async list(namespace: readonly string[] = []): Promise<readonly (readonly string[])[]> {
    const connection = await this.#connection.get();
    try {
      const own = (await listTables(connection, namespace)).map((name) => [...namespace, name]);
      const inner: (readonly string[])[] = [];
      for (const name of await listNamespaces(connection, namespace))
        inner.push(...(await this.list([...namespace, name])));
      return [...own, ...inner];
    } catch (error) {
      if (classify(error).code === 1 && namespace.length > 0) return [];
      throw error;
    }
  }

  /** A new handle, so that it is of the latest version: the SDK's `optimize` works on that of its handle. */
  #open(id: readonly string[]): Promise<Table> {
    return this.#connection.openTable(id.at(-1) ?? "", id.slice(0, -1));
  }

  async state(id: readonly string[], withHistory: boolean): Promise<TableState> {
    return readState(await this.#open(id), withHistory);
  }

  async version(id: readonly string[]): Promise<number> {
    return (await this.#open(id)).version();
  }

  async optimize(id: readonly string[], deleteBefore: number | undefined): Promise<OptimizeOutcome> {
    return optimize(await this.#open(id), deleteBefore);
  }

  async rebuild(id: readonly string[], index: string): Promise<void> {
    await rebuild(await this.#open(id), index);
  }

  /** What a program of another process needs to open a table, and to build those of the indices anew that it can. */
  async forRay(
    id: readonly string[],
    indices: readonly string[],
  ): Promise<{ readonly uri: string; readonly indices: readonly RebuiltIndex[] }> {
    const table = await this.#open(id);
    const due = (await table.listIndices()).filter(({ name }) => indices.includes(name));
    return { uri: describeLocation(table).uri, indices: due.flatMap(forRay) };
  }

  /** What a query costs without any cache. */
  async sample(id: readonly string[], facts: Facts): Promise<SampleCost | null> {
    const connection = new LazyConnection(this.#address, this.#caches, undefined);
    try {
      return await sampleCost(await connection.openTable(id.at(-1) ?? "", id.slice(0, -1)), facts);
    } finally {
      await connection.close();
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
