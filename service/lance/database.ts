import type { VerifiedExpression } from "../guard/expression/index.ts";
import type { NamespaceId, TableId } from "../guard/table-id.ts";
import type { VerifiedQuery } from "../guard/verify-query.ts";
import type { Snapshot } from "../query/model.ts";
import { analyze } from "./analyze.ts";
import { classifyAccess } from "./classify.ts";
import { type CacheSizes, type DatabaseAddress, LazyConnection } from "./connection.ts";
import type { HandleCounts } from "./handle-cache.ts";
import { type Freshness, TableHandles } from "./handles.ts";
import { type IndexRecord, type IndexStatisticsRecord, indexStatistics, listIndices } from "./indices.ts";
import { describeNamespace, listNamespaces, listTables, type Names } from "./lists.ts";
import { type Place, placeOf } from "./location.ts";
import { PerVersion } from "./per-version.ts";
import { presentPlan } from "./plan-text.ts";
import { buildQuery } from "./query.ts";
import { countRows, type RowCount, type Rows, readRows } from "./reading.ts";
import { type BranchRecord, listBranches, type TagRecord, Tags, type TagTarget } from "./refs.ts";
import { type JsonSchema, toJsonSchema, type Vocabulary } from "./schema.ts";
import { readStatistics, type StatisticsRecord } from "./statistics.ts";
import { listVersions, type VersionRecord } from "./versions.ts";

export interface Description {
  readonly version: number;
  readonly schema: JsonSchema;
  /** Where the table lies, unless the configuration keeps that. */
  readonly place?: Place;
}

/**
 * The tables behind the service. Every method throws only ServiceError, and reaches the database only with ids and
 * queries that the guard made.
 */
export interface Database {
  /** The plan that a query would run by; the query is not run. */
  explain(table: TableId, query: VerifiedQuery, verbose: boolean): Promise<string>;
  /** Runs the query and returns its plan with the measured figures. Can be neither cancelled nor bounded. */
  analyze(table: TableId, query: VerifiedQuery): Promise<string>;
  statistics(table: TableId, snapshot: Snapshot): Promise<StatisticsRecord>;
  createTag(table: TableId, tag: string, version: number, branch: string | undefined): Promise<void>;
  /** Moves a tag that exists. */
  updateTag(table: TableId, tag: string, version: number, branch: string | undefined): Promise<void>;
  tagVersion(table: TableId, tag: string): Promise<TagTarget>;
  deleteTag(table: TableId, tag: string): Promise<void>;
  /** All tags, in the order of their names. */
  tags(table: TableId): Promise<Readonly<Record<string, TagRecord>>>;
  /** All branches but main, in the order of their names. Reads every version of each. */
  branches(table: TableId): Promise<Readonly<Record<string, BranchRecord>>>;
  /** All versions, the oldest first. Reads the manifest of each. */
  versions(table: TableId, branch: string | undefined): Promise<readonly VersionRecord[]>;
  indices(table: TableId, snapshot: Snapshot): Promise<readonly IndexRecord[]>;
  indexStatistics(table: TableId, snapshot: Snapshot, name: string): Promise<IndexStatisticsRecord>;
  /** @throws ServiceError code 1, 4, 11 or 22 where the snapshot is not there. */
  requireTable(table: TableId, snapshot: Snapshot): Promise<void>;
  describe(table: TableId, snapshot: Snapshot, vocabulary: Vocabulary): Promise<Description>;
  /** The rows of a query. Can be neither cancelled nor bounded but in the bytes of its answer. */
  query(table: TableId, query: VerifiedQuery): Promise<Rows>;
  /** Live rows; with a predicate those that it is true for, which is a query like any other. */
  count(table: TableId, snapshot: Snapshot, predicate: VerifiedExpression | undefined): Promise<RowCount>;
  /** The tables of a namespace itself. */
  tables(namespace: NamespaceId): Promise<Names>;
  /** The namespaces right beneath one. */
  namespaces(namespace: NamespaceId): Promise<Names>;
  /** The properties of a namespace. */
  describeNamespace(namespace: NamespaceId): Promise<Readonly<Record<string, string>>>;
  /** Connects, or where that has happened asks the store for the same once more. @throws whatever keeps it from that. */
  connect(): Promise<void>;
  close(): Promise<void>;
  /** Table handles kept open, and how often one was found. */
  readonly handles: HandleCounts;
}

