import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Field, FixedSizeBinary, FixedSizeList, Float32, Int64, Schema, Struct } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { asRows, streamOf, writesOn } from "../service/writes/support.ts";
import { makeDirectory } from "../support/directory.ts";
import { testToken } from "../support/request.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { makeHeavyTables } from "./support/heavy-tables.ts";

/** What one caller can make the main process keep in memory, in a real process; another caller asks meanwhile. */

vi.setConfig({ testTimeout: 120_000 });

const mebibyte = 2 ** 20;
const versions = 8;
const otherToken = "token-of-another-caller";

let home: string;
/** Of every test whose claim needs no variable of its own. */
let common: ServiceProcess;
beforeAll(async () => {
  home = await makeDirectory();
  await makeHeavyTables(home, versions);
  common = await launch({ LAKEHEAD_WORKER_MEMORY_BYTES: String(2048 * mebibyte) });
}, 240_000);
afterAll(() => common.kill());

/** A service of one test. */
const start = async (...how: Parameters<typeof launch>): Promise<ServiceProcess> => {
  const service = await launch(...how);
  onTestFinished(() => service.kill());
  return service;
};

const launch = async (
  environment: Readonly<Record<string, string>> = {},
  options: { readonly descriptors?: number } = {},
): Promise<ServiceProcess> => {
  const service = await startReadyServiceProcess({
    ...options,
    // Node's own choice in a container of 1 GiB.
    flags: ["--max-old-space-size=512"],
    tokens: [staticToken("other", otherToken)],
    environment: {
      ...writesOn,
      LAKEHEAD_DATABASE: home,
      LAKEHEAD_MEMORY_LIMIT_BYTES: String(1024 * mebibyte),
      ...environment,
    },
  });
  expect((await service.call("stats", "plain", {}, { token: otherToken })).status).toBe(200);
  return service;
};

/** By how much the main process grows at most while `action` runs, in MiB of resident memory. */
const growthOf = async ({ running }: ServiceProcess, action: () => Promise<void>): Promise<number> => {
  const directory = `/proc/${running.child.pid}`;
  const peak = async (): Promise<number> =>
    Number(/^VmHWM:\s+(\d+)/m.exec(await readFile(`${directory}/status`, "latin1"))?.[1]) / 1024;
  // Resets the peak: see proc_pid_clear_refs(5).
  await writeFile(`${directory}/clear_refs`, "5");
  const before = await peak();
  await action();
  return (await peak()) - before;
};

const vector = (length: number) => new FixedSizeList(length, new Field("item", new Float32(), true));
const streamWith = (...columns: readonly (readonly [string, Field["type"]])[]) =>
  streamOf(
    [],
    new Schema([new Field("id", new Int64(), true), ...columns.map(([name, type]) => new Field(name, type, true))]),
  );

