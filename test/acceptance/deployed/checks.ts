import { randomBytes } from "node:crypto";
import { tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow";
import { type Client, expectEqual, expectStatus, type Reply, Skipped } from "./client.ts";

/** What a check may use. `table` is the one that `--table` names, else the first that the token may see. */
export interface Subject {
  readonly client: Client;
  readonly table: () => string;
}

export interface Check {
  readonly title: string;
  readonly run: (subject: Subject) => Promise<void>;
}

const ofTable = async ({ client, table }: Subject, operation: string, body: unknown = {}): Promise<Reply> =>
  expectStatus(200, await client.send(`/v1/table/${encodeURIComponent(table())}/${operation}`, { body }));

const refusal = (reply: Reply, status: number, code: number): void => {
  expectStatus(status, reply);
  expectEqual("the error code", reply.json().code, code);
};

const rowsOf = (reply: Reply): number => tableFromIPC(reply.bytes).numRows;

export const reads: readonly Check[] = [
  {
    title: "the OpenAPI document is served, and not again to a client that has it",
    run: async ({ client }) => {
      const document = expectStatus(200, await client.send("/openapi.json", { method: "GET" }));
      const etag = document.headers.get("etag") ?? "";
      expectEqual("a path of the document", typeof document.json().paths?.["/v1/table/{id}/query"], "object");
      expectStatus(304, await client.send("/openapi.json", { method: "GET", headers: { "if-none-match": etag } }));
    },
  },
  {
    title: "a request without a token, or with an unknown one, gets 401",
    run: async ({ client }) => {
      for (const authorization of [undefined, "Bearer unknown"])
        refusal(await client.send("/v1/table", { method: "GET", authorization }), 401, 16);
    },
  },
  {
    title: "the tables that the token permits are listed",
    run: async ({ client }) => {
      const { tables } = expectStatus(200, await client.send("/v1/table", { method: "GET" })).json();
      expectEqual("the list", Array.isArray(tables), true);
    },
  },
  { title: "a table is described", run: async (subject) => void (await ofTable(subject, "describe")) },
  {
    title: "its rows are counted, the same by statistics and by a predicate that all rows fit",
    run: async (subject) => {
      const { num_rows: rows } = (await ofTable(subject, "stats")).json();
      expectEqual("count_rows", (await ofTable(subject, "count_rows")).json(), rows);
      expectEqual("count_rows of true", (await ofTable(subject, "count_rows", { predicate: "1 = 1" })).json(), rows);
    },
  },
  {
    title: "its versions, tags and indices are listed",
    run: async (subject) => {
      const { versions } = (await ofTable(subject, "version/list")).json();
      if (!Array.isArray(versions) || versions.length === 0) throw new Error("the list of versions is empty");
      await ofTable(subject, "tags/list");
      await ofTable(subject, "index/list");
    },
  },
  {
    title: "a query returns rows as an Arrow file",
    run: async (subject) => {
      const { num_rows: rows } = (await ofTable(subject, "stats")).json();
      const reply = await ofTable(subject, "query", { k: 3, vector: [], columns: undefined });
      expectEqual("the number of rows", rowsOf(reply), Math.min(3, rows));
    },
  },
  {
    title: "a query's plan is explained",
    run: async (subject) => {
      const plan = (await ofTable(subject, "explain_plan", { query: { k: 3, vector: [] } })).json();
      if (typeof plan !== "string" || plan === "") throw new Error("the plan is not a text");
    },
  },
  {
    title: "a misspelled field, an unknown function and a table that does not exist are refused by name",
    run: async (subject) => {
      const path = `/v1/table/${encodeURIComponent(subject.table())}/count_rows`;
      refusal(await subject.client.send(path, { body: { predicat: "1 = 1" } }), 400, 13);
      refusal(await subject.client.send(path, { body: { predicate: "no_such_function(1) = 1" } }), 400, 13);
      const missing = await subject.client.send(`/v1/table/missing-${randomBytes(6).toString("hex")}/stats`, {});
      // A token for some tables only does not learn whether others exist.
      if (missing.status !== 403) refusal(missing, 404, 4);
    },
  },
];

const file = (from: number, to: number): Uint8Array<ArrayBuffer> => {
  const ids = Int32Array.from({ length: to - from }, (_, index) => from + index);
  return Uint8Array.from(tableToIPC(tableFromArrays({ id: ids }), "stream"));
};

/** Creates a namespace with a table, changes the table, and removes both, also after a failure. */
export const writes: Check = {
  title: "a table in a namespace of its own is created, appended to, updated, restored and dropped",
  run: async ({ client }) => {
    const namespace = `acceptance-${randomBytes(6).toString("hex")}`;
    const table = `/v1/table/${namespace}$rows`;
    const rows = (from: number, to: number) => ({
      body: file(from, to),
      contentType: "application/vnd.apache.arrow.stream",
    });
    const count = async (expected: number, predicate?: string) =>
      expectEqual(
        "the number of rows",
        expectStatus(200, await client.send(`${table}/count_rows`, { body: { predicate } })).json(),
        expected,
      );
    const created = await client.send(`/v1/namespace/${namespace}/create`, { body: {} });
    if (created.status === 406) throw new Skipped("the service takes no writes (LAKEHEAD_WRITES)");
    expectStatus(200, created);
    try {
      expectStatus(200, await client.send(`${table}/create`, rows(0, 10)));
      try {
        expectStatus(200, await client.send(`${table}/insert`, rows(10, 15)));
        await count(15);
        const update = { predicate: "id >= 10", updates: [["id", "id + 100"]] };
        expectStatus(200, await client.send(`${table}/update`, { body: update }));
        await count(5, "id >= 110");
        expectStatus(200, await client.send(`${table}/delete`, { body: { predicate: "id < 5" } }));
        await count(10);
        expectStatus(200, await client.send(`${table}/restore`, { body: { version: 1 } }));
        await count(10, "id < 10");
      } finally {
        expectStatus(200, await client.send(`${table}/drop`, { body: {} }));
      }
    } finally {
      expectStatus(200, await client.send(`/v1/namespace/${namespace}/drop`, { body: {} }));
    }
    refusal(await client.send(`${table}/stats`, {}), 404, 1);
  },
};
