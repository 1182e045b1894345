import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, connect } from "@lancedb/lancedb";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MaintenanceRecord } from "../../../service/lance/maintenance/maintenance-record.ts";
import { isolated, startTestService, type TestService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { writesOn } from "../writes/support.ts";
import { idsOf, openTable, range, rowsFrom } from "./support.ts";

// Each test starts a service, and most a process that loads the SDK.
vi.setConfig({ testTimeout: 120_000 });
afterAll(() => vi.resetConfig());

const ofTeam = "token-of-a-team";
const ofReader = "token-of-a-reader";

let directory: string;
let connection: Connection;
let service: TestService | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-maintain-test-"));
  connection = await connect(directory);
});
afterEach(async () => {
  await service?.stop();
  service = undefined;
  connection.close();
  await rm(directory, { recursive: true, force: true });
});

const start = async (environment: Readonly<Record<string, string>> = writesOn): Promise<TestService> => {
  service = await startTestService({
    database: directory,
    tokens: [
      staticToken("team", ofTeam, ["stats", "manage"], ["team$**"]),
      staticToken("reader", ofReader, ["stats"], ["**"]),
    ],
    environment,
  });
  return service;
};

const commits = 24;

/** A table with so many fragments of a row that its maintenance is due. */
const makeSlow = async (name: string, namespace: string[] = []): Promise<void> => {
  const table = await connection.createTable(name, rowsFrom(0, 1), namespace);
  for (let id = 1; id < commits; id++) await table.add(rowsFrom(id, 1));
};

const reason = `${commits} fragments of fewer than 100,000 rows (due from 20)`;

const withRecord = async <T>(use: (record: MaintenanceRecord) => Promise<T>): Promise<T> => {
  const record = new MaintenanceRecord({ uri: directory, storageOptions: {} }, { indexBytes: 0, metadataBytes: 0 });
  try {
    return await use(record);
  } finally {
    await record.close();
  }
};

const list = async (to: TestService, query = "", token?: string) =>
  to.ask(`/v1/maintenance${query}`, undefined, { method: "GET", ...(token === undefined ? {} : { token }) });

