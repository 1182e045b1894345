import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Connection, connect, Index } from "@lancedb/lancedb";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readMaintenanceConfig } from "../../../service/config/config.ts";
import { MaintainedTables } from "../../../service/lance/maintenance/maintained-tables.ts";
import { compilePolicy } from "../../../service/maintenance/policy.ts";
import { workOnRay } from "../../../service/maintenance/ray/work.ts";
import { finish, idsOf, openTable, outcomeOf, range, rowsFrom, runOnce, startRun } from "./support.ts";

// Several processes for each test, of which each loads the SDK.
vi.setConfig({ testTimeout: 120_000 });
afterAll(() => vi.resetConfig());

interface Call {
  readonly what: string;
  readonly token: string | undefined;
  readonly body: Record<string, never>;
}

/** Ray's job API as far as a run uses it. `npm run test:nodes -- maintenance` has Ray itself. */
interface Dashboard {
  readonly address: string;
  readonly calls: Call[];
  /** Of the job that is submitted. */
  status: string;
  log: string;
  /** What the list of jobs has before. */
  jobs: readonly object[];
}

let directory: string;
let connection: Connection;
let server: Server;
let ray: Dashboard;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lakehead-maintenance-ray-"));
  connection = await connect(directory);
  server = createServer(async (incoming, answer) => {
    const path = (incoming.url ?? "")
      .replace(/^\/api\/jobs\//, "")
      .replace(/^lakehead-maintenance-[0-9a-f-]{36}/, "JOB");
    const what = `${incoming.method} ${path}`.trim();
    const body = await text(incoming);
    // As Ray does, for requests that a browser may have sent.
    if (incoming.headers["sec-fetch-mode"] !== undefined) answer.statusCode = 405;
    ray.calls.push({ what, token: incoming.headers.authorization, body: body === "" ? {} : JSON.parse(body) });
    const answers: Record<string, unknown> = {
      GET: ray.jobs,
      "GET JOB": { status: ray.status, message: "" },
      "GET JOB/logs": { logs: ray.log },
    };
    answer.end(JSON.stringify(answers[what] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  ray = { address, calls: [], status: "SUCCEEDED", log: "", jobs: [] };
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  connection.close();
  await rm(directory, { recursive: true, force: true });
});

const rows = 22;
const makeSlow = async (): Promise<void> => {
  const table = await connection.createTable("events", rowsFrom(0, 1));
  for (let id = 1; id < rows; id++) await table.add(rowsFrom(id, 1));
};
const versionOf = async (): Promise<number> => (await openTable(directory, "events")).version();

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  LAKEHEAD_MAINTENANCE_RAY: ray.address,
  LAKEHEAD_MAINTENANCE_RAY_BYTES: "1",
  ...more,
});
const called = (): readonly string[] => ray.calls.map(({ what }) => what);

describe("a table that is large enough for the Ray cluster", () => {
  test("is submitted with the address, the options and what an index is built of, and a lost run's job is stopped", async () => {
    const table = await connection.createTable("events", rowsFrom(0, 300));
    await table.createIndex("vector", {
      config: Index.ivfPq({ numPartitions: 2, numSubVectors: 2, distanceType: "cosine" }),
    });
    for (let part = 0; part < 5; part++) {
      await table.add(rowsFrom(300 + part * 300, 300));
      await (await openTable(directory, "events")).optimize({ cleanupOlderThan: new Date(0) });
    }
    const uri = `file://${directory}/events.lance`;
    const metadata = { lakehead_table: "events", lakehead_uri: uri };
    ray.jobs = [
      { submission_id: "lost", status: "RUNNING", metadata },
      { submission_id: "ended", status: "FAILED", metadata },
      { submission_id: "foreign", status: "RUNNING", metadata: {} },
      { submission_id: null, status: "RUNNING", metadata: null },
    ];
    const done = { workers: 2, rebuilt: ["vector_idx"], fragmentsRemoved: 5, fragmentsAdded: 1 };
    ray.log = `a line\n\u001b[36m(PoolActor)\u001b[0m of a worker\nresult ${JSON.stringify({ ...done, versionBefore: 1, versionAfter: 3 })}\n`;
    const run = await runOnce(
      directory,
      ["--json"],
      environment({
        LAKEHEAD_MAINTENANCE_RAY_TOKEN: "of Ray",
        LAKEHEAD_MAINTENANCE_RAY_PACKAGES: "lance-ray==0.5.0,pylance==12.0.0",
        LAKEHEAD_STORAGE_OPTIONS: '{"new_table_data_storage_version":"2.1"}',
      }),
    );
    expect(run.code, run.output).toBe(0);
    expect(called()).toEqual(["GET", "POST lost/stop", "POST", "GET JOB", "GET JOB/logs"]);
    expect(new Set(ray.calls.map(({ token }) => token))).toEqual(new Set(["Bearer of Ray"]));
    const { entrypoint, ...job } = (ray.calls[2]?.body ?? {}) as Record<string, string>;
    expect(job).toMatchObject({
      entrypoint_num_cpus: 1,
      metadata,
      runtime_env: {
        env_vars: {
          LAKEHEAD_STORAGE_OPTIONS: expect.stringContaining("new_table_data_storage_version"),
          LAKEHEAD_PROGRAM: expect.stringContaining("lance_ray.compact_files("),
        },
        pip: ["lance-ray==0.5.0", "pylance==12.0.0"],
      },
    });
    expect(entrypoint).toMatch(/^python -c 'import os; exec/);
    const given = JSON.parse(/ '([^']*)'$/.exec(entrypoint ?? "")?.[1] ?? "");
    expect(given).toMatchObject({
      uri,
      indices: [{ name: "vector_idx", column: "vector", index_type: "IVF_PQ", metric: "cosine", num_sub_vectors: 2 }],
    });
    expect(run.lines).toContainEqual(
      expect.objectContaining({ log: expect.arrayContaining(["(PoolActor) of a worker"]) }),
    );
    expect(run.lines).toContainEqual(
      expect.objectContaining({ audit: "maintenance", action: "ray", versionAfter: 3, fragmentsRemoved: 5 }),
    );
    expect(outcomeOf(run, "events")).toMatchObject({ outcome: "done", result: { before: { rows: 1800 } } });
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, 1800));
  });

  test("fails when the job does, with its last line, and is not worked on by one machine", async () => {
    await makeSlow();
    const version = await versionOf();
    [ray.status, ray.log] = ["FAILED", "Traceback\nno worker of the Ray cluster has a free CPU\n"];
    const { code, output, lines } = await runOnce(directory, ["--json"], environment());
    expect(code).toBe(1);
    expect(outcomeOf({ code, output, lines }, "events").reason).toMatch(
      /ended with FAILED: no worker of the Ray cluster/,
    );
    expect(await versionOf()).toBe(version);
  });

  test("is worked on by one machine when the cluster takes no job, and the run says so", async () => {
    await makeSlow();
    server.close();
    const { code, output } = await runOnce(directory, [], environment());
    expect(code, output).toBe(0);
    expect(output).toMatch(/note: all work was done on one machine, because Ray took no job: .*ECONNREFUSED/);
    expect(await idsOf(await openTable(directory, "events"))).toEqual(range(0, rows));
  });

  test.each([
    ["SIGTERM", {}, /ended by SIGTERM/],
    ["the time of a table", { LAKEHEAD_MAINTENANCE_TABLE_SECONDS: "1" }, /took more than 1 s/],
  ] as const)("has its job stopped by %s", async (by, more, reason) => {
    await makeSlow();
    ray.status = "RUNNING";
    const running = startRun(directory, ["--json"], environment(more));
    await expect.poll(called, { timeout: 60_000, interval: 20 }).toContain("GET JOB");
    if (by === "SIGTERM") running.child.kill("SIGTERM");
    const run = await finish(running);
    expect(outcomeOf(run, "events")).toMatchObject({ outcome: "failed", reason: expect.stringMatching(reason) });
    expect(called().at(-1)).toBe("POST JOB/stop");
  });
});

