import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Dictionary, Int32, Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { describe, expect, test } from "vitest";
import type { Answer, CallOptions } from "../../support/request.ts";
import { startTestService, type TestService, useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { startStoredService } from "../store/support.ts";
import { asRows, plainStream, writesOn } from "../writes/support.ts";

const other = "token-of-another-writer";
const options = {
  tokens: [staticToken("other", other)],
  environment: { ...writesOn, LAKEHEAD_MAX_WRITE_BYTES: "65536", LAKEHEAD_CONSISTENCY_SECONDS: "0" },
};
const service = useService(options);
/** On the same database. */
const replica = useService(() => ({ ...options, database: service.directory }));

let tables = 0;
const makeTable = async (): Promise<string> => {
  const table = `uploaded_${++tables}`;
  expect((await service.call("create", table, undefined, asRows(plainStream([1])))).status).toBe(200);
  return table;
};
const begin = async (table: string, query = "", options: CallOptions = {}): Promise<string> => {
  const { status, body } = await service.call("multipart_write/create", table, undefined, {
    rawBody: "",
    query,
    ...options,
  });
  expect([status, body], JSON.stringify(body)).toMatchObject([200, { upload_id: expect.any(String) }]);
  return body.upload_id;
};
const sendPart = (
  table: string,
  upload: string,
  ids: readonly number[],
  { part = randomUUID(), on = service, query = "", ...options }: CallOptions & { part?: string; on?: TestService } = {},
): Promise<Answer> =>
  on.call(
    "insert",
    table,
    undefined,
    asRows(plainStream(ids), {
      trailingSlash: true,
      query: `?upload_id=${upload}&upload_part_id=${part}${query}`,
      ...options,
    }),
  );
const end = (
  step: "complete" | "abort",
  table: string,
  upload: string,
  { on = service, query = "", ...options }: CallOptions & { on?: TestService } = {},
): Promise<Answer> =>
  on.call(`multipart_write/${step}`, table, undefined, {
    rawBody: "",
    query: `?upload_id=${upload}${query}`,
    ...options,
  });

const countOf = async (table: string): Promise<number> => (await service.call("count_rows", table)).body;
const versionOf = async (table: string): Promise<number> => (await service.call("describe", table)).body.version;
const stagedIn = (directory: string): string[] =>
  existsSync(join(directory, "_lakehead")) ? readdirSync(join(directory, "_lakehead")) : [];

describe("an upload in parts", () => {
  test("is one commit of all parts, which any replica takes", async () => {
    const table = await makeTable();
    const upload = await begin(table);
    for (const [ids, on] of [
      [[2, 3], service],
      [[4], replica],
      [[5, 6, 7], service],
    ] as const) {
      const answer = await sendPart(table, upload, ids, { on });
      expect([answer.status, answer.body]).toEqual([202, null]);
    }
    expect(await versionOf(table)).toBe(1);
    expect(await end("complete", table, upload, { on: replica })).toMatchObject({ status: 200, body: { version: 2 } });
    expect(await countOf(table)).toBe(7);
  });

  test("answers the same version to each complete, one after another and at once", async () => {
    const table = await makeTable();
    const upload = await begin(table);
    await sendPart(table, upload, [2]);
    const answers = await Promise.all(
      [service, replica, service, replica].map((on) => end("complete", table, upload, { on })),
    );
    answers.push(await end("complete", table, upload, { on: replica }));
    expect(answers.map(({ status, body }) => [status, body.version])).toEqual(answers.map(() => [200, 2]));
    expect([await countOf(table), await versionOf(table)]).toEqual([2, 2]);
  });

  test("has a part once that was sent twice, as it was the last time", async () => {
    const table = await makeTable();
    const upload = await begin(table);
    const part = randomUUID();
    await sendPart(table, upload, [2, 3, 4], { part });
    await sendPart(table, upload, [5], { part });
    await end("complete", table, upload);
    expect(await countOf(table)).toBe(2);
  });

  test("of many parts has each of them, and as it was the last time", async () => {
    const table = await makeTable();
    const upload = await begin(table);
    const parts = Array.from({ length: 70 }, () => randomUUID());
    for (const [at, part] of parts.entries()) await sendPart(table, upload, [100 + at], { part });
    await sendPart(table, upload, [1000], { part: parts[0] ?? "" });
    expect((await end("complete", table, upload)).status).toBe(200);
    const { body } = await service.call("count_rows", table, { predicate: "id > 100 AND id <= 1000" });
    expect([body, await countOf(table)]).toEqual([70, 71]);
  });

  test("replaces all rows once where every part says so, and refuses parts that differ", async () => {
    const table = await makeTable();
    const upload = await begin(table);
    for (const ids of [[2], [3]]) await sendPart(table, upload, ids, { query: "&mode=overwrite" });
    expect((await end("complete", table, upload)).body.version).toBe(2);
    expect(await countOf(table)).toBe(2);
    const mixed = await begin(table);
    await sendPart(table, mixed, [4], { query: "&mode=overwrite" });
    await sendPart(table, mixed, [5]);
    expect(await end("complete", table, mixed)).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^mode:/) },
    });
    expect((await end("abort", table, mixed)).status).toBe(200);
  });

  test("goes to the branch that it names, and to no other", async () => {
    const table = await makeTable();
    await service.call("branches/create", table, { name: "side" });
    const query = "&branch=side";
    const upload = await begin(table, "?branch=side");
    expect((await sendPart(table, upload, [2])).status).toBe(400);
    expect((await sendPart(table, upload, [2], { query })).status).toBe(202);
    expect((await end("complete", table, upload)).status).toBe(400);
    expect((await end("complete", table, upload, { query })).status).toBe(200);
    expect(await countOf(table)).toBe(1);
    expect((await service.call("count_rows", table, { branch: "side" })).body).toBe(2);
  });

  test("commits nothing without parts", async () => {
    const table = await makeTable();
    expect((await end("complete", table, await begin(table))).body).toEqual({ version: 1 });
    expect(await versionOf(table)).toBe(1);
  });

  test("leaves nothing of its parts when it is complete or aborted", async () => {
    const table = await makeTable();
    const [done, aborted] = [await begin(table), await begin(table)];
    for (const upload of [done, aborted]) await sendPart(table, upload, [2]);
    await end("complete", table, done);
    expect((await end("abort", table, aborted)).status).toBe(200);
    expect((await end("abort", table, aborted)).status).toBe(200);
    const staged = stagedIn(service.directory).filter((name) => /^(parts|pieces)-/.test(name));
    expect(staged.filter((name) => name.includes(done) || name.includes(aborted))).toEqual([]);
    expect(await sendPart(table, aborted, [3])).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^upload_id/) },
    });
    expect((await end("complete", table, aborted)).status).toBe(400);
    expect((await end("abort", table, done)).status).toBe(409);
    expect(await countOf(table)).toBe(2);
  });

  test("is no list's table", async () => {
    const table = await makeTable();
    const upload = await begin(table);
    expect(
      JSON.stringify((await service.ask("/v1/namespace/$/table/list", undefined, { method: "GET" })).body),
    ).not.toContain(upload);
    await end("abort", table, upload);
  });

  test("is its caller's alone, and of one table", async () => {
    const [table, second] = [await makeTable(), await makeTable()];
    const upload = await begin(table);
    const refused = { status: 400, body: { error: expect.stringMatching(/the upload does not exist/) } };
    expect(await sendPart(table, upload, [2], { token: other })).toMatchObject(refused);
    expect(await end("complete", table, upload, { token: other })).toMatchObject(refused);
    expect(await end("abort", table, upload, { token: other })).toMatchObject(refused);
    expect(await sendPart(second, upload, [2])).toMatchObject(refused);
    expect(await end("complete", second, upload)).toMatchObject(refused);
    await end("abort", table, upload);
  });

  test.each(["", "x", "../upload", `${"0".repeat(8)}-${"0".repeat(16)}-${"0".repeat(32)}`, "a' OR '1' = '1"])(
    "is refused by the id %j",
    async (upload) => {
      const table = await makeTable();
      const id = encodeURIComponent(upload);
      expect((await sendPart(table, id, [2])).status).toBe(400);
      expect((await end("complete", table, id)).status).toBe(400);
      expect((await end("abort", table, id)).status).toBe(400);
    },
  );

  test("needs both ids of a part, and a table that exists", async () => {
    const table = await makeTable();
    for (const query of ["?upload_id=x", "?upload_part_id=x"])
      expect((await service.call("insert", table, undefined, asRows(plainStream([2]), { query }))).status).toBe(400);
    expect((await service.call("multipart_write/create", "missing", undefined, { rawBody: "" })).status).toBe(404);
    const upload = await begin(table);
    expect((await sendPart(table, upload, [2], { part: "a b" })).status).toBe(400);
    await end("abort", table, upload);
  });
});

