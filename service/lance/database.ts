import type { ServiceError } from "../errors.ts";
import type { VerifiedExpression } from "../guard/expression/index.ts";
import type { NamespaceId, TableId } from "../guard/table-id.ts";
import type { VerifiedQuery } from "../guard/verify-query.ts";
import type { Facts } from "../plan-doctor/types.ts";
import type {
  BranchEntry,
  IndexEntry,
  IndexStatistics,
  JsonSchema,
  Statistics,
  TagEntry,
  TagTarget,
  VersionEntry,
} from "../query/answers.ts";
import type { Snapshot } from "../query/model.ts";
import type { CacheSizes, DatabaseAddress } from "./connection/connection.ts";
import type { Freshness } from "./connection/handles.ts";
import type { Location } from "./connection/location.ts";
import type { MemoizerCounts } from "./memoizer.ts";
import type { BlobSizes, BlobSlice } from "./reads/blobs.ts";
import type { Names } from "./reads/lists.ts";
import type { LsmWriteSpec } from "./reads/lsm.ts";
import type { RowCount, Rows } from "./reads/reading.ts";
import type { Vocabulary } from "./reads/schema.ts";
import type { WriteLimits } from "./writes/row-writes.ts";
import type { WriteCalls } from "./writes/write-calls.ts";

export type { Location };

export interface Description {
  readonly version: number;
  readonly schema: JsonSchema;
  /** Absent where the configuration hides locations. */
  readonly location?: Location;
}

/** Calls that run a caller's expressions or whose cost has no bound. None of them can be cancelled. */
export interface IsolatableCalls {
  /** The plan of a query, without running it. */
  explain(table: TableId, query: VerifiedQuery, verbose: boolean): Promise<string>;
  /** Runs the query and returns its plan with the measured figures. */
  analyze(table: TableId, query: VerifiedQuery): Promise<string>;
  /** The rows of a query. Only the size of the response is bounded. */
  query(table: TableId, query: VerifiedQuery): Promise<Rows>;
  /** Live rows; with a predicate, those for which it is true. */
  count(table: TableId, snapshot: Snapshot, predicate: VerifiedExpression | undefined): Promise<RowCount>;
  /** All versions, the oldest first. Reads the manifest of each. */
  versions(table: TableId, branch: string | undefined): Promise<readonly VersionEntry[]>;
  /** The sizes of the blobs of rows. @param column path of a blob column. */
  blobSizes(table: TableId, snapshot: Snapshot, column: string, rowIds: readonly bigint[]): Promise<BlobSizes>;
  /** The bytes of parts of blobs, one after another. */
  readBlobs(
    table: TableId,
    snapshot: Snapshot & { readonly version: number },
    column: string,
    slices: readonly BlobSlice[],
  ): Promise<Uint8Array>;
  /** All branches but main, in the order of their names. Reads every version of each. */
  branches(table: TableId): Promise<Readonly<Record<string, BranchEntry>>>;
}

/**
 * The tables of the service. Every method throws only ServiceError, and takes only ids and queries that the guard has
 * verified. There are two implementations: in this process, and with worker processes for the isolatable calls.
 */
export interface Database extends IsolatableCalls, WriteCalls {
  /** Takes back the memory of a result of {@link IsolatableCalls.readBlobs} once it was sent. */
  recycle(bytes: Uint8Array): void;
  statistics(table: TableId, snapshot: Snapshot): Promise<Statistics>;
  /**
   * What the findings of a plan are judged by: statistics, columns, indices, each memoized as for the operation of its own.
   * A part that cannot be read is named in the result.
   * @throws ServiceError if the snapshot cannot be opened.
   */
  planFacts(table: TableId, snapshot: Snapshot, withStatistics: boolean): Promise<Facts>;
  createTag(table: TableId, tag: string, version: number, branch: string | undefined): Promise<void>;
  /** Moves a tag that exists. */
  updateTag(table: TableId, tag: string, version: number, branch: string | undefined): Promise<void>;
  tagVersion(table: TableId, tag: string): Promise<TagTarget>;
  deleteTag(table: TableId, tag: string): Promise<void>;
  /** All tags, in the order of their names. */
  tags(table: TableId): Promise<Readonly<Record<string, TagEntry>>>;
  indices(table: TableId, snapshot: Snapshot): Promise<readonly IndexEntry[]>;
  indexStatistics(table: TableId, snapshot: Snapshot, name: string): Promise<IndexStatistics>;
  /** How merges are written to the write-ahead log of a table; null if it has none. */
  lsmWriteSpec(table: TableId, snapshot: Snapshot): Promise<LsmWriteSpec | null>;
  /** @throws ServiceError code 1, 4, 11 or 22 if the snapshot does not exist. */
  requireTable(table: TableId, snapshot: Snapshot): Promise<void>;
  describe(table: TableId, snapshot: Snapshot, vocabulary: Vocabulary): Promise<Description>;
  /**
   * The location of a table that is declared and has no data.
   * @param failure of opening it, where it is known already. @throws ServiceError code 1 or 4 if there is none.
   */
  declared(table: TableId, failure?: ServiceError): Promise<Location>;
  /** The tables of a namespace, without those of its child namespaces. */
  tables(namespace: NamespaceId): Promise<Names>;
  /** The direct child namespaces of a namespace. */
  namespaces(namespace: NamespaceId): Promise<Names>;
  /** The properties of a namespace. */
  describeNamespace(namespace: NamespaceId): Promise<Readonly<Record<string, string>>>;
  /** Whether `versions` needs no worker process. */
  remembersVersions(table: TableId, branch: string | undefined): boolean;
  /** Removes all cached handles of a table, because its content has changed. @param tableKey key of a table's id. */
  forget(tableKey: string): void;
  /** Connects; if already connected, sends the same requests to the store again. @throws the native error. */
  connect(): Promise<void>;
  close(): Promise<void>;
  /** Use of the cache of table handles. */
  handleCounts(): MemoizerCounts;
}

export interface DatabaseConfig extends DatabaseAddress, Freshness, WriteLimits {
  readonly caches: CacheSizes;
  /** Prefixes of the addresses outside of the database at which blobs may be read. */
  readonly blobPrefixes: readonly string[];
  /** Maximum size of the rows of one query, in bytes. */
  readonly maxResultBytes: number;
  /** Whether descriptions include the location of a table. */
  readonly showLocations: boolean;
}