describe("values of great width", () => {
  test("in a table that another program made are not planned in the main process", async () => {
    const growth = await growthOf(common, async () => {
      for (const table of ["huge", "wide"]) {
        const { status, body } = await common.call("explain_plan", table, { query: { k: 1, filter: "x is null" } });
        expect([table, status]).toEqual([table, 400]);
        expect(body.error).toMatch(/column "x" takes \d+ bytes, more than 1048576: .*LAKEHEAD_MAX_VALUE_BYTES/);
      }
    });
    expect(growth).toBeLessThan(128);
    expect((await common.call("explain_plan", "plain", { query: { k: 1, filter: "id is null" } })).status).toBe(200);
  });

  const wide: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
    "a vector": streamWith(["x", vector(2 ** 31 - 1)]),
    "fixed-size binary": streamWith(["x", new FixedSizeBinary(mebibyte + 1)]),
    "vectors of vectors": streamWith(["x", new FixedSizeList(600, new Field("item", vector(600), true))]),
    "a structure": streamWith([
      "x",
      new Struct([new Field("a", vector(150_000), true), new Field("b", vector(150_000), true)]),
    ]),
    "five columns together": streamWith(
      ...Array.from({ length: 5 }, (_, index) => [`x${index}`, vector(250_000)] as const),
    ),
  };

  test.each(Object.entries(wide))(
    "are refused in a new table, and in rows that replace a schema: %s",
    async (_, stream) => {
      const created = await common.call("create", "made", undefined, asRows(stream));
      expect(created.status).toBe(400);
      expect(created.body.error).toMatch(/takes \d+ bytes.*LAKEHEAD_MAX_VALUE_BYTES/);
      const replaced = await common.call("insert", "plain", undefined, asRows(stream, { query: "?mode=overwrite" }));
      expect([replaced.status, replaced.body.error]).toEqual([400, created.body.error]);
      expect(
        (
          await common.call(
            "create",
            "fine",
            undefined,
            asRows(streamWith(["x", vector(4096)]), { query: "?mode=overwrite" }),
          )
        ).status,
      ).toBe(200);
    },
  );

  test("are refused as a column's new type, and as a copy of a column", async () => {
    const dataType = {
      type: "fixed_size_list",
      length: 2 ** 30,
      fields: [{ name: "item", nullable: true, type: { type: "float32" } }],
    };
    const altered = await common.call("alter_columns", "plain", {
      alterations: [{ path: "id", data_type: dataType }],
    });
    expect([altered.status, altered.body.error]).toEqual([400, expect.stringContaining("LAKEHEAD_MAX_VALUE_BYTES")]);
    const added = await common.call("add_columns", "huge", { new_columns: [{ name: "y", expression: "x" }] });
    expect([added.status, added.body.error]).toEqual([400, expect.stringContaining("LAKEHEAD_MAX_VALUE_BYTES")]);
  });
});

describe("metadata", () => {
  test("of 10 MB in every version of a table does not stay in the main process, and a worker counts its rows", async () => {
    const growth = await growthOf(common, async () => {
      for (let round = 0; round < 3; round++)
        await Promise.all(
          Array.from({ length: versions }, async (_, index) => {
            const { status, body } = await common.call("exists", "metadata", { version: index + 1 });
            expect([status, body.error]).toEqual([400, expect.stringContaining("LAKEHEAD_MAX_SCHEMA_BYTES")]);
          }),
        );
    });
    expect(growth).toBeLessThan(256);
    const read = await common.call("count_rows", "metadata", { predicate: "id >= 0" });
    expect([read.status, read.body?.error]).toEqual([200, undefined]);
    expect((await common.call("stats", "plain", {}, { token: otherToken })).status).toBe(200);
  });

  test("of many versions is kept up to a number of bytes", async () => {
    const service = await start({ LAKEHEAD_MAX_HANDLE_BYTES: String(16 * mebibyte) });
    const note = "x".repeat(900_000);
    const path = "id";
    expect(
      (await service.call("create", "noted", undefined, asRows(streamWith(), { query: "?mode=overwrite" }))).status,
    ).toBe(200);
    for (let version = 2; version < 12; version++)
      expect(
        (
          await service.call("update_field_metadata", "noted", {
            updates: [{ path, metadata: { note: `${version}${note}` } }],
          })
        ).status,
      ).toBe(200);
    for (let version = 2; version < 12; version++)
      expect((await service.call("exists", "noted", { version })).status).toBe(200);
    const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
    const kept = Number(/^lakehead_table_handles(?:\{.*\})? (\d+)$/m.exec(metrics)?.[1]);
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(8);
    const { status } = await service.call("describe", "noted", { version: 3 });
    expect(status).toBe(200);
  });

  test("beyond the limit is refused when it is set, in one request and in several, and can be removed", async () => {
    const service = await start({ LAKEHEAD_MAX_SCHEMA_BYTES: "100000" });
    const metadata = new Map([["note", "x".repeat(100_000)]]);
    const stream = streamOf([], new Schema([new Field("id", new Int64(), true)], metadata));
    const created = await service.call("create", "made", undefined, asRows(stream));
    expect([created.status, created.body.error]).toEqual([
      400,
      expect.stringMatching(/more than 100000: .*LAKEHEAD_MAX_SCHEMA_BYTES/),
    ]);
    expect(
      (await service.call("create", "grown", undefined, asRows(streamWith(), { query: "?mode=overwrite" }))).status,
    ).toBe(200);
    const update = (key: string, value: string | null) =>
      service.call("update_field_metadata", "grown", { updates: [{ path: "id", metadata: { [key]: value } }] });
    expect((await update("a", "x".repeat(60_000))).status).toBe(200);
    const second = await update("b", "x".repeat(60_000));
    expect([second.status, second.body.error]).toEqual([400, expect.stringContaining("LAKEHEAD_MAX_SCHEMA_BYTES")]);
    expect((await update("a", null)).status).toBe(200);
    expect((await update("b", "x".repeat(60_000))).status).toBe(200);
  });
});

