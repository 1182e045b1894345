import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { blob, connect } from "@lancedb/lancedb";
import { Field, Int64, Schema, tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testToken } from "../../support/request.ts";
import { isolated, startTestService, type TestService, useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { bytesOf, type Database, makeDatabase, readBytes, stored } from "./support.ts";

let database: Database;
const planner = "token-that-only-plans";
beforeAll(async () => {
  database = await makeDatabase();
});
afterAll(() => database.remove());
const service = useService(() => ({
  database: database.directory,
  tokens: [staticToken("planner", planner, ["plan", "stats"])],
  environment: { ...isolated, LAKEHEAD_QUEUE_SECONDS: "120" },
}));

const blobsOf = (body: Uint8Array): readonly (Uint8Array | null)[] => {
  const column = tableFromIPC(body).getChildAt(0);
  return Array.from({ length: column?.length ?? 0 }, (_, row) => column?.get(row) ?? null);
};
const fetchBlobs = (table: string, body: object, on = service) =>
  on.call("fetch_blobs", table, { column: "image", ...body }, { trailingSlash: true });

describe("fetch_blobs", () => {
  test("returns blobs of every place in the order of the ids, with nulls, empty values and repetitions", async () => {
    const ids = [4, 0, 1, 2, 3, 0];
    const { status, headers, body } = await fetchBlobs("blobs", { row_ids: ids });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/vnd.apache.arrow.stream");
    expect(headers.get("x-lancedb-version")).toBe("1");
    expect(tableFromIPC(body).schema.fields.map(({ name }) => name)).toEqual(["image"]);
    const blobs = blobsOf(body);
    expect(blobs.map((blob) => blob && Buffer.from(blob))).toEqual(ids.map((id) => stored[id]));
  });

  test("returns a stream without rows for no ids", async () => {
    const { status, body } = await fetchBlobs("blobs", { row_ids: [] });
    expect([status, blobsOf(body)]).toEqual([200, []]);
  });

  test("reads a column within a struct", async () => {
    const { body } = await fetchBlobs("nested", { column: "info.image", row_ids: [0] });
    expect(blobsOf(body).map((blob) => Buffer.from(blob ?? []).toString())).toEqual(["deep"]);
  });

  test.each([
    [{ column: "nope", row_ids: [0] }, /nope/],
    [{ column: "id", row_ids: [0] }, /'id' is not a blob column/],
    [{ row_ids: [0, 999] }, /row_ids: no row has the id 999/],
    [{ row_ids: [-1] }, /row_ids/],
    [{ row_ids: [2 ** 60] }, /9007199254740991/],
    [{ row_ids: [0], version: 99 }, /version/],
  ])("refuses %j", async (request, message) => {
    const { status, body } = await fetchBlobs("blobs", request);
    expect(status).toBeOneOf([400, 404]);
    expect(body.error).toMatch(message);
  });

  test("refuses more bytes than clients accept, with the words at which they divide a request", async () => {
    const { status, body } = await fetchBlobs("blobs", { row_ids: Array.from({ length: 13 }, () => 4) });
    expect(status).toBe(400);
    expect(body.error).toMatch(/fetch_blobs accepts at most 67108864 total blob bytes/);
  });
});

describe("the bytes of a blob", () => {
  test.each([
    ["a range", "bytes=10-19", 206, "bytes 10-19/70000", [10, 20]],
    ["the probe of a size", "bytes=0-0", 206, "bytes 0-0/70000", [0, 1]],
    ["an open range", "bytes=0-", 206, "bytes 0-69999/70000", [0, 70_000]],
    ["a range beyond the end", "bytes=69990-80000", 206, "bytes 69990-69999/70000", [69_990, 70_000]],
    ["a suffix", "bytes=-5", 206, "bytes 69995-69999/70000", [69_995, 70_000]],
    ["no range", undefined, 200, null, [0, 70_000]],
    ["a range that HTTP ignores", "bytes=5-1", 200, null, [0, 70_000]],
  ] as const)("answers %s", async (_, range, status, contentRange, [start, end]) => {
    const response = await readBytes(service.base, "blobs", 3, range === undefined ? {} : { range });
    expect([response.status, response.headers.get("content-range")]).toEqual([status, contentRange]);
    expect(response.headers.get("x-lancedb-version")).toBe("1");
    expect(response.headers.get("content-length")).toBe(String(end - start));
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytesOf(70_000).subarray(start, end));
  });

  test("is whole over several windows", async () => {
    const response = await readBytes(service.base, "blobs", 4, { range: "bytes=1-" });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytesOf(5 * 2 ** 20).subarray(1))).toBe(true);
  });

  test("is 204 for null, 416 for a range of an empty one, and 200 for all of it", async () => {
    expect((await readBytes(service.base, "blobs", 1, { range: "bytes=0-0" })).status).toBe(204);
    const empty = await readBytes(service.base, "blobs", 2, { range: "bytes=0-0" });
    expect([empty.status, empty.headers.get("content-range")]).toEqual([416, "bytes */0"]);
    expect((await readBytes(service.base, "blobs", 3, { range: "bytes=70000-" })).status).toBe(416);
    const whole = await readBytes(service.base, "blobs", 2);
    expect([whole.status, (await whole.arrayBuffer()).byteLength]).toEqual([200, 0]);
  });

  test("sends all where If-Range asks for what has not changed: nothing tells", async () => {
    const response = await readBytes(service.base, "blobs", 3, { range: "bytes=0-1", headers: { "if-range": '"x"' } });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 70_000]);
  });

  test("has its length for HEAD, and no body", async () => {
    const response = await readBytes(service.base, "blobs", 3, { method: "HEAD" });
    expect([response.status, response.headers.get("content-length")]).toEqual([200, "70000"]);
  });

  test("is kept by browsers only where its version is named, and is nothing that they run", async () => {
    const latest = await readBytes(service.base, "blobs", 0);
    expect(latest.headers.get("cache-control")).toBe("no-store");
    const pinned = await readBytes(service.base, "blobs", 0, { query: "?version=1" });
    expect(pinned.headers.get("cache-control")).toMatch(/^private, max-age=/);
    for (const { headers } of [latest, pinned])
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "application/octet-stream",
        "content-disposition": "attachment",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
      });
  });

  test.each([
    [{ row: "999" }, 400, /no row has the id 999/],
    [{ row: "18446744073709551615" }, 400, /no row has the id 18446744073709551615/],
    [{ row: "18446744073709551616" }, 400, /row_id/],
    [{ row: "1e3" }, 400, /row_id/],
    [{ row: "0", query: "?version=7" }, 404, /version/],
    [{ row: "0", query: "?branch=nope" }, 404, /branch/],
    [{ row: "0", column: "id" }, 400, /not a blob column/],
    [{ row: "0", column: "nope" }, 404, /nope/],
    [{ row: "0", column: "two\nlines" }, 404, /column not found/],
  ])("refuses %j", async ({ row, ...options }, status, message) => {
    const response = await readBytes(service.base, "blobs", row, options);
    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: string }).error).toMatch(message);
  });

  test("needs the scope read", async () => {
    expect((await readBytes(service.base, "blobs", 0, { token: planner })).status).toBe(403);
    const { status } = await service.call(
      "fetch_blobs",
      "blobs",
      { column: "image", row_ids: [0] },
      { token: planner },
    );
    expect(status).toBe(403);
  });

  test("reads the version and the branch that were asked for", async () => {
    const connection = await connect(database.directory);
    const table = await connection.openTable("nested");
    const branches = await table.branches();
    const branch = await branches.create("side");
    await branch.add([{ id: 2n, info: { name: "b", image: Buffer.from("other") } }]);
    const [row] = await branch.query().where("id = 2").withRowId().select(["id"]).toArray();
    const read = (query: string) => readBytes(service.base, "nested", row._rowid, { query, column: "info.image" });
    expect(await (await read("?branch=side")).text()).toBe("other");
    expect((await read("")).status).toBe(400);
  });
});

