import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { Connection } from "@lancedb/lancedb";
import {
  Field,
  FixedSizeList,
  Float32,
  Int64,
  LargeBinary,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
} from "apache-arrow";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ServiceError } from "../../../service/errors.ts";
import { uncheckedExpression, type VerifiedExpression } from "../../../service/guard/expression/index.ts";
import { outlineOf, type Stream } from "../../../service/lance/arrow/stream.ts";
import { LazyConnection } from "../../../service/lance/connection/connection.ts";
import { findMeaning } from "../../../service/lance/errors/classify.ts";
import { classifyWrite, writeMeanings } from "../../../service/lance/errors/classify-write.ts";
import { openWrites } from "../../../service/lance/in-process-database.ts";
import { Staging } from "../../../service/lance/uploads/staging.ts";
import { nativeOf } from "../../../service/lance/writes/commits.ts";
import type { IndexSpecification } from "../../../service/lance/writes/index-types.ts";
import {
  createInTurn,
  type MergeClauses,
  type RowData,
  type WriteCalls,
  type WriteTarget,
} from "../../../service/lance/writes/write-calls.ts";
import { makeDirectory } from "../../support/directory.ts";
import { lz4 } from "../writes/streams.ts";
import { plainSchema, plainStream, streamOf } from "../writes/support.ts";

/** Each row provokes an error of the real database, so it fails if the SDK changes a text. */
let home: string;
let connection: LazyConnection;
let writes: WriteCalls;

const tableOf = (...parts: string[]) => ({
  key: parts.join("$"),
  name: parts.at(-1) ?? "",
  namespace: parts.slice(0, -1),
  parts,
});
const plain: WriteTarget = { table: tableOf("plain") };
const rowsOf = (bytes: Uint8Array): RowData => ({ kind: "bytes", bytes });
const computed = { table: tableOf("computed") };
const one = rowsOf(plainStream([1]));
const wholeView = { source: tableOf("many"), select: undefined, filter: undefined, limit: undefined };
const expression = (text: string): VerifiedExpression => text as VerifiedExpression;

beforeAll(async () => {
  home = await makeDirectory();
  await cp(inject("tables"), join(home, "data"), { recursive: true });
  const caches = { indexBytes: 2 ** 24, metadataBytes: 2 ** 24 };
  connection = new LazyConnection({ uri: join(home, "data"), storageOptions: {} }, caches, undefined);
  const schemas = { maxSchemaBytes: 2 ** 20, maxValueBytes: 2 ** 20 };
  const limits = { maxWriteBytes: 2 ** 20, schemas, stableRowIds: true };
  writes = openWrites(connection, limits, new Staging({ uri: home, storageOptions: {} }, caches));
  await writes.createNamespace({ key: "full", parts: ["full"] }, "create", {});
  await writes.createTable(tableOf("full", "t"), one, "create");
  await writes.createIndex(plain, { column: "id", type: "BTREE", name: "by_id", parameters: {} });
  await writes.createBranch(plain.table, "parent", {});
  await writes.createBranch(plain.table, "child", { branch: "parent" });
  await writes.createTable(tableOf("many"), rowsOf(plainStream([...Array(256).keys()])), "create");
  await writes.createTable(computed.table, one, "create");
  await writes.addComputedColumns(computed, [["double", expression("id * 2")]]);
  await writes.createTable(tableOf("nulls"), rowsOf(streamOf([{ n: null }], new Schema([number("n")]))), "create");
  await writes.createTable(
    tableOf("strict"),
    rowsOf(streamOf([{ n: 1n }], new Schema([number("n", false)]))),
    "create",
  );
});
afterAll(() => connection.close());

/** The SDK's own method does not know the type of blobs. */
interface NativeConnection {
  createTable(name: string, file: Buffer, mode: string, namespace: string[], options: object): Promise<unknown>;
}

const blob = new Field("blob", new LargeBinary(), true, new Map([["lance-encoding:blob", "true"]]));

function number(name: string, nullable = true): Field {
  return new Field(name, new Int64(), nullable);
}