describe("an upload that is too large", () => {
  const ids = (count: number) => Array.from({ length: count }, (_, id) => id);

  test("is refused with 413 at the part that passes the limit, and keeps the others", async () => {
    const table = await makeTable();
    const upload = await begin(table);
    const answers: Answer[] = [];
    for (let part = 0; part < 4; part++) answers.push(await sendPart(table, upload, ids(1200)));
    expect(answers.map(({ status }) => status)).toEqual([202, 413, 413, 413]);
    expect(answers[1]?.body.error).toMatch(/more than 65536 bytes.*LAKEHEAD_MAX_WRITE_BYTES/);
    expect((await end("complete", table, upload)).status).toBe(200);
    expect(await countOf(table)).toBe(1201);
  });
});

test("uploads of one caller leave room for those of others", async () => {
  const few = await startTestService({
    tokens: [staticToken("other", other)],
    environment: { ...writesOn, LAKEHEAD_MAX_UPLOADS: "4" },
  });
  const ask = (token?: string) =>
    few.call("multipart_write/create", "plain", undefined, { rawBody: "", ...(token === undefined ? {} : { token }) });
  try {
    const own = [await ask(), await ask(), await ask()];
    expect(own.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(own[2]?.body.error).toMatch(/2 uploads in parts.*complete or abort/);
    expect((await ask(other)).status).toBe(200);
    for (const { body } of own.slice(0, 2)) await end("abort", "plain", body.upload_id, { on: few });
    expect((await ask()).status).toBe(200);
  } finally {
    await few.stop();
  }
});

test("rows with dictionaries are refused at their part", async () => {
  const table = await makeTable();
  const upload = await begin(table);
  const rows = new Table({ text: vectorFromArray(["a", "b"], new Dictionary(new Utf8(), new Int32())) });
  const answer = await service.call(
    "insert",
    table,
    undefined,
    asRows(new Uint8Array(tableToIPC(rows, "stream")), { query: `?upload_id=${upload}&upload_part_id=p` }),
  );
  expect(answer).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/dictionaries.*write_parallelism=1/) },
  });
  await end("abort", table, upload);
});

test.each(["s3", "gs"] as const)("in a bucket of %s it is one commit, and leaves no part", async (cloud) => {
  const stored = await startStoredService({ cloud, consistencySeconds: 0, environment: writesOn });
  try {
    const on = stored.service;
    const before: number = (await on.call("count_rows", "plain")).body;
    const { body } = await on.call("multipart_write/create", "plain", undefined, { rawBody: "" });
    for (const ids of [[2, 3], [4]]) expect((await sendPart("plain", body.upload_id, ids, { on })).status).toBe(202);
    const answers = await Promise.all([1, 2].map(() => end("complete", "plain", body.upload_id, { on })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
    expect((await on.call("count_rows", "plain")).body).toBe(before + 3);
  } finally {
    await stored.stop();
  }
});