const folder = "/tmp/lakehead-external-blobs";

describe("a blob that points outside of the database", () => {
  const statuses = async (on: TestService, row: number): Promise<readonly number[]> => [
    (await on.call("fetch_blobs", "external", { column: "img", row_ids: [row] })).status,
    (await readBytes(on.base, "external", row, { column: "img" })).status,
    (await readBytes(on.base, "external", row, { column: "img", range: "bytes=0-0" })).status,
    (await readBytes(on.base, "external", row, { column: "img", method: "HEAD" })).status,
    (await readBytes(on.base, "external", row, { column: "img", query: "?version=1" })).status,
  ];

  test("is refused on every way to read it, whatever its scheme, and names no address", async () => {
    for (const row of [1, 2, 3, 4, 5, 6])
      expect([row, ...(await statuses(service, row))]).toEqual([row, 403, 403, 403, 403, 403]);
    const { body } = await service.call("fetch_blobs", "external", { column: "img", row_ids: [0, 1] });
    expect(body.error).toMatch(/the blob of row 1 is stored outside of the database.*LAKEHEAD_BLOB_PREFIXES/);
    expect(JSON.stringify(body)).not.toMatch(/passwd/);
  });

  test("does not keep the other blobs of its table from being read", async () => {
    expect(await statuses(service, 0)).toEqual([200, 200, 206, 200, 200]);
  });

  test("is read below a prefix that the operator lists, and no other is", async () => {
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/photo.bin`, "a photo");
    const listed = await startTestService({
      database: database.directory,
      environment: { LAKEHEAD_BLOB_PREFIXES: `s3://photos/,file://${folder}/` },
    });
    try {
      expect(await statuses(listed, 3)).toEqual([200, 200, 206, 200, 200]);
      expect(await (await readBytes(listed.base, "external", 3, { column: "img" })).text()).toBe("a photo");
      for (const row of [1, 2, 4, 5, 6])
        expect([row, ...(await statuses(listed, row))]).toEqual([row, 403, 403, 403, 403, 403]);
    } finally {
      await listed.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("stays a pointer when the service changes its row", async () => {
    const writing = await makeDatabase();
    const writer = await startTestService({ database: writing.directory, environment: { LAKEHEAD_WRITES: "on" } });
    try {
      expect((await writer.call("update", "external", { updates: [["id", "id + 10"]] })).status).toBe(200);
      const rows = await writer.call("query", "external", { k: 10, columns: ["id"], with_row_id: true });
      const ids = rowIdsOf(rows.body);
      expect(ids.length).toBe(7);
      for (const [index, row] of ids.entries())
        expect([index, ...(await statuses(writer, row)).slice(0, 3)]).toEqual(
          index === 0 ? [0, 200, 200, 206] : [index, 403, 403, 403],
        );
    } finally {
      await writer.stop();
      await writing.remove();
    }
  });
});

const rowIdsOf = (file: Uint8Array): readonly number[] =>
  [...(tableFromIPC(file).getChild("_rowid") ?? [])].map(Number);

test("readers that stop give their memory back: others read on", async () => {
  for (let reader = 0; reader < 40; reader++) {
    const stop = new AbortController();
    const response = await fetch(`${service.base}/v1/table/blobs/blob/image/4/bytes`, {
      headers: { authorization: `Bearer ${testToken}` },
      signal: stop.signal,
    });
    await response.body?.getReader().read();
    stop.abort();
  }
  const whole = await Promise.all(Array.from({ length: 16 }, () => readBytes(service.base, "blobs", 4)));
  expect(whole.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
  for (const response of whole) expect((await response.arrayBuffer()).byteLength).toBe(5 * 2 ** 20);
});

test("several readers, fast and slow ones, through both ways of serving a request, get the same bytes", async () => {
  const bytes = bytesOf(24 * 2 ** 20);
  const connection = await connect(database.directory);
  const schema = new Schema([new Field("id", new Int64()), blob("image")]);
  await connection.createTable("large", [{ id: 1n, image: bytes }], { schema });
  connection.close();
  const digestOf = (parts: Uint8Array): string => createHash("sha256").update(parts).digest("hex");
  const row = 0;
  const read = async (pauseMs: number): Promise<string> => {
    const response = await readBytes(service.base, "large", row);
    const hash = createHash("sha256");
    let chunks = 0;
    for await (const chunk of response.body ?? []) {
      hash.update(chunk);
      if (pauseMs > 0 && chunks++ % 32 === 0) await sleep(pauseMs);
    }
    return hash.digest("hex");
  };
  const fetched = fetchBlobs("large", { row_ids: [row] });
  const digests = await Promise.all([0, 0, 20, 0, 50, 0].map(read));
  expect(new Set(digests)).toEqual(new Set([digestOf(bytes)]));
  const [only] = blobsOf((await fetched).body);
  expect(digestOf(only ?? new Uint8Array())).toBe(digestOf(bytes));
}, 120_000);
