import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Connection, connect, type Table } from "@lancedb/lancedb";
import { Field, Schema, tableFromIPC, Utf8 } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { functionsRunnerPolicy, functionsWorkerPolicy } from "../../infra/clouds/aws/identity/cluster-policies.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { asRows, plainStream, streamOf } from "../service/writes/support.ts";
import { sessionOptions, startMinio } from "../stores/minio.ts";
import { bucketName } from "../support/object-store.ts";
import type { Running } from "../support/process.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { bind, end, ended, jobOf, leaseSeconds, refresh, register, scalar, startHead, startRunner } from "./support.ts";

const run = promisify(execFile);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const [{ python, missing }, client] = await Promise.all([
  pythonWith(here("../../runner/requirements.txt"), print),
  pythonWith(here("../clients/python/requirements.txt"), print),
]);
const skipped = missing ?? client.missing;
if (skipped !== undefined) print(`skipped: Functions on Ray, because ${skipped}`);

const times = (factor: number, seconds = 0): string =>
  `import time\ndef times_${factor}(x):\n    time.sleep(${seconds})\n    return x * ${factor}\n`;

describe.skipIf(skipped !== undefined)("Functions on Ray", () => {
  let home: string;
  let service: ServiceProcess;
  let head: Awaited<ReturnType<typeof startHead>>;
  let runner: Running;
  let db: Connection;

  const newRunner = () => startRunner(python ?? "", home, head.address);

  beforeAll(async () => {
    if (python === undefined) return;
    home = await mkdtemp(join(tmpdir(), "lakehead-runner-"));
    [service, head] = await Promise.all([
      startReadyServiceProcess({
        environment: {
          LAKEHEAD_DATABASE: home,
          LAKEHEAD_WRITES: "on",
          LAKEHEAD_FUNCTIONS: "on",
          LAKEHEAD_CONSISTENCY_SECONDS: "0",
          LAKEHEAD_JOBS_LEASE_SECONDS: String(leaseSeconds),
          LAKEHEAD_MAX_WRITE_BYTES: String(2 ** 20),
          LAKEHEAD_MAX_LARGE_UPLOAD_BYTES: String(64 * 2 ** 20),
        },
      }),
      startHead(python),
    ]);
    db = await connect(home, { readConsistencyInterval: 0 });
    runner = await newRunner();
  }, 180_000);
  afterAll(async () => {
    db?.close();
    if (runner !== undefined) await end(runner, "SIGKILL");
    await head?.stop();
    await service?.stop();
    if (home !== undefined) await rm(home, { recursive: true, force: true });
  });

  let tables = 0;
  /** A table with a fragment for each batch of ids. */
  const makeTable = async (...batches: readonly (readonly number[])[]): Promise<{ name: string; table: Table }> => {
    const name = `t${++tables}`;
    const rows = batches.map((ids) => ids.map((id) => ({ id: BigInt(id), text: `row ${id}` })));
    const table = await db.createTable(name, rows[0] ?? []);
    for (const batch of rows.slice(1)) await table.add(batch);
    return { name, table };
  };
  const fragments = (count: number, rows: number) =>
    Array.from({ length: count }, (_, at) => Array.from({ length: rows }, (_, row) => at * rows + row + 1));
  const valuesOf = async (table: Table, column: string): Promise<Record<string, unknown>> => {
    const rows = await table.query().select(["id", column]).toArray();
    return Object.fromEntries(rows.map((row) => [Number(row.id), row[column] === null ? null : Number(row[column])]));
  };
  const multiplied = async (name: string, factor: number, seconds = 0): Promise<void> => {
    const made = await register(service, {
      source: times(factor, seconds),
      inputs: { x: "int64" },
      output: scalar("int64"),
    });
    await bind(service, name, made, { x: "id" }, { y: "$value" });
  };
  const eventsOf = async (id: string, state: string): Promise<Record<string, unknown>[]> => {
    const { body } = await service.ask("/v1/jobs/query_events", { job_id: id, filter: `state = '${state}'` });
    return tableFromIPC(body)
      .toArray()
      .map((row) => row.toJSON());
  };
  const untilEvent = async (id: string, state: string): Promise<void> => {
    while ((await eventsOf(id, state)).length === 0) {
      expect((await jobOf(service, id)).job_state).toBe("IN_PROGRESS");
      await sleep(100);
    }
  };

  test("LanceDB's own client registers one, fills a column with it and reads the values", async () => {
    const { stdout } = await run(client.python ?? "", [here("client.py"), service.base, testToken]);
    expect(stdout.trim()).toBe("3 0 ['A!', 'C!', 'None']");
  });

  test("the cluster's head reads the class of the workers without their packages", async () => {
    const program = [
      "import sys, ray, worker",
      "ray.cloudpickle.register_pickle_by_value(worker)",
      "text = ray.cloudpickle.dumps(worker.Worker)",
      "sys.modules.update(lance=None, pyarrow=None, worker=None)",
      "print(ray.cloudpickle.loads(text).__name__)",
    ];
    const { stdout } = await run(python ?? "", ["-c", program.join("\n")], { cwd: here("../../runner") });
    expect(stdout.trim()).toBe("Worker");
  });

  test("a refresh computes new and updated rows, and no others", async () => {
    const { name, table } = await makeTable([1, 2, 3], [4, 5], [6, 7]);
    await multiplied(name, 2);
    const first = await ended(service, await refresh(service, name, "y"));
    expect(first).toMatchObject({
      job_state: "DONE",
      result: { rows_assigned: 7, rows_failed: 0, rows_remaining: 0, published_version: expect.any(Number) },
    });
    expect(await valuesOf(table, "y")).toEqual({ 1: 2, 2: 4, 3: 6, 4: 8, 5: 10, 6: 12, 7: 14 });
    expect((await ended(service, await refresh(service, name, "y"))).result.rows_assigned).toBe(0);
    await table.add([{ id: 8n, text: "row 8" }]);
    expect((await ended(service, await refresh(service, name, "y"))).result.rows_assigned).toBe(1);
    await table.update({ where: "id = 4", valuesSql: { id: "40" } });
    await table.delete("id = 1");
    expect((await ended(service, await refresh(service, name, "y"))).result.rows_assigned).toBe(1);
    expect(await valuesOf(table, "y")).toEqual({ 2: 4, 3: 6, 5: 10, 6: 12, 7: 14, 8: 16, 40: 80 });
    await table.optimize();
    await ended(service, await refresh(service, name, "y"));
    expect(await valuesOf(table, "y")).toEqual({ 2: 4, 3: 6, 5: 10, 6: 12, 7: 14, 8: 16, 40: 80 });
  });

  test("takes batches, classes with their values, and results of several columns", async () => {
    const { name, table } = await makeTable([1, 2, 3]);
    const batches = await register(service, {
      source:
        "import pyarrow as pa\nimport pyarrow.compute as pc\ndef added(x: pa.Array) -> pa.Array:\n    return pc.add(x, len(x))\n",
      inputs: { x: "int64" },
      output: scalar("int64"),
    });
    await bind(service, name, batches, { x: "id" }, { added: "$value" });
    const made = await register(service, {
      source:
        "class Scaled:\n    def __init__(self, factor: int):\n        self.factor = factor\n    def __call__(self, x: int) -> float:\n        return x * self.factor\n",
      inputs: { x: "int64" },
      output: scalar("float32"),
      initialization: [{ name: "factor", arrow_type: "int64", nullable: false }],
    });
    await bind(service, name, made, { x: "id" }, { scaled: "$value" }, { initialization: { factor: 10 } });
    const fields = [
      { name: "length", arrow_type: "int32", nullable: false },
      { name: "word", arrow_type: "utf8", nullable: true },
    ];
    const several = await register(service, {
      source: "def parts(text):\n    return {'length': len(text), 'word': text[0]}\n",
      inputs: { text: "utf8" },
      output: { kind: "named_struct", fields },
    });
    await bind(service, name, several, { text: "text" }, { n: "length", w: "word" });
    await bind(service, name, several, { text: "text" }, { whole: "$value" });
    for (const column of ["added", "scaled", "n", "whole"])
      expect(await ended(service, await refresh(service, name, column)), column).toMatchObject({ job_state: "DONE" });
    const [row] = await table.query().where("id = 2").toArray();
    expect(JSON.parse(JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value)))).toEqual({
      id: 2,
      text: "row 2",
      added: 5,
      scaled: 20,
      n: 5,
      w: "r",
      whole: { length: 5, word: "r" },
    });
  });

  test("takes modules that are sent with it, and packages of folders", async () => {
    const { name, table } = await makeTable([1, 2]);
    const made = await register(service, {
      source: "from helpers.numbers import add\nimport plain\ndef bundled(x):\n    return add(x, plain.one)\n",
      modules: {
        "helpers/__init__.py": "# a package\n",
        "helpers/numbers.py": "def add(x, y):\n    return x + y\n",
        "plain.py": "one = 1\n",
      },
      inputs: { x: "int64" },
      output: scalar("int64"),
    });
    await bind(service, name, made, { x: "id" }, { y: "$value" });
    expect(await ended(service, await refresh(service, name, "y"))).toMatchObject({ job_state: "DONE" });
    expect(await table.countRows("y = id + 1")).toBe(2);
  });

  test("leaves a row that fails without a value, says why, and fails when too many do", async () => {
    const source = (name: string, share: number) =>
      `def ${name}(x):\n    if x % ${share} == 0:\n        raise ValueError(f"no {x}")\n    return x\n`;
    const { name, table } = await makeTable(...fragments(2, 50));
    const few = await register(service, { source: source("few", 50), inputs: { x: "int64" }, output: scalar("int64") });
    await bind(service, name, few, { x: "id" }, { few: "$value" });
    const id = await refresh(service, name, "few");
    expect((await ended(service, id)).result).toMatchObject({ rows_assigned: 98, rows_failed: 2, rows_remaining: 0 });
    expect(await table.countRows("few is null")).toBe(2);
    const { body } = await service.call("errors", name, { job_id: id });
    expect(body.truncated).toBe(false);
    const messages = body.records.map((each: Record<string, unknown>) => [each.error_type, each.error_message]);
    expect(messages.toSorted()).toEqual([
      ["ValueError", "no 100"],
      ["ValueError", "no 50"],
    ]);
    expect(body.records[0]).toMatchObject({ job_id: id, column: "few", function: "few", function_version: "1" });
    expect((await service.call("errors", name, { column: "few", limit: 1 })).body).toMatchObject({ truncated: true });
    expect((await service.call("errors", name, { column: "id" })).body).toEqual({ records: [], truncated: false });
    const many = await register(service, {
      source: source("many", 5),
      inputs: { x: "int64" },
      output: scalar("int64"),
    });
    await bind(service, name, many, { x: "id" }, { many: "$value" });
    expect(await ended(service, await refresh(service, name, "many"))).toMatchObject({
      job_state: "FAILED",
      failure: { message: expect.stringMatching(/rows failed, more than 5%/), retryable: false },
    });
  });

  test("a column of a branch is filled there alone, and its rows that fail are the branch's", async () => {
    const { name, table } = await makeTable(...fragments(2, 10));
    const source = "def odd(x):\n    if x == 4:\n        raise ValueError('four')\n    return x * 9\n";
    const made = await register(service, { source, inputs: { x: "int64" }, output: scalar("int64") });
    const branch = "side/a";
    await service.call("branches/create", name, { name: branch });
    await bind(service, name, made, { x: "id" }, { y: "$value" }, { branch });
    const side = await (await table.branches()).checkout(branch);
    await side.add([{ id: 21n, text: "row 21" }]);
    expect(await ended(service, await refresh(service, name, "y", branch))).toMatchObject({
      job_state: "DONE",
      result: { rows_assigned: 20, rows_failed: 1, rows_remaining: 0 },
    });
    await side.checkoutLatest();
    const values = await valuesOf(side, "y");
    expect([values[4], Object.values(values).length]).toEqual([null, 21]);
    expect(Object.entries(values).filter(([id, value]) => id !== "4" && value !== 9 * Number(id))).toEqual([]);
    await side.add([{ id: 22n, text: "row 22" }]);
    expect((await ended(service, await refresh(service, name, "y", branch))).result.rows_assigned).toBe(1);
    const errors = async (of?: string) => (await service.call("errors", name, { branch: of })).body.records.length;
    expect([await errors(branch), await errors()]).toEqual([1, 0]);
    await table.checkoutLatest();
    expect((await table.schema()).fields.map((field) => field.name)).not.toContain("y");
  });

  test("appends, updates, deletes and compaction meanwhile are kept, and no value is wrong", async () => {
    const { name, table } = await makeTable(...fragments(4, 20));
    await multiplied(name, 3, 0.05);
    const id = await refresh(service, name, "y");
    await untilEvent(id, "claim");
    await table.add([{ id: 1000n, text: "new" }]);
    await table.update({ where: "id = 1", valuesSql: { id: "2000" } });
    await table.delete("id = 21");
    await sleep(1000);
    await table.optimize();
    expect(await ended(service, id)).toMatchObject({ job_state: "DONE" });
    expect(await ended(service, await refresh(service, name, "y"))).toMatchObject({ result: { rows_remaining: 0 } });
    const values = await valuesOf(table, "y");
    expect(Object.keys(values)).toHaveLength(80);
    expect([values[1], values[21], values[1000], values[2000]]).toEqual([undefined, undefined, 3000, 6000]);
    expect(Object.entries(values).filter(([of, value]) => value !== 3 * Number(of))).toEqual([]);
  });

  test("a cancelled job stops its workers and leaves whole fragments", async () => {
    const { name, table } = await makeTable(...fragments(4, 20));
    await multiplied(name, 5, 1);
    const id = await refresh(service, name, "y");
    await untilEvent(id, "claim");
    await service.ask("/v1/jobs/cancel", { job_id: id });
    expect(await ended(service, id)).toMatchObject({ job_state: "CANCELLED" });
    expect(await table.countRows("y is null")).toBe(80);
  });

  test("a runner that is killed leaves each fragment as it was or whole, and the next one goes on", async () => {
    const { name, table } = await makeTable(...fragments(40, 5));
    await multiplied(name, 7, 0.02);
    const id = await refresh(service, name, "y");
    await untilEvent(id, "progress");
    await end(runner, "SIGKILL");
    const between = await valuesOf(table, "y");
    const done = Object.values(between).filter((value) => value !== null).length;
    expect(done % 5).toBe(0);
    expect(done).toBeGreaterThan(0);
    runner = await newRunner();
    const { job_state: state, result } = await ended(service, id);
    expect([state, result.rows_assigned]).toEqual(["DONE", 200 - done]);
    const values = await valuesOf(table, "y");
    expect(Object.entries(values).filter(([of, value]) => value !== 7 * Number(of))).toEqual([]);
    expect(Object.keys(values)).toHaveLength(200);
  });

  test("LanceDB's own client adds more than one write takes, in one commit", async () => {
    const environment = { ...process.env, LANCE_CLIENT_MAX_BYTES_PER_REQUEST: "200000" };
    const program = here("large_upload.py");
    const { stdout } = await run(client.python ?? "", [program, service.base, testToken], { env: environment });
    expect(stdout.trim()).toBe("2 200001 200001");
    const { body } = await service.ask("/v1/jobs/list", {});
    expect(body.jobs).toContainEqual(expect.objectContaining({ job_type: "commit_upload", state: "DONE" }));
  });

  describe("an upload that is larger than one write", () => {
    const ids = Array.from({ length: 20_000 }, (_, id) => id);
    const upload = async (name: string, ...parts: readonly Uint8Array<ArrayBuffer>[]): Promise<string> => {
      const begun = await service.call("multipart_write/create", name, undefined, { rawBody: "" });
      for (const [at, part] of parts.entries()) {
        const query = `?upload_id=${begun.body.upload_id}&upload_part_id=part-${at}`;
        expect(await service.call("insert", name, undefined, asRows(part, { query }))).toMatchObject({ status: 202 });
      }
      return begun.body.upload_id;
    };
    const complete = (name: string, id: string) =>
      service.call("multipart_write/complete", name, undefined, { rawBody: "", query: `?upload_id=${id}` });
    const makeTable = async (name: string): Promise<Table> => {
      expect(await service.call("create", name, undefined, asRows(plainStream([-1])))).toMatchObject({ status: 200 });
      return db.openTable(name);
    };
    const jobsOf = async (id: string) => {
      const rows = await (await (await connect(join(home, "_lakehead"))).openTable("jobs")).query().toArray();
      return rows.filter(({ type, spec }) => type === "commit_upload" && JSON.parse(spec).upload === id);
    };

    test("is refused where its rows do not fit the table, and can be aborted", async () => {
      await makeTable("misfit");
      const schema = new Schema([new Field("other", new Utf8())]);
      const misfit = streamOf([{ other: "x".repeat(700_000) }], schema);
      const id = await upload("misfit", misfit, misfit);
      const { status, body } = await complete("misfit", id);
      expect([status, body.error]).toEqual([
        400,
        expect.stringContaining("the rows do not have the columns of the table"),
      ]);
      const aborted = await service.call("multipart_write/abort", "misfit", undefined, {
        rawBody: "",
        query: `?upload_id=${id}`,
      });
      expect(aborted.status).toBe(200);
    });

    test("is committed once by a runner that is killed and the next one, also where its end was not stored", async () => {
      const table = await makeTable("once");
      const id = await upload("once", ...Array.from({ length: 8 }, () => plainStream(ids)));
      const completed = complete("once", id);
      await expect.poll(async () => (await jobsOf(id)).length, { timeout: 20_000 }).toBe(1);
      await sleep(1500);
      await end(runner, "SIGKILL");
      runner = await newRunner();
      const { status, body } = await completed;
      expect([status, body]).toEqual([200, { version: 2 }]);
      expect(await table.countRows()).toBe(8 * ids.length + 1);
      expect((await complete("once", id)).body).toEqual({ version: 2 });
      // As if the runner had ended after the commit.
      const jobs = await (await connect(join(home, "_lakehead"))).openTable("jobs");
      const where = `id = '${(await jobsOf(id))[0]?.id}'`;
      await jobs.update({ where, values: { state: "IN_PROGRESS", runner: "", result: "null", attempts: 1 } });
      await expect.poll(async () => (await jobsOf(id))[0]?.state, { timeout: 20_000 }).toBe("DONE");
      expect(JSON.parse((await jobsOf(id))[0]?.result)).toEqual({ published_version: 2, rows_written: 160_000 });
      expect(await table.countRows()).toBe(8 * ids.length + 1);
    });
  });

  test("fills columns of tables in a bucket with the rights that a stack gives, which reach nothing else", async (context) => {
    const minio = await startMinio(print);
    if (minio.base === undefined) return context.skip(minio.missing);
    const options = { LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(minio.storageOptions) };
    const place = { partition: "aws", region: "us-east-1", account: "123456789012", cluster: "lancedb" };
    const scope = { bucket: bucketName, prefix: "tables" };
    const folders = ["bucket.lance", "attacks.lance"];
    const keysOf = async (decide: typeof functionsWorkerPolicy) =>
      JSON.stringify(await sessionOptions(minio, decide(place, scope, folders)));
    const own = await startReadyServiceProcess({
      environment: {
        LAKEHEAD_DATABASE: minio.uri,
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_FUNCTIONS: "on",
        LAKEHEAD_CONSISTENCY_SECONDS: "0",
        ...options,
      },
    });
    const other = await startRunner(python ?? "", minio.uri, head.address, {
      LAKEHEAD_STORAGE_OPTIONS: await keysOf(functionsRunnerPolicy),
      LAKEHEAD_FUNCTIONS_STORAGE_OPTIONS: await keysOf(functionsWorkerPolicy),
    });
    const connection = await connect(minio.uri, { storageOptions: { ...minio.storageOptions } });
    try {
      const table = await connection.createTable("bucket", [{ id: 1n }, { id: 2n }]);
      await table.add([{ id: 3n }]);
      const made = await register(own, { source: times(11), inputs: { x: "int64" }, output: scalar("int64") });
      await bind(own, "bucket", made, { x: "id" }, { y: "$value" });
      expect(await ended(own, await refresh(own, "bucket", "y"))).toMatchObject({
        job_state: "DONE",
        result: { rows_assigned: 3, rows_remaining: 0 },
      });
      expect(await (await connection.openTable("bucket")).countRows("y = id * 11")).toBe(3);

      await connection.createTable("private", [{ id: 1n }]);
      const at = `${bucketName}/tables`;
      const manifest = `${at}/bucket.lance/_versions/18446744073709551614.manifest`;
      const attacks = await connection.createTable(
        "attacks",
        [
          ["read", manifest],
          ["write", `${at}/bucket.lance/data/fn-attack.lance`],
          ["delete", manifest],
          ["write", manifest],
          ["write", `${at}/bucket.lance/data/other.lance`],
          ["delete", `${at}/bucket.lance/data/fn-attack.lance`],
          ["read", `${at}/private.lance/_versions/18446744073709551614.manifest`],
          ["list", `${at}/private.lance`],
          ["write", `${at}/private.lance/data/fn-attack.lance`],
          ["read", `${at}/_lakehead/jobs.lance/_versions/18446744073709551614.manifest`],
          ["list", `${at}/_lakehead`],
          ["list", bucketName],
          ["write", `${bucketName}/elsewhere`],
        ].map((target) => ({ target: JSON.stringify(target) })),
      );
      const attack = await register(own, {
        source: await readFile(here("attacks.py"), "utf8"),
        inputs: { target: "utf8" },
        output: scalar("utf8"),
      });
      await bind(own, "attacks", attack, { target: "target" }, { seen: "$value" });
      expect(await ended(own, await refresh(own, "attacks", "seen"))).toMatchObject({ job_state: "DONE" });
      await attacks.checkoutLatest();
      const rows = await attacks.query().toArray();
      const [readable, added, ...refused] = rows.map(({ target, seen }) => `${target} ${seen}`);
      expect([readable, added]).toEqual([expect.stringMatching(/ reached$/), expect.stringMatching(/ reached$/)]);
      expect(refused).toHaveLength(11);
      expect(refused.filter((each) => !/ refused: .*ACCESS_DENIED|AccessDenied|Access Denied/i.test(each))).toEqual([]);
    } finally {
      connection.close();
      await end(other, "SIGKILL");
      await own.stop();
      await minio.stop();
    }
    // On a new machine MinIO is built first.
  }, 1_200_000);

  test("what a worker answers in the place of a result is not executed by the runner", async () => {
    const { name } = await makeTable([1]);
    const marker = join(home, "executed-by");
    // The head makes a Late of an Early, and the runner would make of that what its command prints.
    const source = `import json
import os
import sys
import ray
def answering(x):
    ray.cloudpickle.register_pickle_by_value(sys.modules["user_function"])
    json.dumps = lambda *_, **__: Early()
    return x
class Late:
    def __init__(self, command):
        self.command = command
    def __reduce__(self):
        return os.system, (self.command,)
class Early:
    def __reduce__(self):
        return Late, ("cat /proc/$PPID/cmdline > ${marker}",)
`;
    const made = await register(service, { source, inputs: { x: "int64" }, output: scalar("int64") });
    await bind(service, name, made, { x: "id" }, { y: "$value" });
    expect(await ended(service, await refresh(service, name, "y"))).toMatchObject({ job_state: "FAILED" });
    expect(runner.output()).toMatch(/the cluster answered with \w+.system, which is not accepted/);
    expect(existsSync(marker)).toBe(false);
  });

  test("a worker that ends is replaced", async () => {
    const { name, table } = await makeTable(...fragments(3, 4));
    const marker = join(home, "ended-once");
    const source = `import os\ndef fragile(x):\n    if not os.path.exists(${JSON.stringify(marker)}):\n        open(${JSON.stringify(marker)}, "w").close()\n        os._exit(1)\n    return x\n`;
    const made = await register(service, { source, inputs: { x: "int64" }, output: scalar("int64") });
    await bind(service, name, made, { x: "id" }, { y: "$value" });
    expect(await ended(service, await refresh(service, name, "y"))).toMatchObject({
      job_state: "DONE",
      result: { rows_assigned: 12 },
    });
    expect(await table.countRows("y = id")).toBe(12);
  });

  test.each([
    ["has another Python", "def other(x):\n    return x\n", "3.9", /needs Python 3.9, and the cluster has/],
    [
      "cannot be loaded",
      "import nowhere\ndef broken(x):\n    return x\n",
      undefined,
      /cannot be loaded: ModuleNotFoundError/,
    ],
  ])("a Function that %s fails its job with that reason", async (_, source, version, message) => {
    const { name } = await makeTable([1]);
    const made = await register(service, {
      source,
      inputs: { x: "int64" },
      output: scalar("int64"),
      ...(version === undefined ? {} : { python: version }),
    });
    await bind(service, name, made, { x: "id" }, { y: "$value" });
    expect(await ended(service, await refresh(service, name, "y"))).toMatchObject({
      job_state: "FAILED",
      failure: { message: expect.stringMatching(message), retryable: false },
    });
  });
});