const insert = (bytes: Uint8Array, target = plain) => writes.insertRows(target, [rowsOf(bytes)], "append");
const index = (specification: Partial<IndexSpecification>) =>
  writes.createIndex(plain, { column: "vector", type: "IVF_PQ", parameters: {}, ...specification });
const upsert: MergeClauses = {
  on: ["id"],
  updateMatched: true,
  insertNotMatched: true,
  deleteNotMatchedBySource: false,
  useIndex: true,
};
const merge = (bytes: Uint8Array, clauses: Partial<MergeClauses> = {}) =>
  writes.mergeRows(plain, rowsOf(bytes), { ...upsert, ...clauses });
const alter = (alteration: object, target = plain) => writes.alterColumns(target, [{ path: "text", ...alteration }]);

const vectors = (dimensions: number, value: number): Uint8Array => {
  const type = new FixedSizeList(dimensions, new Field("item", new Float32(), true));
  return streamOf(
    [{ id: 1n, text: "a", vector: Array(dimensions).fill(value) }],
    new Schema([...plainSchema.fields.slice(0, 2), new Field("vector", type, true)]),
  );
};

const imageField = new Field(
  "image",
  new Struct([new Field("data", new LargeBinary(), true), new Field("uri", new Utf8(), true)]),
  true,
  new Map([["ARROW:extension:name", "lance.blob.v2"]]),
);
const blobRow = (image: { data: Buffer | null; uri: string | null }) =>
  rowsOf(streamOf([{ image }], new Schema([imageField])));

