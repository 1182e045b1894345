import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../errors.ts";
import { type NamespaceId, rootNamespace } from "../guard/table-id.ts";
import type { Snapshot } from "../query/model.ts";
import { faultOfValues, readSizes, refuse } from "./arrow/schema-sizes.ts";
import { LazyConnection } from "./connection/connection.ts";
import { TableHandles } from "./connection/handles.ts";
import { describeLocation, hasScheme, type Location } from "./connection/location.ts";
import type { Database, DatabaseConfig } from "./database.ts";
import { classifyAccess } from "./errors/classify.ts";
import { Memoizer } from "./memoizer.ts";
import { analyze } from "./reads/analyze.ts";
import { Blobs } from "./reads/blobs.ts";
import { indexStatistics, listIndices } from "./reads/indices.ts";
import { describeNamespace, listNamespaces, listTables, type Names } from "./reads/lists.ts";
import { readLsmWriteSpec } from "./reads/lsm.ts";
import { readFacts } from "./reads/plan-facts.ts";
import { presentPlan } from "./reads/plan-text.ts";
import { buildQuery, filtersFullText } from "./reads/query.ts";
import { countRows, readFoundRows, readRows } from "./reads/reading.ts";
import { readSchema, type Vocabulary } from "./reads/schema.ts";
import { readStatistics } from "./reads/statistics.ts";
import { listBranches, type OnInvalidTags, Tags } from "./refs/refs.ts";
import { listVersions } from "./refs/versions.ts";
import { Staging, stagingCaches } from "./uploads/staging.ts";
import { openCommits } from "./writes/commits.ts";
import { openDeclarations } from "./writes/declare.ts";
import { openRowWrites, type WriteLimits } from "./writes/row-writes.ts";
import { openTableWrites } from "./writes/table-writes.ts";
import { openViewWrites } from "./writes/view-writes.ts";
import { createInTurn, forgetAfter, type WriteCalls } from "./writes/write-calls.ts";

/** @param beforeCommit is awaited before each call that may commit. Until then, the tables are as they were. */
export const openWrites = (
  connection: LazyConnection,
  limits: WriteLimits,
  staging: Staging,
  beforeCommit: () => Promise<void> = async () => undefined,
): WriteCalls => {
  const commits = openCommits(connection, beforeCommit);
  return {
    ...openRowWrites(commits, connection.storageOptions, limits, staging),
    ...openTableWrites(commits, limits.schemas),
    ...openViewWrites(commits),
    ...openDeclarations(connection.address, commits),
  };
};

/** The SDK tells the directory of a table without data in this text alone. The names of tables cannot contain it. */
const withoutData =
  /^Table '[\w.-]+' was not found\s+Caused by: Dataset at path (.+) was not found: Not found: \1\/_versions/s;

/**
 * The directory of a table that has no data, by the failure to open it; undefined where the catalog has no such table. At the
 * root, whose tables are directories, also that of a table that does not exist.
 */
const directoryWithoutData = (failure: unknown): string | undefined => {
  if (!(failure instanceof ServiceError) || failure.code !== 4 || !(failure.cause instanceof Error)) return undefined;
  return withoutData.exec(failure.cause.message)?.[1]?.split("/").at(-1);
};

/** What a path of a URL cannot hold as it is; a percent sign as well, because the text is not encoded yet. */
const notInPath = /[^!$&-;=@-_a-z|~]/gu;

/** The location of a directory in the root of a database, as the SDK gives it for a table that it has opened. */
const locationIn = (uri: string, directory: string, isUrl: boolean): Location => {
  if (!hasScheme(uri)) {
    const address = join(uri, directory);
    return { address, uri: pathToFileURL(address).href };
  }
  const name = isUrl ? directory.replace(notInPath, encodeURIComponent) : directory;
  const address = `${uri.replace(/\/+$/, "")}/${name}`;
  return { address, uri: address };
};

const onBranch = (branch: string | undefined): Snapshot => (branch === undefined ? {} : { branch });

/** The share of the staleness bound for which a handle's version is not read again. */
const versionShare = 0.01;

