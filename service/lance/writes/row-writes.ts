import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { Field, Int8, Schema } from "apache-arrow";
import { invalid, ServiceError } from "../../errors.ts";
import type { TableId } from "../../guard/table-id.ts";
import { faultOfNames, faultOfSchema, faultOfValues, refuse, type SchemaLimits } from "../arrow/schema-sizes.ts";
import { columnsOf, freeStream, outlineOf, readStreamFile, type Stream, toArrowFile } from "../arrow/stream.ts";
import { blobsNeedTable, classifyWrite, outcomeUnknown } from "../errors/classify-write.ts";
import { layersOf } from "../errors/native-text.ts";
import type { Staging } from "../uploads/staging.ts";
import { refuseValues, refuseView } from "./bound-columns.ts";
import { type Commits, isLost, nativeOf, noRows } from "./commits.ts";
import type { CommitOfRows, CreateMode, RowCounts, RowData, WriteCalls } from "./write-calls.ts";

/** The native call of {@link Table.add} decodes all rows, then refuses a mode that does not exist. */
interface NativeTable {
  add(file: Buffer, mode: string): Promise<unknown>;
}

const noMode = "check";

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const undecodable = (cause: string): ServiceError =>
  new ServiceError(13, {
    message:
      "the rows are not valid Arrow data: a value is damaged or outside of its buffer; write them with an Arrow library",
    cause: new Error(cause),
  });

/**
 * Decodes rows without writing them. The SDK decodes the batches of a new table while it writes them, and a panic at a damaged
 * batch ends the rows early without an error: the table would be created with the batches before it.
 * @returns a function that throws ServiceError code 13 for rows that cannot be decoded.
 */
const openDecodeCheck = (): ((file: Buffer) => Promise<void>) => {
  let scratch: Promise<{ connection: Connection; table: Table }> | undefined;
  const open = async () => {
    const connection = await connect("memory://");
    const schema = new Schema([new Field("unused", new Int8(), true)]);
    return { connection, table: await connection.createEmptyTable("scratch", schema) };
  };
  return async (file) => {
    scratch ??= open();
    const { table } = await scratch;
    const { inner } = table as unknown as { readonly inner: NativeTable };
    const outcome = await inner.add(file, noMode).then(() => "written", textOf);
    if (!outcome.startsWith("Invalid mode")) throw undecodable(outcome);
  };
};

/** Native calls that take Arrow data as it was sent. The SDK's own methods decode it and encode it again. */
interface NativeConnection {
  createTable(
    name: string,
    file: Buffer,
    mode: string,
    namespace: string[],
    storageOptions: Record<string, string>,
  ): Promise<{ version(): Promise<number> }>;
}

interface NativeMerge {
  whenMatchedUpdateAll(condition?: string): NativeMerge;
  whenNotMatchedInsertAll(): NativeMerge;
  whenNotMatchedBySourceDelete(filter?: string): NativeMerge;
  useIndex(use: boolean): NativeMerge;
  setTimeout(milliseconds: number): void;
  execute(file: Buffer): Promise<{
    readonly version: number;
    readonly numInsertedRows: number;
    readonly numUpdatedRows: number;
    readonly numDeletedRows: number;
    readonly numAttempts: number;
  }>;
}

interface NativeTable {
  add(file: Buffer, mode: string): Promise<{ readonly version: number }>;
  mergeInsert(on: string[]): NativeMerge;
  addColumnsWithSchema(file: Buffer): Promise<{ readonly version: number }>;
}

/** The version of a new table. */
const firstVersion = 1;

const rowsOf = ({ outline }: Stream): RowCounts => ({ ...noRows, inserted: outline.rows });

const hasTimedOut = (error: unknown): boolean =>
  error instanceof Error && layersOf(error.message).some((layer) => layer.startsWith("merge insert timed out"));

const isPanic = (error: unknown): boolean => error instanceof Error && error.message.startsWith("Panic in ");

/** Blob columns of the first kind (`lance-encoding:blob`) need the file format before the current one. */
const legacyStorage = { new_table_data_storage_version: "2.1" } as const;

const stableRowIds = { new_table_enable_stable_row_ids: "true" } as const;

const legacyBlob = "lance-encoding:blob";

const hasLegacyBlobs = (error: unknown): boolean =>
  error instanceof Error && layersOf(error.message).some((layer) => layer.startsWith("Legacy blob columns"));

export interface WriteLimits {
  /** Maximum bytes of the values of one write when decompressed. */
  readonly maxWriteBytes: number;
  /** Of tables that are made or changed. */
  readonly schemas: SchemaLimits;
  /** Whether new tables get row ids that stay when rows move. */
  readonly stableRowIds?: boolean;
}