const requestText = (path: string, body: string, length = body.length): string =>
  `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${testToken}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;

/** Connections that send a text and read nothing. */
const sendSilently = async (service: ServiceProcess, count: number, text: string): Promise<Socket[]> =>
  Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(service.port, "127.0.0.1", () => socket.write(text, () => resolve(socket)));
          socket.on("error", () => resolve(socket));
          socket.pause();
        }),
    ),
  );

/** By how much the service grows while connections wait. The statistics of another caller are answered meanwhile. */
const whileSilent = (count: number, text: string): Promise<number> =>
  growthOf(common, async () => {
    const sockets = await sendSilently(common, count, text);
    for (let index = 0; index < 10; index++) {
      expect((await common.call("stats", "plain", {}, { token: otherToken })).status).toBe(200);
      await sleep(50);
    }
    for (const socket of sockets) socket.destroy();
    expect(common.ended()).toBeNull();
  });

describe("connections that read nothing", () => {
  test("and ask for descriptions of 1 MB, five on each, take no more than their share", async () => {
    expect(await whileSilent(200, requestText("/v1/table/columns/describe", "{}").repeat(5))).toBeLessThan(256);
    // What they held is free again.
    expect((await common.call("describe", "columns")).status).toBe(200);
  });

  test("wait for their first response before the next request is begun", async () => {
    const service = await start();
    const [socket] = await sendSilently(service, 1, requestText("/v1/table/columns/describe", "{}").repeat(50));
    await sleep(500);
    const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
    const served = Number(/^lakehead_requests_total\{.*operation="describe".*\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
    expect(served).toBeGreaterThan(0);
    // The system takes some megabytes of a connection.
    expect(served).toBeLessThan(20);
    let read = 0;
    socket?.resume();
    socket?.on("data", (chunk) => {
      read += chunk.length;
    });
    await expect.poll(() => read, { timeout: 20_000 }).toBeGreaterThan(50 * 900_000);
    socket?.destroy();
  });

  test("and send bodies of 1 MB in part take no more than their share", async () => {
    const text = requestText("/v1/table/plain/query", `{"k":1,"filter":"${" ".repeat(900_000)}`, mebibyte - 1);
    expect(await whileSilent(400, text)).toBeLessThan(256);
  });

  test("are refused a response beyond LAKEHEAD_MAX_RESULT_BYTES, of every operation", async () => {
    const service = await start({ LAKEHEAD_MAX_RESULT_BYTES: String(256 * 1024) });
    const { status, body } = await service.call("describe", "columns");
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/the response has 9\d{5} bytes, more than 262144: .*LAKEHEAD_MAX_RESULT_BYTES/),
    ]);
  });
});

test("another caller is answered before most of the descriptions of 1 MB that one caller asks for", async () => {
  const count = 200;
  let answers = 0;
  const asked = Array.from({ length: count }, async () => {
    const { status } = await common.call("describe", "columns");
    answers++;
    return status;
  });
  // Its request arrives when some of the others have begun.
  await expect.poll(() => answers, { interval: 1, timeout: 60_000 }).toBeGreaterThan(0);
  expect((await common.call("stats", "plain", {}, { token: otherToken })).status).toBe(200);
  expect(answers).toBeLessThan(count / 2);
  expect([...new Set(await Promise.all(asked))]).toEqual([200]);
});

