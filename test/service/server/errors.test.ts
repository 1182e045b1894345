import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { scopes } from "../../../service/auth/index.ts";
import { type ErrorCode, errorKinds } from "../../../service/errors.ts";
import { operations } from "../../../service/operations/index.ts";
import { addressOf as addressInDocument } from "../../../service/operations/operation.ts";
import { possible } from "../../support/matrix.ts";
import { labelOf } from "../../support/openapi.ts";
import { type Answer, type CallOptions, startTestService, type TestService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";

/**
 * Every operation x every code that it can answer, provoked for real. The run's summary counts these; a cell that
 * nothing provokes fails the run.
 */
let service: TestService;
let crowded: TestService;
let issuerAway: TestService;
let rootBroken: TestService;

const nothing = "token-for-nothing";
const otherTable = "token-for-another-table";

beforeAll(async () => {
  const tokens = [
    ...scopes.map((scope) => staticToken(`only ${scope}`, `token-${scope.replace(":", "-")}`, [scope])),
    staticToken("elsewhere", otherTable, scopes, ["other$*"]),
    staticToken("nowhere", nothing, scopes, []),
  ];
  [service, crowded, issuerAway, rootBroken] = await Promise.all([
    startTestService({ tokens }),
    startTestService({ environment: { LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: "1" } }),
    startTestService({
      environment: {
        // Nothing listens there.
        LAKEHEAD_AUTH_ISSUER: "http://127.0.0.1:9/",
        LAKEHEAD_AUTH_AUDIENCE: "lakehead",
      },
    }),
    startTestService({ database: await brokenRoot() }),
  ]);
  await breakTable(join(service.directory, "plain.lance"));
});
afterAll(async () => {
  await Promise.all([service, crowded, issuerAway, rootBroken].map((each) => each.stop()));
  await rm(home, { recursive: true, force: true });
});

/** A table whose manifests are no manifests: what a bug or a bad disk leaves behind. */
const breakTable = async (directory: string): Promise<void> => {
  const versions = join(directory, "_versions");
  for (const file of await readdir(versions))
    await writeFile(join(versions, file), "this is no manifest, whatever it was");
};

let home = "";

/** A database whose list of namespaces cannot be read. */
const brokenRoot = async (): Promise<string> => {
  home = await mkdtemp(join(tmpdir(), "lakehead-broken-"));
  await cp(inject("tables"), home, { recursive: true });
  await breakTable(join(home, "__manifest"));
  return home;
};

const vector = Array.from({ length: 16 }, () => 0.5);
const query = { k: 3, vector, vector_column: "vector" };

/** A body that each operation accepts. */
const bodies: Readonly<Record<string, Record<string, unknown>>> = {
  explain_plan: { query },
  analyze_plan: query,
  "tags/create": { tag: "ok", version: 1 },
  "tags/version": { tag: "ok" },
  "tags/delete": { tag: "ok" },
  "tags/update": { tag: "ok", version: 1 },
  query,
  "version/describe": { version: 1 },
};

const bodyOf = (operation: string): Record<string, unknown> => bodies[operation] ?? {};

/** The same body with fields of the query changed, wherever the operation keeps it. */
const withQuery = (operation: string, change: object): object =>
  operation === "explain_plan" ? { query: { ...query, ...change } } : { ...bodyOf(operation), ...change };

const fakeJwt = ["eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ", "eyJzdWIiOiJ4In0", "c2ln"].join(".");

type Provoke = (operation: string) => Promise<Answer>;

/** What a provocation may aim at, by the part of an address that names it. */
interface Target {
  readonly table?: string;
  readonly namespace?: string;
  readonly index?: string;
}

const onNamespaces = (operation: string): boolean => operation === "table" || operation.startsWith("namespace/");

/** Operations whose only method is GET. */
const listsNames = (operation: string): boolean => /^table$|^namespace.*list$/.test(operation);

const addressOf = (operation: string, { table = "docs", namespace = "prod", index = "id_idx" }: Target): string => {
  const path = operation.replace("{index_name}", index).replace("{id}", namespace);
  return onNamespaces(operation) ? `/v1/${path}` : `/v1/table/${table}/${path}`;
};

const send = (
  to: TestService,
  operation: string,
  target: Target = {},
  body: object = bodyOf(operation),
  options: CallOptions = {},
): Promise<Answer> =>
  to.ask(addressOf(operation, target), body, { method: listsNames(operation) ? "GET" : "POST", ...options });

const ask =
  (target: Target, change: object = {}, options: CallOptions = {}): Provoke =>
  (operation) =>
    send(service, operation, target, withQuery(operation, change), options);

/** Sends bursts until one request meets another: how long a call takes is the machine's business. */
const provokeThrottling: Provoke = async (operation) => {
  for (let round = 0; round < 50; round++) {
    const answers = await Promise.all(Array.from({ length: 24 }, () => send(crowded, operation)));
    const throttled = answers.find(({ status }) => status === 429);
    if (throttled !== undefined) return throttled;
  }
  throw new Error("no burst was throttled");
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
  12: ask({}, { columns: ["no_such_column"], predicate: "no_such_column = 1" }),
  13: ask({}, {}, { rawBody: "{", query: "?limit=0&delimiter=" }),
  15: ask({}, {}, { token: nothing }),
  16: ask({}, {}, { token: null }),
  17: (operation) => send(issuerAway, operation, {}, bodyOf(operation), { token: fakeJwt }),
  18: (operation) => (onNamespaces(operation) ? send(rootBroken, operation) : ask({ table: "plain" })(operation)),
  21: provokeThrottling,
  22: ask({}, { branch: "no-such-branch" }),
};

describe.each(Object.entries(possible))("%s", (operation, codes) => {
  test.each(codes.filter((code) => code !== "ok"))("answers code %i", async (code) => {
    const provoke = provocations[code];
    if (provoke === undefined) throw new Error(`nothing provokes code ${code}`);
    const answer = await provoke(operation);
    expect(answer.body).toMatchObject({ code });
    const expected = code === 0 ? 405 : errorKinds[code as ErrorCode].status;
    expect(answer.status).toBe(expected);
  });
});

test("all operations answer 200", async () => {
  const created = await service.call("tags/create", "docs", { tag: "ok", version: 1 });
  expect(created).toMatchObject({ status: 200, body: {} });
  expect(await service.call("tags/version", "docs", { tag: "ok" })).toMatchObject({
    status: 200,
    body: { version: 1 },
  });
  for (const operation of Object.keys(possible).filter((name) => !/^tags.(create|delete)$/.test(name)))
    expect(await send(service, operation)).toMatchObject({ status: 200 });
  expect(await service.call("tags/delete", "docs", { tag: "ok" })).toMatchObject({ status: 200, body: {} });
});

test("a tag that would take the list of tags away is not made", async () => {
  const answer = await service.call("tags/create", "docs", { tag: "größe", version: 1 });
  expect(answer).toMatchObject({ status: 400, body: { code: 13, error: expect.stringContaining("outside ASCII") } });
  expect(await service.call("tags/list", "docs")).toMatchObject({ status: 200 });
});

describe("what no operation answers", () => {
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${service.base}${path}`, init);
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  test("an unknown route is 404 with the contract's body", async () => {
    const { status, body, headers } = await get("/nothing");
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 0, instance: headers.get("x-request-id") });
  });

  test("what the catalog has and this server has not is 406, which no client takes for a missing table", async () => {
    const { status, body } = await get("/v1/table/docs/merge_insert", { method: "POST" });
    expect(status).toBe(406);
    expect(body).toMatchObject({ code: 0 });
  });

  test("405 says which methods there are", async () => {
    const { status, headers } = await get("/v1/table/docs/explain_plan");
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe("POST");
  });

  test("a body that is too large is 413, declared or not", async () => {
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
    const answer = await service.call("explain_plan", "docs", { query }, { headers });
    expect(answer).toMatchObject({ status: 415, body: { code: 13 } });
  });

  /** Bytes as they are, for what no HTTP client would send. */
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
    ["what is no HTTP", "hello\r\n\r\n", 400],
    ["a Host that is none", "GET /x HTTP/1.1\r\nHost: a/b?\r\nConnection: close\r\n\r\n", 400],
    ["no Host", "GET /x HTTP/1.1\r\nConnection: close\r\n\r\n", 404],
    ["no path", "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 400],
    ["an unknown expectation", "GET /x HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n", 404],
  ])("%s gets the contract's body", async (_, text, status) => {
    const answer = await sendRaw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1))).toMatchObject({
      error: expect.any(String),
      code: expect.any(Number),
      instance: expect.any(String),
    });
  });

  test("headers without end are 431", async () => {
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
    // Past authorization it may still be told that its tag is not there.
    if (scope === null || scope === granted) expect(answer.status).not.toBe(403);
    else expect(answer).toMatchObject({ status: 403, body: { code: 15 } });
  });
});

test("describe tells a tag's version to nobody whom tags/version tells nothing", async () => {
  for (const operation of ["describe", "tags/version"]) {
    const [refused, looked] = await Promise.all(
      ["token-stats", "token-tags-read"].map((token) => service.call(operation, "docs", { tag: "absent" }, { token })),
    );
    expect(refused).toMatchObject({ status: 403, body: { code: 15, error: expect.stringContaining("tags:read") } });
    expect(looked).toMatchObject({ status: 404, body: { code: 8 } });
  }
});

test("a token for other tables is refused whether the table exists or not", async () => {
  const real = await service.call("stats", "docs", {}, { token: otherTable });
  const missing = await service.call("stats", "missing", {}, { token: otherTable });
  expect(real.status).toBe(403);
  expect({ ...missing.body, instance: "" }).toEqual({ ...real.body, instance: "" });
});

test("no answer carries native text, a path or the location of the source", async () => {
  for (const provoke of Object.values(provocations)) {
    const { body } = await provoke("explain_plan").catch(() => ({ body: {} }));
    expect(JSON.stringify(body)).not.toMatch(/cargo|lance-\d|\.rs:|lakehead-test-|\/tmp\//);
  }
});