describe("the maintenance of a table on request", () => {
  test("is refused while another run holds the lease, with its name and the lease's end, and changes nothing", async () => {
    await makeSlow("events");
    await withRecord((record) => record.acquire("events", "elsewhere/7/abcdef01", 600_000));
    const to = await start();
    expect(await to.call("maintain", "events")).toMatchObject({
      status: 409,
      body: {
        code: 14,
        error: expect.stringMatching(/another run works on the table: elsewhere\/7\/abcdef01, .*\d{4}-\d\d-\d\dT/),
      },
    });
    expect(await (await openTable(directory, "events")).version()).toBe(commits);
    const [state] = (await list(to)).body.tables;
    expect(state.holder).toMatchObject({ owner: "elsewhere/7/abcdef01", expires_at_millis: expect.any(Number) });
  });

  test("is refused without a rule for the table, and leaves no record of it", async () => {
    await makeSlow("events");
    const to = await start({ ...writesOn, LAKEHEAD_MAINTENANCE: '[{"tables":["other"]}]' });
    expect(await to.call("maintain", "events")).toMatchObject({
      status: 409,
      body: { code: 19, error: expect.stringContaining("LAKEHEAD_MAINTENANCE") },
    });
    expect((await list(to)).body.tables).toEqual([{ id: "events", has_rule: false, due: [], notes: [] }]);
    expect(await readdir(directory)).toEqual(["events.lance"]);
  });

  test("that takes longer than a write may is ended with 424; its lease is released, and the record says why", async () => {
    await makeSlow("events");
    const to = await start({ ...writesOn, LAKEHEAD_WRITE_DEADLINE_SECONDS: "0.1" });
    const answer = await to.call("maintain", "events");
    expect(answer).toMatchObject({
      status: 424,
      body: { code: 18, error: expect.stringContaining("it took more than 0.1 s; raise LAKEHEAD_MAINTENANCE_TABLE") },
    });
    const [state] = (await list(to)).body.tables;
    expect(state).toMatchObject({ due: [reason], left: expect.stringContaining("it took more than 0.1 s") });
    expect(state.holder).toBeUndefined();
    expect(state.due_since_millis).toBeGreaterThan(Date.now() - 60_000);
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, commits));
  });

  test("stops when the service stops, and gives its lease back", async () => {
    await makeSlow("events");
    const to = await start({ ...writesOn, LAKEHEAD_MAINTENANCE_LEASE_SECONDS: "600" });
    const answer = to.call("maintain", "events");
    await expect
      .poll(() => withRecord((record) => record.rows()).then((rows) => rows.get("events")?.owner ?? ""))
      .not.toBe("");
    await Promise.all([answer.catch(() => undefined), to.stop()]);
    service = undefined;
    const row = (await withRecord((record) => record.rows())).get("events");
    expect(row).toMatchObject({ owner: "", note: expect.stringMatching(/^(|the service is stopping)$/) });
  });

  test("does what is due and answers with the figures before and after; the next one finds nothing", async () => {
    await makeSlow("events");
    const to = await start({ ...writesOn, ...isolated });
    expect((await to.call("count_rows", "events")).body).toBe(commits);
    const { status, headers, body } = await to.call("maintain", "events");
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        due: [reason],
        remaining: [],
        conflicted: false,
        before: { version: commits, fragments: commits, rows: commits },
        after: { fragments: 1, small_fragments: 1, rows: commits, versions: null },
      },
    });
    expect(body.version).toBeGreaterThan(commits);
    expect(headers.get("x-lancedb-version")).toBe(String(body.version));
    // The service's own handles are of the new version at once.
    expect((await to.call("describe", "events")).body.version).toBe(body.version);
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, commits));
    expect(to.log.filter(({ msg }) => msg === "write")).toMatchObject([
      { operation: "maintain", principal: "tester", table: "events", before: commits, version: body.version },
    ]);
    expect(to.log.filter(({ audit }) => audit === "maintenance")).toMatchObject([
      { table: "events", action: "optimize", versionBefore: commits, fragmentsRemoved: commits },
    ]);
    const [state] = (await list(to)).body.tables;
    expect(state).toEqual({ id: "events", has_rule: true, due: [], notes: [], finished_at_millis: expect.any(Number) });
    expect((await to.call("maintain", "events")).body).toMatchObject({ due: [], version: body.version });
  });

  test("deletes no version unless the rule says so", async () => {
    await makeSlow("events");
    const to = await start();
    expect((await to.call("maintain", "events")).status).toBe(200);
    const versions = (await (await openTable(directory, "events")).listVersions()).map(({ version }) => version);
    expect(versions).toContain(1);
  });

  test("of which two are asked for at once is done by one of them", async () => {
    await makeSlow("events");
    const to = await start();
    const answers = await Promise.all([to.call("maintain", "events"), to.call("maintain", "events")]);
    const done = answers.filter(({ status }) => status === 200);
    expect(done.filter(({ body }) => body.due.length > 0)).toHaveLength(1);
    for (const { status, body } of answers) if (status !== 200) expect([status, body.code]).toEqual([409, 14]);
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, commits));
  });
});

describe("the list of what is due", () => {
  test("has only tables that the caller's patterns permit, also of those that the record has", async () => {
    await connection.createNamespace(["team"]);
    await makeSlow("mine", ["team"]);
    await makeSlow("secret");
    await withRecord((record) => record.acquire("secret", "elsewhere/7/abcdef01", 600_000));
    const to = await start();
    const { body } = await list(to, "", ofTeam);
    expect(body).toEqual({ tables: [{ id: "team$mine", has_rule: true, due: [reason], notes: [] }], total: 1 });
    expect(await to.call("maintain", "secret", {}, { token: ofTeam })).toMatchObject({ status: 403 });
  });

  test("is bounded by limit, says how many tables there are, and begins with those that a run works on", async () => {
    for (const name of ["a", "b", "c"]) await connection.createTable(name, rowsFrom(0, 1));
    await withRecord((record) => record.acquire("c", "elsewhere/7/abcdef01", 600_000));
    const to = await start();
    const { body } = await list(to, "?limit=2");
    expect([body.tables.map(({ id }: { id: string }) => id), body.total]).toEqual([["c", "a"], 3]);
    for (const limit of ["0", "501", "many"])
      expect(await list(to, `?limit=${limit}`)).toMatchObject({ status: 400, body: { code: 13 } });
  });

  test("is served without writes, to a caller who may not ask for maintenance", async () => {
    await makeSlow("events");
    const to = await start({});
    expect((await list(to, "", ofReader)).body).toMatchObject({ tables: [{ id: "events", due: [reason] }] });
    expect(await readdir(directory)).toEqual(["events.lance"]);
  });
});