type Provocation = [what: string, code: number, provoke: () => Promise<unknown>, says?: RegExp];
const provocations: readonly Provocation[] = [
  [
    "a value of a computed column",
    20,
    () => writes.updateRows(computed, undefined, [["double", expression("1")]]),
    /"double" is computed/,
  ],
  ["a computed column without its input", 20, () => writes.dropColumns(computed, ["id"]), /"id" is an input/],
  [
    "another declaration of a computed column",
    20,
    () =>
      writes.updateFieldMetadata(computed, [
        { path: "double", metadata: { "computed_column.expression": "1" }, replace: false },
      ]),
    /"double" is computed/,
  ],
  [
    "a computed column of one that does not exist",
    12,
    () => writes.addComputedColumns(computed, [["more", expression("nope + 1")]]),
    /"nope"/,
  ],
  [
    "a computed column with another value each time",
    13,
    () => writes.addComputedColumns(computed, [["more", expression("random()")]]),
    /"more"/,
  ],
  [
    "a computed column that exists",
    20,
    () => writes.addComputedColumns(computed, [["double", expression("id")]]),
    /"double" exists/,
  ],
  [
    "a refresh of a column that was declared otherwise",
    14,
    () => writes.refreshColumn(computed, "id", expression("id")),
    /declared anew/,
  ],
  [
    "a view of a table whose row ids are not stable",
    19,
    () => writes.createView(tableOf("view"), { ...wholeView, source: plain.table }),
  ],
  [
    "a view with a filter of a column that does not exist",
    12,
    () => writes.createView(tableOf("view"), { ...wholeView, filter: expression("nope > 1") }),
    /"nope"/,
  ],
  [
    "a view with a filter that is no predicate",
    13,
    () => writes.createView(tableOf("view"), { ...wholeView, filter: expression("id") }),
    /WHERE/,
  ],
  [
    "a view with a column of the engine's name",
    13,
    () => writes.createView(tableOf("view"), { ...wholeView, select: [["__source_row_id", expression("id")]] }),
    /"__source_row_id" is reserved/,
  ],
  [
    "a refresh of a view whose columns were changed",
    20,
    async () => {
      const view = tableOf("changed_view");
      const { stored } = await writes.createView(view, wholeView);
      await (await connection.openTable(view.name, [])).addColumns([{ name: "more", valueSql: "1" }]);
      return writes.refreshView(view, stored, { full: false });
    },
  ],
  [
    "a refresh of a view that was defined otherwise",
    14,
    () => writes.refreshView(plain.table, { definition: "{}", incarnation: "" }, { full: false }),
    /defined anew/,
  ],
  ["a table that exists", 5, () => writes.createTable(plain.table, one, "create")],
  ["a table in a namespace that does not exist", 1, () => writes.createTable(tableOf("nope", "t"), one, "create")],
  ["a namespace that exists", 2, () => writes.createNamespace({ key: "full", parts: ["full"] }, "create", {})],
  ["a namespace that is not empty", 3, () => writes.dropNamespace({ key: "full", parts: ["full"] }, true)],
  ["a namespace that does not exist", 1, () => writes.dropNamespace({ key: "nope", parts: ["nope"] }, true)],
  ["rows for a table that does not exist", 4, () => insert(plainStream([1]), { table: tableOf("nope") })],
  ["rows for a branch that does not exist", 22, () => insert(plainStream([1]), { ...plain, branch: "nope" })],
  ["a table to drop that does not exist", 4, () => writes.dropTable(tableOf("nope"))],
  ["a branch that exists", 23, () => writes.createBranch(plain.table, "parent", {})],
  ["a branch from one that does not exist", 22, () => writes.createBranch(plain.table, "new", { branch: "nope" })],
  ["a branch from a version that does not exist", 11, () => writes.createBranch(plain.table, "new", { version: 4711 })],
  ["a branch that others start from", 19, () => writes.deleteBranch(plain.table, "parent"), /delete them first/],
  ["a branch to delete that does not exist", 22, () => writes.deleteBranch(plain.table, "nope")],
  ["a version to restore that does not exist", 11, () => writes.restoreVersion(plain, 4711)],
  ["an index to drop that does not exist", 6, () => writes.dropIndex(plain, "nope")],
  [
    "an index of that name on another column",
    7,
    () => index({ column: "text", type: "BTREE", name: "by_id" }),
    /"by_id"/,
  ],
  ["an index on a column that does not exist", 12, () => index({ column: "nope", type: "BTREE" }), /"nope"/],
  [
    "an index that the type does not permit",
    20,
    () => index({ column: "text", type: "LABEL_LIST" }),
    /type of the column/,
  ],
  ["an index with too few rows", 19, () => index({}), /IVF_FLAT/],
  [
    "more partitions than rows",
    13,
    () => index({ type: "IVF_FLAT", parameters: { numPartitions: 4711 } }),
    /num_partitions/,
  ],
  [
    "more partitions than different vectors",
    13,
    async () => {
      const type = new FixedSizeList(8, new Field("item", new Float32(), true));
      const rows = Array.from({ length: 1000 }, (_, row) => ({
        vector: Array.from({ length: 8 }, (_, column) => Number(row % 5 === column)),
      }));
      const stream = streamOf(rows, new Schema([new Field("vector", type, true)]));
      const table = tableOf("alike");
      await writes.createTable(table, rowsOf(stream), "create");
      const parameters = { numPartitions: 300, distanceType: "dot", maxIterations: 10 } as const;
      await writes.createIndex({ table }, { column: "vector", type: "IVF_FLAT", parameters });
    },
    /num_partitions to \d+ or less/,
  ],
  ["a number of bits that does not exist", 13, () => index({ parameters: { numBits: 3 } }), /num_bits/],
  [
    "a number of sub-vectors that does not divide",
    13,
    () =>
      writes.createIndex(
        { table: tableOf("many") },
        { column: "vector", type: "IVF_PQ", parameters: { numSubVectors: 3 } },
      ),
    /num_sub_vectors/,
  ],
  ["a number of dimensions that is not a multiple of 8", 20, () => index({ type: "IVF_RQ" }), /multiple of 8/],
  [
    "a tokenizer that does not exist",
    13,
    () => index({ column: "text", type: "FTS", parameters: { baseTokenizer: "nope" } }),
    /base_tokenizer/,
  ],
  [
    "an index that exists and is not to be replaced",
    7,
    async () => {
      const many = { table: tableOf("many") };
      const specification = { column: "vector", type: "IVF_FLAT", name: "kept", parameters: {} } as const;
      await writes.createIndex(many, specification);
      await writes.createIndex(many, { ...specification, replace: false });
    },
    /"kept" already exists/,
  ],
  [
    "blobs of the first kind in a table of the current format",
    20,
    () =>
      native((to) => {
        const file = Buffer.from(tableToIPC(new Table(new Schema([blob])), "file"));
        return nativeOf<NativeConnection>(to).createTable("blobs", file, "create", [], {});
      }),
    /lance-encoding:blob/,
  ],
  [
    "a blob at an address of the machine",
    20,
    () => writes.createTable(tableOf("pointers"), blobRow({ data: null, uri: "file:///etc/passwd" }), "create"),
    /outside of the database/,
  ],
  [
    "a blob at an address of another bucket",
    20,
    () => writes.createTable(tableOf("pointers"), blobRow({ data: null, uri: "s3://another/secret" }), "create"),
    /outside of the database/,
  ],
  [
    "a blob that is a struct of nulls",
    20,
    () => writes.createTable(tableOf("pointers"), blobRow({ data: null, uri: null }), "create"),
    /either data or uri/,
  ],
  [
    "a column without values that must have some",
    20,
    () => writes.addEmptyColumns(plain, rowsOf(streamOf([], new Schema([number("n", false)])))),
    /"n" has no values yet/,
  ],
  ["an index on a missing column of two lines", 12, () => index({ column: "two\nlines", type: "BTREE" }), /no column/],
  ["a merge on a missing column of two lines", 12, () => merge(plainStream([1]), { on: ["two\nlines"] })],
  ["a merge on a column that does not exist", 12, () => merge(plainStream([1]), { on: ["nope"] }), /"nope"/],
  [
    "a merge that changes nothing",
    13,
    () => merge(plainStream([1]), { updateMatched: false, insertNotMatched: false }),
  ],
  ...(
    [
      ["with an index on its key", plain],
      ["without one", { table: tableOf("full", "t") }],
    ] as const
  ).map(
    ([which, target]): Provocation => [
      `a merge ${which} whose condition names a column of both sides`,
      13,
      () => writes.mergeRows(target, one, { ...upsert, updateMatchedIf: uncheckedExpression("id > 0") }),
      /"id" is ambiguous/,
    ],
  ),
  ["a merge with a key twice", 13, () => merge(plainStream([1, 1])), /each key once/],
  [
    "a merge of a column that the table lacks",
    20,
    () => merge(streamOf([{ id: 1n, more: 1n }], new Schema([number("id"), number("more")]))),
    /"more"/,
  ],
  [
    "an update of a column that does not exist",
    12,
    () => writes.updateRows(plain, undefined, [["nope", expression("1")]]),
  ],
  [
    "an update to another type",
    20,
    () => writes.updateRows(plain, undefined, [["id", expression("'word'")]]),
    /cannot be cast/,
  ],
  ["a predicate on a column that does not exist", 12, () => writes.deleteRows(plain, expression("nope = 1")), /"nope"/],
  ["a new column from one that does not exist", 12, () => writes.addColumns(plain, [["more", expression("nope")]])],
  ["a new column that exists", 20, () => writes.addColumns(plain, [["id", expression("1")]]), /"id"/],
  ["a column to alter that does not exist", 12, () => alter({ path: "nope", rename: "other" }), /"nope"/],
  ["an alteration to a name that exists", 20, () => alter({ rename: "id" }), /"id"/],
  ["an alteration that changes nothing", 13, () => alter({}), /changes nothing/],
  ["an alteration to a type that does not exist", 13, () => alter({ dataType: { type: "nope" } }), /data_type/],
  ["an alteration to a type without a cast", 20, () => alter({ dataType: { type: "int32" } }), /"text"/],
  [
    "a column with null that must not be null",
    20,
    () => alter({ path: "n", nullable: false }, { table: tableOf("nulls") }),
    /"n"/,
  ],
  ["a column to drop that does not exist", 12, () => writes.dropColumns(plain, ["nope"]), /"nope"/],
  ["all columns to drop", 13, () => writes.dropColumns(plain, ["id", "text", "vector"]), /at least one column/],
  ["a column without a name", 13, () => writes.dropColumns(plain, [""])],
  [
    "metadata of a column that does not exist",
    12,
    () => writes.updateFieldMetadata(plain, [{ path: "nope", metadata: {}, replace: false }]),
    /"nope"/,
  ],
  [
    "rows with a column that the table lacks",
    20,
    () => insert(streamOf([{ z: 1n }], new Schema([number("z")]))),
    /"z"/,
  ],
  [
    "rows with another type",
    20,
    () => insert(streamOf([{ id: "a" }], new Schema([new Field("id", new Utf8(), true)]))),
  ],
  ["vectors of another length", 20, () => insert(vectors(3, 1)), /"vector"/],
  ["a vector with NaN", 20, () => insert(vectors(4, Number.NaN)), /NaN/],
  [
    "null for a column that must not be null",
    20,
    () => insert(streamOf([{ n: null }], new Schema([number("n")])), { table: tableOf("strict") }),
    /"n"/,
  ],
  ["rows that are no Arrow data", 13, () => insert(new Uint8Array(64)), /Arrow IPC stream/],
  [
    "a schema with a column twice",
    20,
    () => writes.createTable(tableOf("twice"), rowsOf(twice()), "create"),
    /"aa"|schema/,
  ],
  ["rows whose values are damaged", 13, () => insert(damaged()), /not valid Arrow data/],
  ["a new table whose values are damaged", 13, () => writes.createTable(tableOf("new"), rowsOf(damaged()), "create")],
  ["a merge whose values are damaged", 13, () => merge(damaged()), /not valid Arrow data/],
  ["another writer's table of that name", 5, () => native((to) => to.createTable("plain", [{ id: 1 }]))],
  ["another writer's branch of that name", 23, () => native(branch)],
  [
    "a branch that another writer created",
    23,
    () => native(async (to) => (await (await to.openTable("plain")).branches()).create("parent")),
  ],
  ["another writer's namespace of that name", 14, () => native(namespace)],
  [
    "an index that another writer dropped",
    6,
    async () => native(async (to) => (await to.openTable("plain")).dropIndex("nope")),
  ],
];

