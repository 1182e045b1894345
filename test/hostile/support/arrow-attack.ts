import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { asRows, plainStream, writesOn } from "../../service/writes/support.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import type { HostileBody } from "./arrow-bodies.ts";

let service: ServiceProcess;

type Target = readonly [operation: string, table: string, query: string];

const operations: readonly Target[] = [
  ["insert", "target", ""],
  ["merge_insert", "target", "?on=id&when_matched_update_all=true&when_not_matched_insert_all=true"],
  ["create", "created", "?mode=overwrite"],
];

/** Of the streams with changed bytes. */
export const seed = 20_261_122;

const rows = async (): Promise<number> => (await service.call("count_rows", "target", {})).body;

/** Ends of workers by a fault. One that decompresses a gigabyte may exceed its memory, which the supervisor ends. */
const workerEnds = async (): Promise<string[]> => {
  const text = await (await fetch(`${service.operationsBase}/metrics`)).text();
  return [
    ...text.matchAll(/^lakehead_worker_ends_total\{.*reason="(?:crash|killed|deadline|start)".*\} [1-9].*$/gm),
  ].map(([line]) => line);
};

/** Sends each body to an operation; the statuses by their number, and what was wrong. */
const sendAll = async ([operation, table, query]: Target, bodies: readonly HostileBody[]) => {
  const statuses: Record<string, number> = {};
  const wrong: string[] = [];
  for (const { title, bytes, status: expected } of bodies) {
    const { status, body } = await service.call(operation, table, undefined, asRows(bytes, { query }));
    statuses[status] = (statuses[status] ?? 0) + 1;
    const isRight = expected === undefined ? [200, 400, 413].includes(status) : status === expected;
    if (!isRight) wrong.push(`${title}: ${status} ${JSON.stringify(body)}`);
  }
  process.stdout.write(`hostile Arrow streams to ${operation}: ${JSON.stringify(statuses)}\n`);
  return wrong;
};

/**
 * Sends Arrow streams that no library writes to every operation that takes rows. Each is refused or written completely, and
 * neither the service nor a worker process crashes.
 */
export const attackWithArrow = (bodies: readonly HostileBody[], changed: readonly HostileBody[]): void => {
  beforeAll(async () => {
    service = await startReadyServiceProcess({
      copyOf: inject("tables"),
      environment: { ...writesOn, LAKEHEAD_MAX_WRITE_BYTES: String(2 ** 24) },
    });
    expect((await service.call("create", "target", undefined, asRows(plainStream([1])))).status).toBe(200);
  }, 240_000);
  afterAll(() => service.kill());

  describe.each(operations)("%s", (...operation) => {
    test("refuses sizes that overflow, texts and dictionaries that lie, deep schemas and long compressed buffers", async () => {
      expect(await sendAll(operation, bodies)).toEqual([]);
      expect(await workerEnds()).toEqual([]);
    }, 600_000);

    test("refuses streams with changed bytes, or writes them completely", async () => {
      expect(await sendAll(operation, changed)).toEqual([]);
      expect(await workerEnds()).toEqual([]);
    }, 600_000);

    test("takes valid rows afterwards, and the table can be read", async () => {
      const before = await rows();
      expect((await service.call("insert", "target", undefined, asRows(plainStream([7])))).status).toBe(200);
      expect(await rows()).toBe(before + 1);
      const every = await service.call("analyze_plan", "target", {
        k: 1,
        vector: [0, 0, 0, 0],
        bypass_vector_index: true,
      });
      expect(every.status).toBe(200);
      expect(service.ended()).toBeNull();
    });
  });
};
