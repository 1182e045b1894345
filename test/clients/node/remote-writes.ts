import { strict as assert } from "node:assert";
import { type Branches, blob, type Connection, Index, makeArrowTable, type Table } from "@lancedb/lancedb";
import { Field, FixedSizeList, Float32, Int64, Schema, Utf8 } from "apache-arrow";
import { fails, type Say } from "./checks.ts";

const schema = new Schema([
  new Field("id", new Int64(), true),
  new Field("text", new Utf8(), true),
  new Field("vector", new FixedSizeList(4, new Field("item", new Float32(), true)), true),
]);

const rows = (ids: readonly number[], text = "first") =>
  makeArrowTable(
    ids.map((id) => ({ id: BigInt(id), text: `${text} ${id}`, vector: [id, 0, 0, 1] })),
    { schema },
  );

const idsOf = async (table: Table, predicate = "true"): Promise<number[]> =>
  (await table.query().where(predicate).select(["id"]).limit(1000).toArray())
    .map(({ id }) => Number(id))
    .sort((a, b) => a - b);

const badRequest = /400 Bad Request.*"code":(13|20)/;
// The client says so of every 404, without the service's own text.
const notFound = /not found/;

interface Watch {
  readonly table: (table: Table) => Table;
  readonly branches: (branches: Branches) => Branches;
}