describe("definitions of Functions of 28 KB", () => {
  const count = 30;

  test("are not read for a list of jobs, nor all for one Function or a page of them", async () => {
    const service = await start({ LAKEHEAD_FUNCTIONS: "on" });
    const source = "def f(x: int) -> int:\n    return x\n";
    const definition = {
      artifact: {
        kind: "python_callable",
        digest: `sha256:${createHash("sha256").update(source).digest("hex")}`,
        content: { encoding: "base64", data: Buffer.from(source).toString("base64") },
        entrypoint: "f",
        adapter: { kind: "scalar_to_arrow_batch", version: 1 },
      },
      signature: {
        inputs: [{ name: "x", arrow_type: "int64", nullable: false }],
        output: { kind: "scalar", arrow_type: "int64", nullable: false },
      },
      runtime: {
        kind: "python",
        python_version: "3.11",
        environment: { kind: "pip" },
        env: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`KEY_${index}`, "x".repeat(930)])),
      },
    };
    const jobs: string[] = [];
    for (let index = 0; index < count; index++) {
      const { status, body } = await service.ask(`/v1/function/f${index}/create`, definition);
      expect(status).toBe(202);
      jobs.push(body.job_id);
    }
    const job = (id = "") => service.ask("/v1/jobs/describe", { job_id: id });
    for (const id of jobs)
      await expect.poll(async () => (await job(id)).body.job_state, { timeout: 60_000 }).toBe("DONE");
    const growth = await growthOf(service, async () => {
      await Promise.all(
        jobs.flatMap((id, index) => [
          job(id),
          service.ask("/v1/jobs/list"),
          service.ask(`/v1/function/f${index}/describe`, { version: "1" }),
        ]),
      );
    });
    expect(growth).toBeLessThan(32);
    const names: string[] = [];
    let pages = 0;
    for (let token = ""; ; pages++) {
      const { body } = await service.ask(`/v1/namespace/$/function/list?page_token=${token}`, undefined, {
        method: "GET",
      });
      expect(JSON.stringify(body).length).toBeLessThan(512 * 1024);
      names.push(
        ...body.functions.map((each: { readonly definition: { readonly name: string } }) => each.definition.name),
      );
      if (body.page_token === undefined) break;
      token = body.page_token;
    }
    expect(names.toSorted()).toEqual(Array.from({ length: count }, (_, index) => `f${index}`).toSorted());
    expect(pages).toBeGreaterThan(1);
  });
});

// Both wait for timers, each with a service of its own.
describe.concurrent("descriptors", () => {
  test("of connections that send nothing are free a second after their refusal", async ({ expect, onTestFinished }) => {
    const service = await launch();
    onTestFinished(() => service.kill());
    const open = async (): Promise<number> => {
      const metrics = await (await fetch(`${service.operationsBase}/metrics`)).text();
      return Number(/^process_open_fds (\d+)$/m.exec(metrics)?.[1]);
    };
    const before = await open();
    const sockets = await Promise.all(
      Array.from(
        { length: 100 },
        () =>
          new Promise<Socket>((resolve) => {
            // Does not close its end when the service has closed its own.
            const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true }, () => {
              socket.write("POST /v1/table/plain/stats HTTP/1.1\r\n", () => resolve(socket));
            });
            socket.on("error", () => undefined);
          }),
      ),
    );
    await expect.poll(open).toBeGreaterThan(before + 90);
    await expect.poll(open, { timeout: 25_000, interval: 500 }).toBeLessThan(before + 20);
    for (const socket of sockets) socket.destroy();
  });

  const descriptors = 120;
  test("that are all in use are 503", async ({ expect, onTestFinished }) => {
    const service = await launch({ LAKEHEAD_ISOLATION: "off", LAKEHEAD_WRITES: "off" }, { descriptors });
    onTestFinished(() => service.kill());
    // Beforehand: afterwards there is no descriptor for it.
    const open = await sendSilently(service, 1, "");
    const sockets = await sendSilently(service, 200, "");
    // Connected is not accepted yet.
    await expect
      .poll(() => readdirSync(`/proc/${service.running.child.pid}/fd`).length, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(descriptors - 1);
    const [socket] = open;
    let text = "";
    socket?.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
    });
    socket?.resume();
    socket?.write(requestText("/v1/table/columns/describe", "{}"));
    await expect.poll(() => text, { timeout: 9000 }).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toContain("no file descriptor left; retry");
    for (const each of [...sockets, ...open]) each.destroy();
    await expect.poll(async () => (await service.call("describe", "columns")).status, { timeout: 20_000 }).toBe(200);
  });
});