test("a table below the limit is not given to the Ray cluster", async () => {
  await makeSlow();
  const small = await runOnce(directory, ["--json"], environment({ LAKEHEAD_MAINTENANCE_RAY_BYTES: "1000000000" }));
  expect(outcomeOf(small, "events")).toMatchObject({ outcome: "done", notes: [] });
  expect(called()).toEqual([]);
});

describe("a table below the limit of bytes", () => {
  /** As `npm run bench:maintenance` measures it; see docs/maintenance.md. */
  const indexedRowBytes = 160;

  test.each([
    [
      "is given to the Ray cluster if its indexed rows exceed the memory of a run",
      { isIndexed: true, memoryBytes: rows * indexedRowBytes - 1 },
      true,
    ],
    [
      "is worked on by one machine if its indexed rows fit into the memory of a run",
      { isIndexed: true, memoryBytes: rows * indexedRowBytes },
      false,
    ],
    ["is worked on by one machine if it has no index", { isIndexed: false, memoryBytes: 1 }, false],
  ])("%s", async (_, { isIndexed, memoryBytes }, isGiven) => {
    await makeSlow();
    if (isIndexed) await (await openTable(directory, "events")).createIndex("label", { config: Index.bitmap() });
    ray.log = `result ${JSON.stringify({ workers: 1, rebuilt: [], fragmentsRemoved: rows, fragmentsAdded: 1, versionBefore: rows, versionAfter: rows + 1 })}`;
    const config = readMaintenanceConfig({ LAKEHEAD_DATABASE: directory, LAKEHEAD_MAINTENANCE_RAY: ray.address });
    if (config.ray === undefined) throw new Error("the configuration names a Ray cluster");
    const limits = compilePolicy(config.rules)(["events"]);
    if (limits === undefined) throw new Error("a rule has a pattern for the table");
    const tables = new MaintainedTables(config.database);
    const work = workOnRay({ ...config, ray: config.ray, memoryBytes }, tables, { onStep: vi.fn(), onJob: vi.fn() });
    try {
      const ahead = await work(["events"], limits, new AbortController().signal);
      expect(ahead?.before.rows).toBe(isGiven ? rows : undefined);
      expect(called()).toEqual(isGiven ? ["GET", "POST", "GET JOB", "GET JOB/logs"] : []);
    } finally {
      await tables.close();
    }
  });
});
