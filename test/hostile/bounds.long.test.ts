import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type DataType,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  Int64,
  List,
  Schema,
  Struct,
  Utf8,
} from "apache-arrow";
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import { asRows, streamOf, writesOn } from "../service/writes/support.ts";
import { testToken } from "../support/request.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { staticToken } from "../support/static-token.ts";
import { startOtherCaller } from "./support/other-caller.ts";

/**
 * One caller sends random schemas, metadata, requests and slow readers to a service with 1 GiB. The main process lives, and
 * the statistics of another caller's table are answered.
 */

/** `BOUNDS_SECONDS=3600 npm run test:long -- test/hostile/bounds` searches for an hour, `BOUNDS_SEED` repeats a run. */
const seconds = Number(process.env.BOUNDS_SECONDS ?? 60);
const seed = Number(process.env.BOUNDS_SEED ?? Date.now() % 2 ** 31);
const otherToken = "token-of-another-caller";
const mebibyte = 2 ** 20;
const answerSeconds = 60;
const stepSeconds = 20;

const length = fc.oneof(
  fc.integer({ min: 1, max: 64 }),
  fc.integer({ min: 1, max: 2 ** 20 }),
  fc.constant(2 ** 31 - 1),
);

const { type } = fc.letrec<{ type: DataType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom<DataType>(new Int64(), new Float32(), new Utf8()),
    length.map((bytes) => new FixedSizeBinary(bytes)),
    fc.tuple(length, tie("type")).map(([size, item]) => new FixedSizeList(size, new Field("item", item, true))),
    tie("type").map((item) => new List(new Field("item", item, true))),
    fc
      .array(tie("type"), { minLength: 1, maxLength: 4 })
      .map((types) => new Struct(types.map((each, index) => new Field(`f${index}`, each, true)))),
  ),
}));

const text = fc.tuple(fc.constantFrom("x", '"', "\u0000", "é"), fc.integer({ min: 0, max: 3_000_000 }));
const table = fc.integer({ min: 0, max: 9 }).map((index) => `t${index}`);
const version = fc.integer({ min: 1, max: 200 });
const column = fc.constantFrom("id", "c0", "c1");
const filter = fc
  .tuple(column, fc.constantFrom("is null", "is not null", "= 1"), fc.integer({ min: 1, max: 60 }))
  .map(([name, test, count]) => Array.from({ length: count }, () => `${name} ${test}`).join(" and "));

const requests = fc.oneof(
  fc.record({ operation: fc.constant("exists"), body: fc.record({ version }) }),
  fc.record({ operation: fc.constant("describe"), body: fc.record({ version }, { requiredKeys: [] }) }),
  fc.record({
    operation: fc.constantFrom("explain_plan", "analyze_plan"),
    body: fc.record({ query: fc.record({ k: fc.integer({ min: 1, max: 100 }), filter }) }),
  }),
  fc.record({ operation: fc.constant("query"), body: fc.record({ k: fc.integer({ min: 1, max: 100 }), filter }) }),
  fc.record({
    operation: fc.constantFrom("stats", "version/list", "index/list", "tags/list"),
    body: fc.constant({}),
  }),
);

const steps = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("create" as const),
      table,
      types: fc.array(type, { minLength: 1, maxLength: 6 }),
      note: text,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("metadata" as const), table, note: text }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("flood" as const),
      table,
      request: requests,
      connections: fc.integer({ min: 1, max: 200 }),
      pipelined: fc.integer({ min: 1, max: 20 }),
      /** Bytes that each connection reads every 50 ms; 0: none. */
      reads: fc.constantFrom(0, 1000, 10_000_000),
      /** Share of the last body that is sent. */
      complete: fc.boolean(),
    }),
  },
);

type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

const noteOf = ([letter, count]: readonly [string, number]): string => letter.repeat(count);

/** What the image sets for malloc. */
const ofImage = async (): Promise<Record<string, string>> => {
  const dockerfile = await readFile(new URL("../../Dockerfile", import.meta.url), "utf8");
  const set = [...dockerfile.matchAll(/\b(MALLOC_\w+)=(\d+)/g)].map(([, name = "", value = ""]) => [name, value]);
  expect(set.length).toBeGreaterThan(0);
  return Object.fromEntries(set);
};

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;

