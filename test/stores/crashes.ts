import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lives, until, workersOf } from "../service/workers/support.ts";
import { type ObjectStore, type ObjectStoreOptions, startObjectStore } from "../support/object-store.ts";
import { Bucket } from "../support/object-store-content.ts";
import type { Ask, Responder } from "../support/object-store-protocol.ts";
import { respond } from "../support/object-store-protocol.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { type Place, serve } from "./place.ts";
import { contentOf, isOpen, prepareTable, send, type Write, writes } from "./write-cases.ts";

/** A kill at a request that changes the store. `test/service/writes/interrupted.long.test.ts` lets requests fail instead. */
interface Fault {
  /** Whether the request takes effect before. */
  readonly takesEffect: boolean;
  readonly kills: "worker" | "service";
}

const faults: readonly Fault[] = [
  { takesEffect: false, kills: "worker" },
  { takesEffect: true, kills: "worker" },
  { takesEffect: false, kills: "service" },
  { takesEffect: true, kills: "service" },
];

/** A store whose n-th change meets a fault, once. */
export class Breakpoint {
  #changes = 0;
  #at = 0;
  #fault: Fault | undefined;
  #act: () => Promise<void> = async () => undefined;

  /** Counts from now on; returns the number of changes so far. */
  restart(at = 0, fault?: Fault, act?: () => Promise<void>): number {
    const changes = this.#changes;
    this.#changes = 0;
    this.#at = at;
    this.#fault = fault;
    this.#act = act ?? this.#act;
    return changes;
  }

  respond(inner: Responder): Responder {
    return async (ask: Ask) => {
      if (ask.method === "GET" || ask.method === "HEAD") return inner(ask);
      this.#changes++;
      const fault = this.#changes === this.#at ? this.#fault : undefined;
      if (fault === undefined) return inner(ask);
      const reply = fault.takesEffect ? await inner(ask) : undefined;
      await this.#act();
      return reply ?? { status: 500 };
    };
  }
}

/** Every moment of every write: it is committed once or not at all, and the response says which. */
export const crashes = (cloud: "s3" | "gs", behind: () => Responder | undefined): void => {
  describe("a write that is interrupted at each change of the store", () => {
    const breakpoint = new Breakpoint();
    let store: ObjectStore;
    let service: ServiceProcess | undefined;
    let reader: Connection;
    let tables = 0;
    /** The commits and the rest of the cases, for the last line. */
    const outcomes: Record<string, number> = {};

    const start = async (): Promise<ServiceProcess> => {
      const place: Place = store;
      const started = await serve(place, { LAKEHEAD_WRITES: "on", LAKEHEAD_CONSISTENCY_SECONDS: "0" });
      await started.ready();
      return started;
    };

    beforeAll(async () => {
      const inner = behind() ?? respond(new Bucket());
      const options: ObjectStoreOptions = { cloud, prefix: "crashes", behind: breakpoint.respond(inner) };
      store = await startObjectStore(options);
      reader = await connect(store.uri, { storageOptions: { ...store.storageOptions } });
      service = await start();
    }, 120_000);
    afterAll(async () => {
      process.stdout.write(`interrupted writes on ${cloud}://: ${JSON.stringify(outcomes)}\n`);
      reader.close();
      await service?.stop();
      await store.close();
    });

    const prepare = async (write: Write): Promise<string> => {
      const name = `${write.operation}-${++tables}`;
      if (service !== undefined) await prepareTable(service, name, write);
      return name;
    };

    const act = async ({ kills }: Fault): Promise<void> => {
      const workers = await workersOf(service?.running.child.pid);
      if (kills === "worker") for (const worker of workers) process.kill(worker, "SIGKILL");
      if (kills === "service") {
        // The next case starts another one, maybe before this one's directory is removed.
        const killed = service;
        service = undefined;
        await killed?.kill();
        // A worker that ends a moment after its service could still send its commit again.
        await until(() => !workers.some(lives));
      }
    };

    test.each(writes)(
      "$operation",
      async (write) => {
        service ??= await start();
        const whole = await prepare(write);
        const before = await contentOf(reader, whole);
        breakpoint.restart();
        expect((await send(service, whole, write)).status).toBe(200);
        const changes = breakpoint.restart();
        const after = await contentOf(reader, whole);
        expect(changes).toBeGreaterThan(1);
        expect(after).not.toBe(before);
        const wrong: string[] = [];
        for (let at = 1; at <= changes; at++)
          for (const fault of faults) {
            // A worker ends with its service, so one moment shows the difference.
            if (fault.kills === "service" && at !== changes) continue;
            service ??= await start();
            const name = await prepare(write);
            breakpoint.restart(at, fault, () => act(fault));
            const status = await send(service, name, write).then(
              (answer) => answer.status,
              () => undefined,
            );
            breakpoint.restart();
            const content = await contentOf(reader, name).catch((error: unknown) => `unreadable: ${error}`);
            const committed = content === after;
            const isRight = (committed || content === before) && (isOpen(status) || committed === (status === 200));
            const title = `kill -9 of the ${fault.kills} ${fault.takesEffect ? "after" : "before"} change ${at} of ${changes}`;
            if (!isRight) wrong.push(`${title}: status ${status}, ${content.slice(0, 300)}`);
            const outcome = `${fault.kills} killed: ${status ?? "no response"}, ${committed ? "committed" : "not committed"}`;
            outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
            // An earlier attempt leaves nothing that a later one fails at.
            if (committed || at !== changes) continue;
            service ??= await start();
            const again = await send(service, name, write);
            if (again.status !== 200 || (await contentOf(reader, name)) !== after)
              wrong.push(`${title}: the next attempt has status ${again.status}: ${JSON.stringify(again.body)}`);
          }
        expect(wrong).toEqual([]);
      },
      600_000,
    );
  });
};

/** Kills workers at moments spread over the time of a write: a directory has no requests to count. */
export const crashesOfDirectory = (place: () => Place): void => {
  describe("a write that is interrupted", () => {
    let service: ServiceProcess;
    let reader: Connection;
    beforeAll(async () => {
      service = await serve(place(), { LAKEHEAD_WRITES: "on", LAKEHEAD_CONSISTENCY_SECONDS: "0" });
      await service.ready();
      reader = await connect(place().uri);
    });
    afterAll(async () => {
      reader.close();
      await service.stop();
    });

    const moments = 12;
    const spanMs = 60;

    test.each(writes)(
      "$operation: kill -9 of the worker at one of 12 moments",
      async (write) => {
        let after: string | undefined;
        const wrong: string[] = [];
        for (let moment = -1; moment < moments; moment++) {
          const name = `killed-${write.operation}-${moment + 1}`;
          await prepareTable(service, name, write);
          const before = await contentOf(reader, name);
          const sending = send(service, name, write);
          if (moment >= 0) {
            await sleep((moment * spanMs) / moments);
            for (const worker of await workersOf(service.running.child.pid)) process.kill(worker, "SIGKILL");
          }
          const { status } = await sending;
          const content = await contentOf(reader, name).catch((error: unknown) => `unreadable: ${error}`);
          after ??= content;
          const committed = content === after;
          const isRight = (committed || content === before) && (isOpen(status) || committed === (status === 200));
          if (!isRight) wrong.push(`moment ${moment}: status ${status}, ${content.slice(0, 300)}`);
        }
        expect(wrong).toEqual([]);
      },
      120_000,
    );
  });
};