export interface DatabaseConfig extends DatabaseAddress, Freshness {
  readonly caches: CacheSizes;
  /** Bytes that the rows of one query may have. */
  readonly maxResultBytes: number;
  /** Whether descriptions say where a table lies. */
  readonly showLocations: boolean;
}

const onBranch = (branch: string | undefined): Snapshot => (branch === undefined ? {} : { branch });

export const openDatabase = (config: DatabaseConfig): Database => {
  const { consistencySeconds } = config;
  const connection = new LazyConnection(config, config.caches, consistencySeconds > 0 ? consistencySeconds : undefined);
  const handles = new TableHandles(connection, config);
  const statistics = new PerVersion(consistencySeconds, readStatistics);
  const tags = new Tags(consistencySeconds);
  const indices = new PerVersion(consistencySeconds, listIndices);
  const versions = new PerVersion(consistencySeconds, listVersions);
  const shown = presentPlan(config.uri);
  const connected = () =>
    connection.get().catch((error: unknown) => {
      throw classifyAccess(error, 18);
    });
  return {
    explain: (id, query, verbose) =>
      handles.use(id, query, async (table) => shown(await (await buildQuery(table, query)).explainPlan(verbose))),
    analyze: (id, query) =>
      handles.use(id, query, async (table) => shown(await analyze(await buildQuery(table, query)))),
    statistics: (id, snapshot) => handles.use(id, snapshot, (table) => statistics.of(table)),
    // A Tags object cannot be used by two calls at once, so each call has its own.
    createTag: (id, tag, version, branch) =>
      handles.use(id, onBranch(branch), async (table) => (await table.tags()).create(tag, version)),
    updateTag: (id, tag, version, branch) =>
      handles.use(id, onBranch(branch), async (table) => (await table.tags()).update(tag, version)),
    tagVersion: (id, tag) => handles.use(id, {}, (table) => tags.find(table, tag)),
    deleteTag: (id, tag) => handles.use(id, {}, async (table) => (await table.tags()).delete(tag)),
    tags: (id) => handles.use(id, {}, (table) => tags.list(table)),
    branches: (id) => handles.use(id, {}, listBranches),
    versions: (id, branch) => handles.use(id, onBranch(branch), (table) => versions.of(table)),
    indices: (id, snapshot) => handles.use(id, snapshot, (table) => indices.of(table)),
    indexStatistics: (id, snapshot, name) => handles.use(id, snapshot, (table) => indexStatistics(table, name)),
    requireTable: (id, snapshot) =>
      handles.use(id, snapshot, async (table) => {
        // A kept handle says nothing by itself of whether the table is still there.
        await table.version();
      }),
    describe: (id, snapshot, vocabulary) =>
      handles.use(id, snapshot, async (table) => {
        const [version, schema] = await Promise.all([table.version(), table.schema()]);
        return {
          version,
          schema: toJsonSchema(schema, vocabulary),
          ...(config.showLocations ? { place: placeOf(table) } : {}),
        };
      }),
    query: (id, query) => handles.use(id, query, (table) => readRows(table, query, config.maxResultBytes)),
    count: (id, snapshot, predicate) => handles.use(id, snapshot, (table) => countRows(table, predicate)),
    tables: async ({ parts }) => listTables(await connected(), parts),
    namespaces: async ({ parts }) => listNamespaces(await connected(), parts),
    describeNamespace: async ({ parts }) => describeNamespace(await connected(), parts),
    connect: () => connection.reach(),
    close: () => connection.close(),
    get handles() {
      return handles.counts;
    },
  };
};
