import { connect } from "node:net";
import { join } from "node:path";
import { blob, connect as connectDatabase } from "@lancedb/lancedb";
import { Schema } from "apache-arrow";
import { beforeAll, describe, expect, test } from "vitest";
import { scopes } from "../../../service/auth/index.ts";
import { readOperations as operations } from "../../../service/operations/index.ts";
import { addressOf as addressInDocument, type Operation } from "../../../service/operations/operation.ts";
import { labelOf } from "../../support/openapi.ts";
import type { Answer, CallOptions } from "../../support/request.ts";
import { isolated, type TestService, useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import {
  breakTable,
  brokenRoot,
  checkError,
  crowdedEnvironment,
  errorCodesOf,
  fakeJwt,
  issuerAwayEnvironment,
  nothing,
  nowhere,
  throttled,
} from "../error-codes.ts";
import { useStoredService } from "../store/support.ts";

/** Provokes every error code of every operation. A code that no test provokes fails the run. */
const otherTable = "token-for-another-table";

const service = useService({
  tokens: [
    ...scopes.map((scope) => staticToken(`only ${scope}`, `token-${scope.replace(":", "-")}`, [scope])),
    staticToken("elsewhere", otherTable, scopes, ["other$*"]),
    nowhere,
  ],
  environment: isolated,
});
const crowded = useService({ environment: crowdedEnvironment });
const issuerAway = useService({ environment: issuerAwayEnvironment });
const rootBroken = useService(async () => ({ database: await brokenRoot() }));
const stored = useStoredService({ consistencySeconds: 60, environment: isolated });

beforeAll(async () => {
  await fetch(`${stored.store.endpoint}/lake/tables/docs.lance/_refs/tags/damaged.json`, { method: "PUT", body: "{" });
  await Promise.all([service, crowded].map(({ directory }) => makeBlobs(directory)));
  await breakTable(join(service.directory, "plain.lance"));
});

/** Creates the table `blobs`, with one blob in the column `image`. */
const makeBlobs = async (directory: string): Promise<void> => {
  const connection = await connectDatabase(directory);
  await connection.createTable("blobs", [{ image: Buffer.from("bytes") }], { schema: new Schema([blob("image")]) });
  connection.close();
};

/** The operations by their labels in the matrix. */
const byLabel = new Map(operations.map((operation) => [labelOf(addressInDocument(operation)), operation]));

const operationOf = (label: string): Operation => {
  const found = byLabel.get(label);
  if (found === undefined) throw new Error(`no operation ${label}`);
  return found;
};

const isOnTable = (label: string): boolean => ["table", "view"].includes(operationOf(label).target);

/** A body that an operation accepts: its own example. */
const bodyOf = (label: string): Readonly<Record<string, unknown>> => operationOf(label).example ?? {};

/** The same body with other fields, inside `query` where the operation nests it. */
const withFields = (label: string, change: object): object => {
  const body = bodyOf(label);
  return "query" in body ? { query: { ...(body.query as object), ...change } } : { ...body, ...change };
};

type Provoke = (label: string) => Promise<Answer>;

/** Values of the parameters of an address. */
interface Target {
  readonly table?: string;
  readonly namespace?: string;
  readonly index?: string;
  readonly column?: string;
}

/** The table on which an operation answers 200. */
const tableOf = (label: string): string => (label.includes("blob") ? "blobs" : "docs");

const addressOf = (
  label: string,
  { table = tableOf(label), namespace = "prod", index = "id_idx", column = "image" }: Target,
): string => {
  const operation = operationOf(label);
  return addressInDocument(operation)
    .replace("{id}", isOnTable(label) ? table : namespace)
    .replace("{index_name}", index)
    .replace("{column}", column)
    .replace("{row_id}", "0");
};

const send = (
  to: TestService,
  label: string,
  target: Target = {},
  body: object = bodyOf(label),
  options: CallOptions = {},
): Promise<Answer> =>
  to.ask(addressOf(label, target), body, {
    method: operationOf(label).methods.includes("POST") ? "POST" : "GET",
    ...options,
  });

const ask =
  (target: Target, change: object = {}, options: CallOptions = {}): Provoke =>
  (operation) => {
    const isGet = !operationOf(operation).methods.includes("POST");
    const query = isGet ? `?${new URLSearchParams(change as Record<string, string>)}` : "";
    return send(service, operation, target, withFields(operation, change), { query, ...options });
  };

const provocations: Readonly<Record<number, Provoke>> = {
  0: ask({}, {}, { method: "PUT" }),
  1: ask({ table: "nowhere$at$all", namespace: "nowhere" }),
  4: ask({ table: "missing" }),
  6: ask({ index: "no-such-index" }),
  8: ask({}, { tag: "no-such-tag" }),
  9: async (operation) => {
    await service.call(operation, "docs", { tag: "twice", version: 1 });
    return service.call(operation, "docs", { tag: "twice", version: 1 });
  },
  11: async (operation) => {
    await service.call("tags/create", "docs", { tag: "named", version: 1 });
    return ask({}, { ...(operation === "tags/update" ? { tag: "named" } : {}), version: 4711 })(operation);
  },
  12: (operation) => {
    if (operation.includes("{column}")) return ask({ column: "no_such_column" })(operation);
    if (operation === "fetch_blobs") return ask({}, { column: "no_such_column" })(operation);
    return ask(
      {},
      operation === "count_rows" ? { predicate: "no_such_column = 1" } : { columns: ["no_such_column"] },
    )(operation);
  },
  13: ask({}, {}, { rawBody: "{", query: "?limit=0&delimiter=" }),
  15: ask({}, {}, { token: nothing }),
  16: ask({}, {}, { token: null }),
  17: (operation) => send(issuerAway, operation, {}, bodyOf(operation), { token: fakeJwt }),
  18: (operation) => (isOnTable(operation) ? ask({ table: "plain" })(operation) : send(rootBroken, operation)),
  // In a bucket: in a local directory, a list leaves the tag out and an update replaces it.
  19: (operation) =>
    send(stored.service, operation, {}, withFields(operation, operation === "tags/list" ? {} : { tag: "damaged" })),
  21: (operation) => throttled(() => send(crowded, operation)),
  22: ask({}, { branch: "no-such-branch" }),
};

describe.each([...byLabel.keys()])("%s", (operation) => {
  test.each(errorCodesOf(operation))("answers code %i", async (code) => {
    const provoke = provocations[code];
    if (provoke === undefined) throw new Error(`nothing provokes code ${code}`);
    checkError(await provoke(operation), code);
  });
});

test("all operations respond with 200", async () => {
  // Another test may have created the tag.
  await send(service, "tags/delete");
  // No test table is a materialized view: views.test.ts describes some.
  const others = [...byLabel.keys()].filter((label) => !/^tags.(create|delete)$|^materialized_view/.test(label));
  for (const label of ["tags/create", ...others, "tags/delete"])
    expect(await send(service, label), label).toMatchObject({ status: 200 });
});

test("a tag that would break the list of tags is refused", async () => {
  const answer = await service.call("tags/create", "docs", { tag: "größe", version: 1 });
  expect(answer).toMatchObject({ status: 400, body: { code: 13, error: expect.stringContaining("outside ASCII") } });
  expect(await service.call("tags/list", "docs")).toMatchObject({ status: 200 });
});

describe("failures outside of operations", () => {
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${service.base}${path}`, init);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  test("an unknown route is 404 with the error body", async () => {
    const { status, body, headers } = await get("/nothing");
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 0, instance: headers.get("x-request-id") });
  });

  test("an unsupported operation of the catalog is 406, which clients do not read as a missing table", async () => {
    const { status, body } = await get("/v1/table/docs/merge_insert", { method: "POST" });
    expect(status).toBe(406);
    expect(body).toMatchObject({ code: 0 });
  });

  test("405 has the allowed methods", async () => {
    const { status, headers } = await get("/v1/table/docs/explain_plan");
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe("POST");
  });

  test("a body that is too large is 413, with and without Content-Length", async () => {
    const large = JSON.stringify({ filter: "x".repeat(2 ** 20) });
    const declared = await service.call("analyze_plan", "docs", undefined, { rawBody: large });
    expect(declared).toMatchObject({ status: 413, body: { code: 13 } });
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(large));
        controller.close();
      },
    });
    const chunked = await fetch(`${service.base}/v1/table/docs/analyze_plan`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
      body: chunks,
      duplex: "half",
    } as RequestInit);
    expect(chunked.status).toBe(413);
    expect(await chunked.json()).toMatchObject({ code: 13 });
  });

  test.each([{ "content-type": "text/plain" }, { "content-encoding": "gzip" }])("415 for %j", async (headers) => {
    const answer = await service.call("explain_plan", "docs", { query: { k: 3 } }, { headers });
    expect(answer).toMatchObject({ status: 415, body: { code: 13 } });
  });

  /** Sends bytes that no HTTP client would send. */
  const sendRaw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(service.base);
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(text));
      let answer = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        answer += chunk;
      });
      socket.on("close", () => resolve(answer)).on("error", reject);
    });

  test.each([
    ["text that is not HTTP", "hello\r\n\r\n", 400],
    ["an invalid Host", "GET /x HTTP/1.1\r\nHost: a/b?\r\nConnection: close\r\n\r\n", 400],
    ["no Host", "GET /x HTTP/1.1\r\nConnection: close\r\n\r\n", 404],
    ["no path", "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400],
    ["an unknown expectation", "GET /x HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n", 404],
  ])("%s gets the error body", async (_, text, status) => {
    const answer = await sendRaw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1))).toMatchObject({
      error: expect.any(String),
      code: expect.any(Number),
      instance: expect.any(String),
    });
  });

  test("headers that are too large are 431", async () => {
    const { status, body } = await get("/v1/table/docs/stats", { headers: { "x-lance-ctx-long": "x".repeat(20_000) } });
    expect(status).toBe(431);
    expect(body).toMatchObject({ code: 13 });
  });
});

describe("scopes", () => {
  const cases = operations.flatMap((operation) =>
    scopes.map((granted) => ({ label: labelOf(addressInDocument(operation)), scope: operation.scope, granted })),
  );
  test.each(cases)("$label with $granted", async ({ label, scope, granted }) => {
    const token = `token-${granted.replace(":", "-")}`;
    const answer = await send(service, label, {}, bodyOf(label), { token });
    // An authorized call may still fail because its tag does not exist.
    if (scope === null || scope === granted) expect(answer.status).not.toBe(403);
    else expect(answer).toMatchObject({ status: 403, body: { code: 15 } });
  });
});

test("describe returns the version of a tag only with the scope of tags/version", async () => {
  for (const operation of ["describe", "tags/version"]) {
    const [refused, looked] = await Promise.all(
      ["token-stats", "token-tags-read"].map((token) => service.call(operation, "docs", { tag: "absent" }, { token })),
    );
    expect(refused).toMatchObject({ status: 403, body: { code: 15, error: expect.stringContaining("tags:read") } });
    expect(looked).toMatchObject({ status: 404, body: { code: 8 } });
  }
});

test("a token for other tables is refused alike for an existing and a missing table", async () => {
  const real = await service.call("stats", "docs", {}, { token: otherTable });
  const missing = await service.call("stats", "missing", {}, { token: otherTable });
  expect(real.status).toBe(403);
  expect({ ...missing.body, instance: "" }).toEqual({ ...real.body, instance: "" });
});