/** @throws ServiceError code 13 for a malformed stream. */
const readStream = (data: RowData): Stream => {
  const bytes = data.kind === "bytes" ? data.bytes : readStreamFile(data);
  return { bytes, outline: outlineOf(bytes), hasRoom: data.kind === "file" };
};

const tooLarge = (maxWriteBytes: number): ServiceError =>
  new ServiceError(13, {
    transport: "bodyTooLarge",
    message: `the rows have more than ${maxWriteBytes} bytes when decompressed: send them in several requests, or ask the operator to raise LAKEHEAD_MAX_WRITE_BYTES`,
  });

/** @throws ServiceError 413 */
const verifySize = (streams: readonly Stream[], { maxWriteBytes }: WriteLimits): void => {
  if (streams.reduce((total, { outline }) => total + outline.decodedBytes, 0) > maxWriteBytes)
    throw tooLarge(maxWriteBytes);
};

/** @throws ServiceError code 13 for a schema that the service could not read. */
const verifySchema = ({ outline }: Stream, { schemas }: WriteLimits): void => {
  refuse(faultOfSchema(outline.schema.bytes.byteLength, schemas));
  const columns = columnsOf(outline);
  refuse(faultOfNames(columns));
  refuse(faultOfValues(columns, schemas));
};

type OneOrMore<T> = readonly [T, ...T[]];

/** Reads streams for a call, and frees their memory after it. */
const withStreams = async <T>(
  data: OneOrMore<RowData>,
  limits: WriteLimits,
  use: (streams: OneOrMore<Stream>) => Promise<T>,
): Promise<T> => {
  const streams = data.map(readStream) as [Stream, ...Stream[]];
  try {
    verifySize(streams, limits);
    return await use(streams);
  } finally {
    for (const stream of streams) freeStream(stream);
  }
};

export type RowWrites = Pick<
  WriteCalls,
  | "createTable"
  | "insertRows"
  | "insertStaged"
  | "stagePart"
  | "mergeRows"
  | "updateRows"
  | "deleteRows"
  | "addEmptyColumns"
>;