/** A compressed buffer that cannot be decompressed. */
function damaged(): Uint8Array {
  const bytes = lz4.slice();
  bytes[bytes.byteLength - 20] = 0x55;
  return bytes;
}

/** What the checks before a call leave to the call itself, because another writer may be faster. */
const native = async (call: (to: Connection) => Promise<unknown>): Promise<never> => {
  try {
    await call(await connection.get());
  } catch (error) {
    throw classifyWrite(error);
  }
  throw new Error("no error");
};

/**
 * Runs a call four times at once, for another name each time until the calls overlap, which they need not on one CPU.
 * @throws the error that is about the other calls.
 */
const race = async (call: (name: string) => Promise<unknown>, about: RegExp): Promise<void> => {
  for (let round = 0; round < 50; round += 1) {
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map(() => call(`raced${round}`)));
    const failures = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason);
    const found = failures.find((reason) => about.test(String(reason)));
    if (found !== undefined) throw found;
  }
};
const branch = (to: Connection) =>
  race(async (name) => (await (await to.openTable("plain")).branches()).create(name), /already exists/);
const namespace = (to: Connection) => race((name) => to.createNamespace([name], { mode: "create" }), /concurrently/);

/** A stream whose schema has two columns of one name, which no library writes. */
function twice(): Uint8Array {
  const bytes = Buffer.from(streamOf([{ aa: 1n, ab: 1n }], new Schema([number("aa"), number("ab")])));
  for (let at = bytes.indexOf("ab"); at !== -1; at = bytes.indexOf("ab", at)) bytes.write("aa", at);
  return bytes;
}

