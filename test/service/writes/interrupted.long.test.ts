import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withStorageDefaults } from "../../../service/config/storage-options.ts";
import { ServiceError } from "../../../service/errors.ts";
import type { VerifiedExpression } from "../../../service/guard/expression/index.ts";
import { LazyConnection } from "../../../service/lance/connection/connection.ts";
import { removeStrayOptions } from "../../../service/lance/connection/environment.ts";
import { classify } from "../../../service/lance/errors/classify.ts";
import { openWrites } from "../../../service/lance/in-process-database.ts";
import { Staging, stagingCaches } from "../../../service/lance/uploads/staging.ts";
import type { RowData, WriteCalls, WriteTarget } from "../../../service/lance/writes/write-calls.ts";
import { type ObjectStore, startObjectStore } from "../../support/object-store.ts";
import { Bucket } from "../../support/object-store-content.ts";
import { type Responder, respond } from "../../support/object-store-protocol.ts";
import { plainStream } from "./support.ts";

/**
 * Each request of a write that changes the store fails, or loses its response, before or after it takes effect. The write is
 * committed once or not at all, and its outcome says which, or that it is unknown. `test:stores` kills processes as well.
 */

interface Fault {
  readonly takesEffect: boolean;
  readonly isCut: boolean;
}

const faults: Readonly<Record<string, Fault>> = {
  "500 instead of": { takesEffect: false, isCut: false },
  "500 after": { takesEffect: true, isCut: false },
  "a lost connection before": { takesEffect: false, isCut: true },
  "a lost connection after": { takesEffect: true, isCut: true },
};

const rows = (...ids: number[]): RowData => ({ kind: "bytes", bytes: plainStream(ids) });
const expression = (text: string): VerifiedExpression => text as VerifiedExpression;
const upsert = {
  on: ["id"],
  updateMatched: true,
  insertNotMatched: true,
  deleteNotMatchedBySource: false,
  useIndex: true,
};

const writes: Readonly<Record<string, (to: WriteCalls, target: WriteTarget) => Promise<unknown>>> = {
  createTable: (to, { table }) => to.createTable(table, rows(1, 2, 3), "create"),
  insertRows: (to, target) => to.insertRows(target, [rows(10, 11)], "append"),
  mergeRows: (to, target) => to.mergeRows(target, rows(2, 20), upsert),
  updateRows: (to, target) => to.updateRows(target, expression("id > 1"), [["text", expression("'updated'")]]),
  deleteRows: (to, target) => to.deleteRows(target, expression("id = 2")),
  addColumns: (to, target) => to.addColumns(target, [["more", expression("id * 2")]]),
  createIndex: (to, target) => to.createIndex(target, { column: "id", type: "BTREE", parameters: {} }),
  restoreVersion: (to, target) => to.restoreVersion(target, 1),
};

const withoutRetries = { client_max_retries: "0", lance_aimd_max_retries: "0" };

describe.each([
  ["s3", "with retries", {}],
  ["s3", "without retries", withoutRetries],
  ["gs", "without retries", withoutRetries],
] as const)("on %s://, %s", (cloud, title, retries) => {
  let store: ObjectStore;
  let connection: LazyConnection;
  let calls: WriteCalls;
  /** Number of changes since the write began. */
  let changes = 0;
  let fault: (Fault & { readonly at: number }) | undefined;
  const outcomes: Record<string, number> = {};

  beforeAll(async () => {
    // Like the service at its start: vitest sets BASE_URL, which the SDK mistakes for Google's address.
    removeStrayOptions(process.env);
    const inner = respond(new Bucket());
    const behind: Responder = async (ask) => {
      if (ask.method === "GET" || ask.method === "HEAD") return inner(ask);
      changes++;
      if (fault === undefined || changes !== fault.at) return inner(ask);
      const { takesEffect, isCut } = fault;
      if (takesEffect) await inner(ask);
      if (isCut) throw new Error("the connection is lost");
      return { status: 500 };
    };
    store = await startObjectStore({ cloud, behind });
    const storageOptions = withStorageDefaults(store.uri, { ...store.storageOptions, ...retries });
    connection = new LazyConnection(
      { uri: store.uri, storageOptions },
      { indexBytes: 2 ** 24, metadataBytes: 2 ** 24 },
      undefined,
    );
    const limits = { maxWriteBytes: 2 ** 20, schemas: { maxSchemaBytes: 2 ** 20, maxValueBytes: 2 ** 20 } };
    calls = openWrites(connection, limits, new Staging({ uri: store.uri, storageOptions }, stagingCaches));
  });
  afterAll(async () => {
    process.stdout.write(`interrupted writes on ${cloud}://, ${title}: ${JSON.stringify(outcomes)}\n`);
    await connection.close();
    await store.close();
  });

  const run = (name: string, target: WriteTarget): Promise<unknown> => {
    const write = writes[name];
    if (write === undefined) throw new Error(`no write ${name}`);
    changes = 0;
    return write(calls, target);
  };

  let tables = 0;
  const prepare = async (name: string): Promise<WriteTarget> => {
    const key = `${name}-${++tables}`;
    const target = { table: { key, name: key, namespace: [], parts: [key] } };
    if (name !== "createTable") await run("createTable", target);
    if (name === "restoreVersion") await run("deleteRows", target);
    return target;
  };

  /** All that a reader sees of a table. */
  const contentOf = async ({ table }: WriteTarget): Promise<string> => {
    const opened = await (await connection.get()).openTable(table.name).catch((error: unknown) => {
      if (classify(error).code === 4) return undefined;
      throw error;
    });
    if (opened === undefined) return "absent";
    const read = (await opened.query().toArray()).map(({ id, text, more }) => `${id} ${text} ${more}`);
    const indices = (await opened.listIndices()).map((index) => index.name);
    opened.close();
    return JSON.stringify([read.sort(), indices]);
  };

  test.each(Object.keys(writes))(
    "%s is committed once or not at all",
    async (name) => {
      const whole = await prepare(name);
      const before = await contentOf(whole);
      await run(name, whole);
      const steps = changes;
      const after = await contentOf(whole);
      expect(steps).toBeGreaterThan(1);
      expect(after).not.toBe(before);
      const wrong: string[] = [];
      for (let at = 1; at <= steps; at++)
        for (const [when, kind] of Object.entries(faults)) {
          const target = await prepare(name);
          fault = { ...kind, at };
          const status = await run(name, target).then(
            () => 200,
            (error: unknown) => (error instanceof ServiceError ? error.status : String(error)),
          );
          fault = undefined;
          const content = await contentOf(target);
          const isCommitted = content === after;
          const isRight = (isCommitted || content === before) && (status === 424 || isCommitted === (status === 200));
          if (!isRight) wrong.push(`${when} change ${at} of ${steps}: ${status}, ${content}`);
          const outcome = `${status} ${isCommitted ? "committed" : "not committed"}`;
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          if (isCommitted) continue;
          await run(name, target);
          if ((await contentOf(target)) !== after)
            wrong.push(`${when} change ${at} of ${steps}: the next attempt differs`);
        }
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});