/**
 * Memoizes what is read of a version, which never changes but costs many requests to the store. A result is kept per
 * handle and expires with the staleness bound, because a table that is dropped and created again reuses its version
 * numbers. Reading the version is most of the cost of a memoized result, so that is memoized as well.
 */
const memoizePerVersion = (consistencySeconds: number, ttlMs: number) => {
  const versions = new Memoizer<Table, number>({
    // With strong consistency, the version of a handle never changes.
    ttlMs: consistencySeconds === 0 ? Number.POSITIVE_INFINITY : consistencySeconds * 1000 * versionShare,
    joinSlowLoads: true,
  });
  const versionOf = (table: Table): Promise<number> => versions.get(table, () => table.version());
  const perVersion = <T>(read: (table: Table) => Promise<T>) => {
    const results = new Memoizer<Table, T>({ ttlMs });
    /** @param version of the handle. */
    const at = (table: Table, version: number): Promise<T> => results.get(table, () => read(table), { stamp: version });
    return Object.assign(async (table: Table) => at(table, await versionOf(table)), { at });
  };
  return { versionOf, perVersion };
};

/** Concurrent callers share a list; each gets one that was read after its call. */
const shareLists = (list: (namespace: readonly string[]) => Promise<Names>) => {
  const lists = new Memoizer<string, Names>({ max: Number.POSITIVE_INFINITY, ttlMs: 0 });
  return ({ key, parts }: NamespaceId): Promise<Names> => lists.renew(key, () => list(parts));
};