test(
  "random schemas, metadata, requests and slow readers do not end the main process",
  async () => {
    const service = await startReadyServiceProcess({
      copyOf: inject("tables"),
      flags: ["--max-old-space-size=512"],
      tokens: [staticToken("other", otherToken)],
      environment: { ...(await ofImage()), ...writesOn, LAKEHEAD_MEMORY_LIMIT_BYTES: String(1024 * mebibyte) },
    });
    const until = performance.now() + seconds * 1000;
    const peak = async (): Promise<number> =>
      Number(/^VmHWM:\s+(\d+)/m.exec(await readFile(`/proc/${service.running.child.pid}/status`, "latin1"))?.[1]) /
      1024;
    const done: Record<string, number> = {};
    const endOtherCaller = startOtherCaller({
      url: `${service.base}/v1/table/plain/stats`,
      token: otherToken,
      answerSeconds,
    });

    const call = async (operation: string, name: string, body: unknown, options = {}): Promise<void> => {
      const { status } = await service.call(operation, name, body, options);
      done[`${operation} ${status}`] = (done[`${operation} ${status}`] ?? 0) + 1;
    };
    const flood = async ({
      table,
      request,
      connections,
      pipelined,
      reads,
      complete,
    }: Extract<Step, { kind: "flood" }>) => {
      const body = JSON.stringify(request.body);
      const head = `POST /v1/table/${table}/${request.operation} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${testToken}\r\ncontent-type: application/json\r\n`;
      const whole = `${head}content-length: ${body.length}\r\n\r\n${body}`;
      const part = `${head}content-length: 1000000\r\n\r\n{"filter":"${" ".repeat(900_000)}`;
      const sockets = Array.from({ length: connections }, () => {
        const socket = connect(service.port, "127.0.0.1", () =>
          socket.write(whole.repeat(pipelined) + (complete ? "" : part)),
        );
        socket.on("error", () => undefined);
        socket.pause();
        return socket;
      });
      for (let turn = 0; turn < 40; turn++) {
        for (const socket of sockets) if (reads > 0) socket.read(Math.min(reads, socket.readableLength) || undefined);
        await sleep(50);
      }
      for (const socket of sockets) socket.destroy();
      done[`flood ${request.operation}`] = (done[`flood ${request.operation}`] ?? 0) + 1;
    };
    const perform = (step: Step): Promise<void> => {
      if (step.kind === "flood") return flood(step);
      if (step.kind === "metadata")
        return call("update_field_metadata", step.table, {
          updates: [{ path: "id", metadata: { note: noteOf(step.note).slice(0, 400_000) } }],
        });
      const columns = step.types.map((each, index) => new Field(`c${index}`, each, true));
      const schema = new Schema(
        [new Field("id", new Int64(), true), ...columns],
        new Map([["note", noteOf(step.note)]]),
      );
      return call("create", step.table, undefined, asRows(streamOf([], schema), { query: "?mode=overwrite" }));
    };

    try {
      for (const step of fc.sample(steps, { seed, numRuns: Math.ceil(seconds * 20) })) {
        if (performance.now() > until) break;
        // A worker may be slow; the search goes on.
        await Promise.race([perform(step).catch(() => undefined), sleep(stepSeconds * 1000)]);
        if (service.ended() !== null)
          throw new Error(
            `seed ${seed}: the service ended after ${JSON.stringify(step).slice(0, 500)}\n${service.output().slice(-5000)}`,
          );
      }
      const { latencies, wrong } = await endOtherCaller();
      process.stdout.write(
        `seed ${seed}, ${seconds} s: main process at most ${Math.round(await peak())} MiB; stats of the other caller p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(0)} ms, greatest ${Math.max(...latencies).toFixed(0)} ms of ${latencies.length}; ${JSON.stringify(done)}\n`,
      );
      expect(wrong).toEqual([]);
      expect(latencies.length).toBeGreaterThan(0);
      expect(await peak()).toBeLessThan(1024);
    } finally {
      void endOtherCaller();
      await service.kill();
    }
  },
  (seconds + 600) * 1000,
);
