import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { tableFromIPC } from "apache-arrow";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ObjectStore, startObjectStore } from "../support/object-store.ts";
import { Bucket } from "../support/object-store-content.ts";
import { type Responder, respond } from "../support/object-store-protocol.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { serve, withLongTimeouts } from "./place.ts";

const rows = 2000;
const leaseSeconds = 6;

/** Holds the puts of a table's data until it is opened. */
class Gate {
  #opened = Promise.withResolvers<void>();
  #reached = Promise.withResolvers<void>();

  shut(): void {
    this.#opened = Promise.withResolvers();
    this.#reached = Promise.withResolvers();
  }

  open(): void {
    this.#opened.resolve();
  }

  /** Resolves when a put waits. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  respond(inner: Responder): Responder {
    return async (ask) => {
      if (ask.method === "PUT" && ask.key.includes("/held.lance/data/")) {
        this.#reached.resolve();
        await this.#opened.promise;
      }
      return inner(ask);
    };
  }
}

/** Jobs in the store, of which any replica answers, and which any may run. */
export const jobsOfReplicas = (cloud: "s3" | "gs", behind: () => Responder | undefined): void => {
  describe("a job of one of two replicas", () => {
    const gate = new Gate();
    let store: ObjectStore;
    let first: ServiceProcess;
    let second: ServiceProcess;

    const start = async (): Promise<ServiceProcess> => {
      const service = await serve(withLongTimeouts(store), {
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_CONSISTENCY_SECONDS: "0",
        LAKEHEAD_JOBS_LEASE_SECONDS: String(leaseSeconds),
      });
      await service.ready();
      return service;
    };

    beforeAll(async () => {
      const inner = behind() ?? respond(new Bucket());
      store = await startObjectStore({ cloud, prefix: "jobs", behind: gate.respond(inner) });
      return () => store.close();
    });
    beforeEach(async () => {
      gate.open();
      const connection = await connect(store.uri, { storageOptions: { ...store.storageOptions } });
      const made = Array.from({ length: rows }, (_, id) => ({ id, x: id / 7 }));
      await connection.createTable("held", made, { mode: "overwrite" });
      connection.close();
      [first, second] = await Promise.all([start(), start()]);
      const column = { new_columns: [{ name: "y", computed: "sqrt(x) * 2" }] };
      expect(await first.call("add_columns", "held", column)).toMatchObject({ status: 200 });
      gate.shut();
    }, 120_000);
    afterEach(async () => {
      gate.open();
      await Promise.all([first.kill(), second.kill()]);
    });

    /** A refresh by the first replica, whose worker waits for the store. */
    const begin = async (): Promise<string> => {
      const { status, body } = await first.call("backfill_column", "held", { column: "y" });
      expect([status, body]).toMatchObject([202, {}]);
      await gate.reached;
      return body.job_id;
    };
    const describeAt = async (service: ServiceProcess, id: string) => {
      const { status, body } = await service.ask("/v1/jobs/describe", { job_id: id });
      expect([status, body]).toMatchObject([200, {}]);
      return body;
    };
    const endAt = async (service: ServiceProcess, id: string) => {
      for (;;) {
        const job = await describeAt(service, id);
        if (job.job_state !== "IN_PROGRESS") return job;
        await sleep(100);
      }
    };
    const stepsAt = async (service: ServiceProcess, id: string): Promise<unknown[]> => [
      ...(tableFromIPC((await service.ask("/v1/jobs/query_events", { job_id: id })).body).getChild("state") ?? []),
    ];
    const filledAt = async (service: ServiceProcess): Promise<number> =>
      (await service.call("count_rows", "held", { predicate: "y is not null" })).body;

    test("is described, listed and seen to its end by the other", async () => {
      const id = await begin();
      expect(await describeAt(second, id)).toMatchObject({ job_state: "IN_PROGRESS" });
      expect(JSON.stringify((await second.ask("/v1/jobs/list", {})).body)).toContain(id);
      gate.open();
      expect(await endAt(second, id)).toMatchObject({ job_state: "DONE", result: { rows_failed: 0 } });
      expect(await describeAt(first, id)).toMatchObject({ job_state: "DONE" });
      expect((await stepsAt(second, id)).at(-1)).toBe("DONE");
      expect(await filledAt(second)).toBe(rows);
    });

    test("is cancelled by the other, and leaves no value", async () => {
      const id = await begin();
      expect(await second.ask("/v1/jobs/cancel", { job_id: id })).toMatchObject({ status: 200 });
      expect(await endAt(second, id)).toMatchObject({ job_state: "CANCELLED" });
      expect(await describeAt(first, id)).toMatchObject({ job_state: "CANCELLED" });
      gate.open();
      expect(await filledAt(second)).toBe(0);
    });

    test("is taken over by the other after kill -9, and each row is filled once", async () => {
      const id = await begin();
      await first.kill();
      expect(await describeAt(second, id)).toMatchObject({ job_state: "IN_PROGRESS" });
      gate.open();
      expect(await endAt(second, id)).toMatchObject({ job_state: "DONE", result: { rows_failed: 0 } });
      // An attempt of each. On a loaded machine the second may lose its lease, and begin again.
      const attempts = (await stepsAt(second, id)).filter((state) => state === "IN_PROGRESS");
      expect(attempts.length).toBeGreaterThan(1);
      expect(await filledAt(second)).toBe(rows);
    });

    test("is cancelled by the other although its replica was killed", async () => {
      const id = await begin();
      await first.kill();
      expect(await second.ask("/v1/jobs/cancel", { job_id: id })).toMatchObject({ status: 200 });
      expect(await endAt(second, id)).toMatchObject({ job_state: "CANCELLED" });
      gate.open();
      expect(await filledAt(second)).toBe(0);
    });

    test("is left to the other by a replica that stops in order", async () => {
      const id = await begin();
      const stopped = first.stop();
      gate.open();
      await stopped;
      expect(await endAt(second, id)).toMatchObject({ job_state: "DONE" });
      expect(await filledAt(second)).toBe(rows);
    });
  });
};