describe("the database", () => {
  const errors: unknown[] = [];
  beforeAll(async () => {
    for (const [, , provoke] of provocations) errors.push(await provoke().catch((reason: unknown) => reason));
  });

  test.each(provocations.map(([what, code, , says = /./], index) => [what, code, says, index] as const))(
    "refuses %s with code %i",
    (_, code, says, index) => {
      const error = errors[index];
      expect(error).toBeInstanceOf(ServiceError);
      if (!(error instanceof ServiceError)) return;
      expect({ code: error.code, message: error.message, cause: String(error.cause).slice(0, 300) }).toMatchObject({
        code,
        message: says,
      });
      expect(error.message).not.toMatch(/cargo|lance-\d|\.rs:|lakehead-classify|\/tmp\//);
    },
  );

  test("gives every meaning, except those of other writers", () => {
    const causes = errors.map((error) => (error instanceof ServiceError ? error.cause : undefined));
    const unseen = writeMeanings.filter(
      (meaning) => !causes.some((cause) => findMeaning(cause, [meaning]) !== undefined),
    );
    expect(unseen.map(({ pattern }) => pattern.source)).toEqual([
      "^Too (?:much write contention|many concurrent writers)",
    ]);
  });
});

describe("rows with a damaged batch after a valid one", () => {
  // Its native reader panics at this one, and the SDK would create a table with the rows before it.
  const panicking = lz4.slice();
  for (const at of [552, 553]) panicking[at] = 0x55;
  const [valid, second] = [lz4, panicking].map((bytes) => ({ bytes, outline: outlineOf(bytes) })) as [Stream, Stream];
  const both = rowsOf(
    Buffer.concat([
      valid.bytes.subarray(0, valid.outline.length),
      second.bytes.subarray(second.outline.batches[0]?.offset),
    ]),
  );

  test.each([
    ["a new table", () => writes.createTable(tableOf("half"), both, "create")],
    ["an insert", () => writes.insertRows(plain, [both], "append")],
    ["a merge", () => writes.mergeRows(plain, both, upsert)],
  ])("%s is refused and writes nothing", async (_, write) => {
    const rows = async () => (await (await connection.get()).openTable("plain")).countRows();
    const before = await rows();
    await expect(write()).rejects.toMatchObject({ code: 13, message: /not valid Arrow data/ });
    expect(await rows()).toBe(before);
    expect(await (await connection.get()).tableNames()).not.toContain("half");
  });
});

describe("of concurrent creations of a table", () => {
  /** As many creations as `writers`, each by one of them; the ids of the rows that were acknowledged and that are there. */
  const race = async (writers: readonly WriteCalls[], name: string, mode: "create" | "exist_ok") => {
    const outcomes = await Promise.allSettled(
      writers.map((writer, id) => writer.createTable(tableOf(name), rowsOf(plainStream([id])), mode)),
    );
    const acknowledged = outcomes.flatMap((outcome, id) =>
      outcome.status === "fulfilled" && outcome.value.rows.inserted > 0 ? [id] : [],
    );
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
    const rows = await (await (await connection.get()).openTable(name)).query().toArray();
    return { acknowledged, refusals, rows: rows.map(({ id }) => Number(id)) };
  };

  test.each(["create", "exist_ok"] as const)("by one process in mode %s, the rows of the first stay", async (mode) => {
    const writer = createInTurn(writes);
    expect(await race(Array(6).fill(writer), `turn-${mode}`, mode)).toEqual({
      acknowledged: [0],
      refusals: mode === "create" ? [5, 5, 5, 5, 5] : [],
      rows: [0],
    });
  });

  test.each(["create", "exist_ok"] as const)(
    "by two processes in mode %s, those of the acknowledged one stay",
    async (mode) => {
      for (let round = 0; round < 10; round++) {
        const { acknowledged, refusals, rows } = await race([writes, writes], `two-${mode}-${round}`, mode);
        expect(acknowledged).toHaveLength(1);
        expect(refusals).toEqual(mode === "create" ? [5] : []);
        expect(rows).toEqual(acknowledged);
      }
    },
  );
});

describe("an error that may come after the commit", () => {
  test.each([
    ["a failure of the store", "lance error: Generic S3 error: Error performing PUT http://store/_versions/2.manifest"],
    ["one that nothing knows", "lance error: something else"],
  ])("%s is an unknown outcome, whose status no client retries", (_, text) => {
    expect(classifyWrite(new Error(text))).toMatchObject({ code: 18, status: 424, message: /may have been committed/ });
  });

  test.each([
    "lance error: LanceError(IO): Generic LocalFileSystem error: Unable to copy data to file: No space left on device (os error 28)",
    "lance error: LanceError(IO): No space left on device (os error 28), /src/writer/structural.rs:255:9",
  ])("a full disk refuses the write: %s", (text) => {
    expect(classifyWrite(new Error(text))).toMatchObject({ code: 17, status: 503, message: /no space left/ });
  });
});