/** Opens the database in this process. @param beforeCommit is awaited before each call that may commit. */
export const openInProcess = (
  config: DatabaseConfig,
  onInvalidTags: OnInvalidTags = () => undefined,
  beforeCommit?: () => Promise<void>,
): Database => {
  const { consistencySeconds } = config;
  const connection = new LazyConnection(config, config.caches, consistencySeconds > 0 ? consistencySeconds : undefined);
  const handles = new TableHandles(connection, config);
  // With strong consistency, a handle serves only requests that arrived before it was opened: all that it reads is fresh.
  const ttlMs = consistencySeconds > 0 ? consistencySeconds * 1000 : Number.POSITIVE_INFINITY;
  const tags = new Tags(ttlMs, onInvalidTags);
  const { versionOf, perVersion } = memoizePerVersion(consistencySeconds, ttlMs);
  const statistics = perVersion(readStatistics);
  const indices = perVersion(listIndices);
  const versions = perVersion(listVersions);
  const lsmWriteSpecs = perVersion(readLsmWriteSpec);
  const schemaIn = (vocabulary: Vocabulary) => perVersion((table) => readSchema(table, vocabulary));
  const schemas: Readonly<Record<Vocabulary, ReturnType<typeof schemaIn>>> = {
    lance: schemaIn("lance"),
    arrow: schemaIn("arrow"),
  };
  const valueFaults = new Memoizer<Table, string | undefined>({ ttlMs });
  /** The planner makes values of a column's type. @throws ServiceError code 13 if that takes too much memory. */
  const verifyValues = async (table: Table): Promise<void> => {
    const limits = config.opened;
    if (limits === undefined) return;
    refuse(await valueFaults.get(table, async () => faultOfValues((await readSizes(table)).columns(), limits)));
  };
  const present = presentPlan(config.uri);
  const staging = new Staging(config, stagingCaches);
  const blobs = new Blobs(config.blobPrefixes);
  const connected = () =>
    connection.get().catch((error: unknown) => {
      throw classifyAccess(error, 18);
    });
  const tables = shareLists(async (namespace) => listTables(await connected(), namespace));
  return {
    explain: (id, query, verbose) =>
      handles.use(id, query, async (table) => {
        await verifyValues(table);
        return present(await (await buildQuery(table, query)).explainPlan(verbose));
      }),
    analyze: (id, query) =>
      handles.use(id, query, async (table) => present(await analyze(await buildQuery(table, query)))),
    statistics: (id, snapshot) => handles.use(id, snapshot, statistics),
    planFacts: (id, snapshot, withStatistics) =>
      handles.use(id, snapshot, async (table) => {
        const version = await versionOf(table);
        return readFacts(version, {
          ...(withStatistics ? { statistics: () => statistics.at(table, version) } : {}),
          columns: () => schemas.arrow.at(table, version),
          indices: () => indices.at(table, version),
        });
      }),
    // A Tags object of the SDK does not support concurrent calls, so each call creates one.
    createTag: (id, tag, version, branch) =>
      handles.use(id, onBranch(branch), async (table) => (await table.tags()).create(tag, version)),
    updateTag: (id, tag, version, branch) =>
      handles.use(id, onBranch(branch), (table) => tags.move(table, tag, version)),
    tagVersion: (id, tag) => handles.use(id, {}, (table) => tags.find(table, tag)),
    deleteTag: (id, tag) => handles.use(id, {}, async (table) => (await table.tags()).delete(tag)),
    tags: (id) => handles.use(id, {}, (table) => tags.list(table)),
    branches: (id) => handles.use(id, {}, listBranches),
    versions: (id, branch) => handles.use(id, onBranch(branch), versions),
    indices: (id, snapshot) => handles.use(id, snapshot, indices),
    indexStatistics: (id, snapshot, name) => handles.use(id, snapshot, (table) => indexStatistics(table, name)),
    lsmWriteSpec: (id, snapshot) => handles.use(id, snapshot, lsmWriteSpecs),
    requireTable: (id, snapshot) =>
      handles.use(id, snapshot, async (table) => {
        // A cached handle does not prove that the table still exists.
        await versionOf(table);
      }),
    describe: (id, snapshot, vocabulary) =>
      handles.use(id, snapshot, async (table) => {
        // Within the bound, not the memoized version: a client may have seen a newer one.
        const version = await (consistencySeconds > 0 ? table.version() : versionOf(table));
        return {
          version,
          schema: await schemas[vocabulary].at(table, version),
          ...(config.showLocations ? { location: describeLocation(table) } : {}),
        };
      }),
    declared: async (id, known) => {
      const open = () => handles.use(id, {}, async () => new ServiceError(4)).catch((error: unknown) => error);
      const failure: unknown = known ?? (await open());
      const directory = directoryWithoutData(failure);
      const inNamespace = id.namespace.length > 0;
      if (directory === undefined || !(inNamespace || (await tables(rootNamespace)).includes(id.name))) throw failure;
      return locationIn(config.uri, directory, inNamespace);
    },
    query: (id, query) =>
      handles.use(id, query, async (table) => {
        if (!filtersFullText(query)) return readRows(table, query, config.maxResultBytes);
        const { branch } = query;
        const version = query.version ?? (await table.version());
        return handles.use(id, { ...onBranch(branch), version }, (pinned) =>
          readFoundRows(pinned, query, config.maxResultBytes),
        );
      }),
    blobSizes: (id, { branch, ...snapshot }, column, rowIds) =>
      handles.use(id, { ...snapshot, ...onBranch(branch) }, async (table) => {
        const version = snapshot.version ?? (await table.version());
        // A blob is checked and read at one version, also while others write.
        return handles.use(id, { ...onBranch(branch), version }, async (pinned) => ({
          version,
          sizes: await blobs.sizes(pinned, column, rowIds),
        }));
      }),
    readBlobs: (id, snapshot, column, slices) =>
      handles.use(id, snapshot, (table) => blobs.read(table, column, slices)),
    recycle: () => undefined,
    count: (id, snapshot, predicate) => handles.use(id, snapshot, (table) => countRows(table, predicate)),
    tables,
    namespaces: shareLists(async (namespace) => listNamespaces(await connected(), namespace)),
    describeNamespace: async ({ parts }) => describeNamespace(await connected(), parts),
    remembersVersions: () => false,
    ...forgetAfter(createInTurn(openWrites(connection, config, staging, beforeCommit)), (tableKey) =>
      handles.evict(tableKey),
    ),
    forget: (tableKey) => handles.evict(tableKey),
    connect: () => connection.check(),
    close: async () => {
      await staging.close();
      await connection.close();
    },
    handleCounts: () => handles.counts,
  };
};