/** Writes of rows, and of tables with rows. */
export const openRowWrites = (
  { connected, requireNamespace, commit, plain, existing, restore, beforeCommit }: Commits,
  storageOptions: Readonly<Record<string, string>>,
  limits: WriteLimits,
  staging: Staging,
): RowWrites => {
  const checkDecoding = openDecodeCheck();

  /** The outcome for a table that exists. @throws ServiceError code 5. */
  const keep = (found: CommitOfRows, mode: CreateMode): CommitOfRows => {
    if (mode === "create") throw new ServiceError(5);
    return found;
  };

  const write = async (
    to: Connection,
    { name, namespace }: TableId,
    file: Buffer,
    mode: "create" | "overwrite",
  ): Promise<Partial<CommitOfRows> & { version: number; rows: RowCounts }> => {
    await beforeCommit();
    const create = (options: Readonly<Record<string, string>>) =>
      nativeOf<NativeConnection>(to).createTable(name, file, mode, [...namespace], {
        ...storageOptions,
        ...(limits.stableRowIds === true ? stableRowIds : {}),
        ...options,
      });
    const table = await create({}).catch((error: unknown) => {
      if (!hasLegacyBlobs(error)) throw error;
      return create(legacyStorage);
    });
    const version = await table.version().catch((error: unknown) => {
      // Another writer has dropped the new table already: it is no table that was looked for in vain.
      throw classifyWrite(error).code === 4 ? new ServiceError(14, { cause: error }) : error;
    });
    return { version, rows: noRows };
  };

  const insertRows: WriteCalls["insertRows"] = (target, data, mode) =>
    withStreams(data, limits, async (streams) => {
      const insertedBy = streams.map(({ outline }) => outline.rows);
      const inserted = insertedBy.reduce((total, rows) => total + rows, 0);
      // Only then the rows bring a schema of their own.
      if (mode === "overwrite") for (const stream of streams) verifySchema(stream, limits);
      const file = toArrowFile(streams);
      // It may take more memory than the process has: better before the commit may have begun.
      if (streams.some(({ outline }) => outline.mayExceed)) await checkDecoding(file);
      const names = streams.flatMap(({ outline }) => columnsOf(outline).map(({ name }) => name));
      return commit(target, async (table) => {
        if (mode === "append") await refuseValues(table, names);
        try {
          const { version } = await nativeOf<NativeTable>(table).add(file, mode);
          return { version, rows: { ...noRows, inserted }, insertedBy };
        } catch (error) {
          // The call decodes all rows before it writes any. A panic has no text that tells one from the other.
          if (isPanic(error)) await checkDecoding(file);
          throw error;
        }
      });
    });

  return {
    createTable: (table, data, mode) =>
      withStreams([data], limits, async ([stream]) => {
        verifySchema(stream, limits);
        const file = toArrowFile([stream]);
        await checkDecoding(file);
        const found = await existing(table);
        if (found !== undefined && mode !== "overwrite") return keep(found, mode);
        // The SDK creates the table also in a namespace that does not exist.
        await requireNamespace(table);
        const to = await connected();
        const created = await write(to, table, file, mode === "overwrite" ? mode : "create").catch(async (error) => {
          const failure = classifyWrite(error);
          const other = isLost(failure) && mode !== "overwrite" ? await existing(table) : undefined;
          if (other === undefined) throw failure;
          return other;
        });
        if (created.before !== undefined) return keep(created, mode);
        const { version } = created;
        if (mode === "overwrite") return { ...(found && { before: found.version }), version, rows: rowsOf(stream) };
        if (version === firstVersion) return { version, rows: rowsOf(stream) };
        // Of concurrent creations, the SDK commits several, and each replaces the rows of the one before it.
        const restored = await restore({ table }, version - 1);
        return keep({ before: version, version: restored.version, rows: noRows }, mode);
      }),
    stagePart: (_, { upload, part, mode, maxBytes }, data) =>
      withStreams([data], limits, async ([stream]) => {
        const { outline } = stream;
        if (mode === "overwrite") verifySchema(stream, limits);
        if (outline.dictionaries.length > 0)
          throw invalid(
            "the rows have dictionaries, of which each part would have its own: decode them, or send the rows in one insert (write_parallelism=1)",
          );
        const { decodedBytes } = outline;
        const others = (await staging.parts(upload)).filter((staged) => staged.part !== part);
        const total = others.reduce((sum, staged) => sum + staged.decodedBytes, decodedBytes);
        if (total > maxBytes) throw tooLarge(maxBytes);
        await staging.add(upload, { part, mode, decodedBytes }, data);
      }),
    insertRows,
    insertStaged: async (target, { upload }, mode) => {
      const directory = await mkdtemp(join(tmpdir(), "lakehead-parts-"));
      try {
        const parts = await staging.load(upload, directory);
        return await insertRows(target, parts as [RowData, ...RowData[]], mode);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    mergeRows: (target, data, clauses) =>
      withStreams([data], limits, async (streams) => {
        const file = toArrowFile(streams);
        await checkDecoding(file);
        const names = streams.flatMap(({ outline }) => columnsOf(outline).map(({ name }) => name));
        return commit(target, async (table) => {
          await refuseValues(table, names);
          let merge = nativeOf<NativeTable>(table).mergeInsert([...clauses.on]);
          if (clauses.updateMatched) merge = merge.whenMatchedUpdateAll(clauses.updateMatchedIf);
          if (clauses.insertNotMatched) merge = merge.whenNotMatchedInsertAll();
          if (clauses.deleteNotMatchedBySource)
            merge = merge.whenNotMatchedBySourceDelete(clauses.deleteNotMatchedBySourceIf);
          if (!clauses.useIndex) merge = merge.useIndex(false);
          if (clauses.timeoutMs !== undefined) merge.setTimeout(clauses.timeoutMs);
          const merged = await merge.execute(file).catch((error: unknown) => {
            throw hasTimedOut(error)
              ? outcomeUnknown(error, `merge insert timed out after ${clauses.timeoutMs} ms`)
              : error;
          });
          return {
            version: merged.version,
            attempts: merged.numAttempts,
            rows: {
              inserted: merged.numInsertedRows,
              updated: merged.numUpdatedRows,
              deleted: merged.numDeletedRows,
            },
          };
        });
      }),
    addEmptyColumns: (target, data) =>
      withStreams([data], limits, async ([stream]) => {
        if (stream.outline.rows > 0) throw invalid("the stream has rows: send the schema of the new columns alone");
        // The SDK adds them, and fails at the next write.
        if (Buffer.from(stream.outline.schema.bytes).includes(legacyBlob))
          throw new ServiceError(20, { message: blobsNeedTable });
        const file = toArrowFile([stream]);
        return plain(target, async (table) => {
          await refuseView(table);
          return nativeOf<NativeTable>(table).addColumnsWithSchema(file);
        });
      }),
    updateRows: (target, predicate, updates) =>
      commit(target, async (table) => {
        await refuseValues(
          table,
          updates.map(([column]) => column),
        );
        const { rowsUpdated, version } = await table.update({
          valuesSql: Object.fromEntries(updates),
          ...(predicate === undefined ? {} : { where: predicate }),
        });
        return { version, rows: { ...noRows, updated: rowsUpdated } };
      }),
    deleteRows: (target, predicate) =>
      commit(target, async (table) => {
        await refuseView(table);
        const { numDeletedRows, version } = await table.delete(predicate);
        return { version, rows: { ...noRows, deleted: numDeletedRows } };
      }),
  };
};