/** The writes of the client: a table from its creation to its end. */
export const writes = async (say: Say, connection: Connection, watch: Watch): Promise<void> => {
  const others = await connection.tableNames();
  await say("create", "with rows, with a schema alone", async () => {
    assert.deepEqual(await idsOf(await connection.createTable("made", rows([1, 2, 3]))), [1, 2, 3]);
    assert.equal(await (await connection.createEmptyTable("bare", schema)).countRows(), 0);
  });
  await say("create", "a name that is taken: an error of the client's own, exist_ok, overwrite", async () => {
    await fails(/Table 'made' already exists/, () => connection.createTable("made", rows([4])));
    await connection.createTable("made", rows([4]), { existOk: true });
    assert.deepEqual(await idsOf(await connection.openTable("made")), [1, 2, 3]);
    await connection.createTable("made", rows([1, 2, 3, 4]), { mode: "overwrite" });
    assert.deepEqual(await idsOf(await connection.openTable("made")), [1, 2, 3, 4]);
  });
  await say("create", "in a namespace that is not there", () =>
    fails(/404 Not Found.*"code":1/, () => connection.createTable("in", rows([1]), ["nope"])),
  );
  await say("namespace/create", "one, the same again, with a table in it", async () => {
    await connection.createNamespace(["fresh"]);
    await fails(/409 Conflict.*"code":2/, () => connection.createNamespace(["fresh"]));
    const inner = await connection.createTable("inner", rows([1]), ["fresh"]);
    assert.deepEqual(await idsOf(inner), [1]);
  });
  await say("namespace/drop", "one with a table, one without, one that is not there", async () => {
    await fails(/409 Conflict.*"code":3/, () => connection.dropNamespace(["fresh"]));
    await connection.dropTable("inner", ["fresh"]);
    await connection.dropNamespace(["fresh"]);
    await fails(/404 Not Found.*"code":1/, () => connection.dropNamespace(["fresh"]));
  });

  const made = watch.table(await connection.openTable("made"));
  await say("insert", "rows, rows in place of all", async () => {
    const before = await made.version();
    assert.equal((await made.add(rows([5, 6]))).version, before + 1);
    assert.equal(await made.countRows(), 6);
    const bare = await connection.openTable("bare");
    await bare.add(rows([1]));
    await bare.add(rows([7, 8]), { mode: "overwrite" });
    assert.deepEqual(await idsOf(bare), [7, 8]);
  });
  await say("update", "some rows by an expression, by a value; no SQL, no such column", async () => {
    assert.equal((await made.update({ where: "id <= 2", valuesSql: { text: "'changed'" } })).rowsUpdated, 2);
    assert.equal((await made.update({ where: "id = 3", values: { text: "changed" } })).rowsUpdated, 1);
    assert.deepEqual(await idsOf(made, "text = 'changed'"), [1, 2, 3]);
    await fails(badRequest, () => made.update({ where: "id >", values: { text: "x" } }));
    await fails(notFound, () => made.update({ where: "nope = 1", values: { text: "x" } }));
  });
  await say("merge_insert", "rows that are there and one that is not; rows that the source lacks", async () => {
    const merged = await made
      .mergeInsert("id")
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute(rows([5, 6, 7], "merged"));
    assert.deepEqual([merged.numUpdatedRows, merged.numInsertedRows, merged.numDeletedRows], [2, 1, 0]);
    const gone = await made
      .mergeInsert(["id", "text"])
      .whenNotMatchedInsertAll()
      .whenNotMatchedBySourceDelete({ where: "id = 7" })
      .execute(rows([8]));
    assert.deepEqual([gone.numInsertedRows, gone.numDeletedRows], [1, 1]);
    assert.deepEqual(await idsOf(made), [1, 2, 3, 4, 5, 6, 8]);
    await fails(notFound, () =>
      made
        .mergeInsert("nope")
        .whenNotMatchedInsertAll()
        .execute(rows([9])),
    );
  });
  await say("delete", "some rows; no SQL, no such column", async () => {
    assert.equal((await made.delete("id > 6")).numDeletedRows, 1);
    await fails(badRequest, () => made.delete("id >"));
    await fails(notFound, () => made.delete("nope = 1"));
  });
  await say("create_index", "of numbers, vectors and words; waiting for them; a search in each", async () => {
    await made.createIndex("id", { config: Index.btree() });
    await made.createIndex("vector", { config: Index.ivfFlat({ numPartitions: 1 }) });
    await made.createIndex("text", { config: Index.fts() });
    await made.waitForIndex(["id_idx", "vector_idx", "text_idx"], 30);
    assert.deepEqual((await made.listIndices()).map(({ name }) => name).sort(), ["id_idx", "text_idx", "vector_idx"]);
    const found = await made
      .query()
      .fullTextSearch("merged", { columns: ["text"] })
      .limit(10)
      .toArray();
    assert.deepEqual(found.map(({ id }) => Number(id)).sort(), [5, 6]);
    const [near] = await made.query().nearestTo([3, 0, 0, 1]).limit(1).toArray();
    assert.equal(Number(near?.id), 3);
  });
  await say("create_index", "without waiting, with a name", async () => {
    await made.createIndexAsync("text", { config: Index.bitmap(), name: "words" });
    assert.ok((await made.listIndices()).some(({ name }) => name === "words"));
  });
  await say("create_index", "no such column, a type that the column cannot have", async () => {
    await fails(notFound, () => made.createIndex("nope", { config: Index.btree() }));
    await fails(badRequest, () => made.createIndex("vector", { config: Index.btree() }));
  });
  await say("index/{index_name}/drop", "one; one that is not there", async () => {
    await made.dropIndex("words");
    assert.ok(!(await made.listIndices()).some(({ name }) => name === "words"));
    await fails(notFound, () => made.dropIndex("words"));
  });
  await say("add_columns", "by an expression; one that is there", async () => {
    await made.addColumns([{ name: "twice", valueSql: "id * 2" }]);
    assert.deepEqual(await idsOf(made, "twice = 6"), [3]);
    await fails(badRequest, () => made.addColumns([{ name: "twice", valueSql: "1" }]));
  });
  await say("alter_columns", "another name; no such column", async () => {
    await made.alterColumns([{ path: "twice", rename: "double" }]);
    assert.deepEqual(await idsOf(made, "double = 6"), [3]);
    await fails(notFound, () => made.alterColumns([{ path: "nope", rename: "x" }]));
  });
  await say("update_field_metadata", "of a column; no such column", async () => {
    await made.updateFieldMetadata([{ path: "double", metadata: { unit: "none" } }]);
    await fails(notFound, () => made.updateFieldMetadata([{ path: "nope", metadata: { a: "b" } }]));
  });
  await say("drop_columns", "one; one that is not there", async () => {
    await made.dropColumns(["double"]);
    await fails(notFound, () => made.dropColumns(["double"]));
  });
  let job = "";
  await say("add_columns", "computed; of no such column", async () => {
    const sums = watch.table(await connection.createTable("sums", rows([1, 2, 3])));
    await sums.addColumns({ computed: [{ name: "triple", valueSql: "id * 3" }] });
    assert.equal(await sums.countRows("triple is null"), 3);
    await fails(notFound, () => sums.addColumns({ computed: [{ name: "other", valueSql: "nope + 1" }] }));
  });
  await say("backfill_column", "all rows; a column that is not computed", async () => {
    const sums = watch.table(await connection.openTable("sums"));
    const refresh = await sums.refreshColumnAsync("triple");
    await refresh.wait();
    assert.deepEqual(await idsOf(sums, "triple = id * 3"), [1, 2, 3]);
    job = refresh.id ?? "";
    await fails(badRequest, () => sums.refreshColumnAsync("id"));
  });
  await say("/jobs/describe", "one that is done", async () => {
    const known = await connection.openJob(job);
    await known.refresh();
    assert.deepEqual(
      [known.jobType, known.result.rows_assigned, await known.status()],
      ["refresh_column", 3, "finished"],
    );
  });
  await say("/jobs/query_events", "by a filter", async () => {
    const events = await (await connection.openJob(job)).events({ filter: "state = 'claim_complete'" });
    assert.deepEqual(
      events.toArray().map((row) => Number(row.rows_processed)),
      [3],
    );
  });
  await say("/jobs/list", "with the one that is done", async () => {
    assert.ok(JSON.stringify(await connection.listJobs()).includes(job));
  });
  await say("/jobs/cancel", "one that is done; one that is not there", async () => {
    assert.deepEqual([await connection.cancelJob(job), await connection.cancelJob("none")], [true, false]);
    await connection.dropTable("sums");
  });
  await say("restore", "an old version", async () => {
    await made.checkout(1);
    await made.restore();
    assert.deepEqual(await idsOf(made), [1, 2, 3]);
  });
  const branches = watch.branches(await made.branches());
  await say("branches/create", "one with rows of its own; the same again", async () => {
    const side = await branches.create("side");
    await side.add(rows([9]));
    assert.deepEqual([await side.countRows(), await made.countRows()], [4, 3]);
    await fails(/already exists/, () => branches.create("side"));
  });
  await say("branches/delete", "one; one that is not there", async () => {
    await branches.delete("side");
    await fails(notFound, () => branches.delete("side"));
  });
  const images = [Buffer.from("first"), null, Buffer.alloc(0), Buffer.alloc(70_000, 7), Buffer.alloc(5_000_000, 9)];
  const withImages = async () => {
    const table = watch.table(await connection.openTable("images"));
    const hits = await table.query().select(["id"]).withRowId().limit(10).toArray();
    const rowIds = images.map((_, id) => BigInt(hits.find((row) => Number(row.id) === id)._rowid));
    return { table, rowIds };
  };
  await say("fetch_blobs", "of every place in a column, null, empty, twice; a column without blobs", async () => {
    const withBlobs = new Schema([new Field("id", new Int64(), true), blob("image")]);
    await connection.createTable(
      "images",
      images.map((image, id) => ({ id: BigInt(id), image })),
      { schema: withBlobs },
    );
    const { table, rowIds } = await withImages();
    assert.deepEqual(await table.blobColumns(), ["image"]);
    const [first] = rowIds as [bigint, ...bigint[]];
    assert.deepEqual(await table.fetchBlobs("image", [...rowIds, first]), [...images, images[0]]);
    await fails(/is not a blob column/, () => table.fetchBlobs("id", rowIds));
  });
  await say("blob/{column}/{row_id}/bytes", "sizes, a part of one, all of another", async () => {
    const { table, rowIds } = await withImages();
    const files = await table.fetchBlobFiles("image", rowIds);
    assert.deepEqual(
      files.map((file) => file && Number(file.size())),
      images.map((image) => image?.byteLength ?? null),
    );
    assert.deepEqual(await files[4]?.readRange(10n, 20n), images[4]?.subarray(10, 20));
    assert.deepEqual(await files[3]?.read(), images[3]);
    await connection.dropTable("images");
  });
  await say("drop", "tables, at once and later; one that is not there", async () => {
    await connection.dropTable("made");
    await connection.dropTableAsync("bare");
    assert.deepEqual(await connection.tableNames(), others);
    await fails(/404 Not Found.*"code":4/, () => connection.dropTable("made"));
  });
};
