import { type Connection, connect } from "@lancedb/lancedb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ObjectStore, startObjectStore } from "../support/object-store.ts";
import { Bucket } from "../support/object-store-content.ts";
import { type Ask, type Reply, type Responder, respond } from "../support/object-store-protocol.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { type Place, serve } from "./place.ts";
import { contentOf, isOpen, prepareTable, send, type Write, writes } from "./write-cases.ts";

/** What a store does with a request instead of answering it. */
interface Fault {
  readonly title: string;
  /** Whether all later requests to the table meet it, too. */
  readonly lasts: boolean;
  readonly act: (answer: () => Promise<Reply>) => Promise<Reply>;
}

const cut = (): never => {
  throw new Error("the connection is cut");
};

const faults: readonly Fault[] = [
  { title: "answers 500", lasts: true, act: async () => ({ status: 500 }) },
  { title: "answers 503", lasts: true, act: async () => ({ status: 503 }) },
  { title: "resets connections", lasts: true, act: async () => cut() },
  { title: "never answers", lasts: true, act: () => new Promise(() => undefined) },
  { title: "does what is asked and then resets connections", lasts: true, act: (answer) => answer().then(cut) },
  // The SDK sends the request again, and a conditional one meets its own success.
  {
    title: "does what is asked, answers 500 and answers again",
    lasts: false,
    act: (answer) => answer().then(() => ({ status: 500 })),
  },
  {
    title: "does what is asked, resets the connection and answers again",
    lasts: false,
    act: (answer) => answer().then(cut),
  },
];

/** Faults of single tables, so that cases run at the same time. */
class FailingTables {
  readonly #plans = new Map<string, { changes: number; readonly at: number; readonly fault: Fault | undefined }>();

  /** Counts the changes of a table from now on. The fault begins with change `at`. */
  watch(table: string, at = 0, fault?: Fault): void {
    this.#plans.set(table, { changes: 0, at, fault });
  }

  /** Ends the fault of a table; returns the number of its changes. */
  heal(table: string): number {
    const changes = this.#plans.get(table)?.changes ?? 0;
    this.#plans.delete(table);
    return changes;
  }

  respond(inner: Responder): Responder {
    return async (ask: Ask) => {
      const answer = async (): Promise<Reply> => inner(ask);
      const isBulk = ask.query.has("delete");
      const [, table = ""] = /([\w-]+)\.lance/.exec(decodeURIComponent(ask.address) + (isBulk ? ask.body : "")) ?? [];
      const plan = this.#plans.get(table);
      if (plan === undefined) return answer();
      const isChange = ask.method !== "GET" && ask.method !== "HEAD";
      if (isChange) plan.changes++;
      const { changes, at, fault } = plan;
      const isMet = fault?.lasts === true ? changes >= at : isChange && changes === at;
      return fault !== undefined && isMet ? fault.act(answer) : answer();
    };
  }
}

/** Short, because the store is near. A write to a silent one ends within seconds. */
const impatience = { timeout: "2s", read_timeout: "1s", connect_timeout: "1s", client_retry_timeout: "1" };

const cases: readonly Write[] = [...writes, { operation: "drop" }];

/** A store that fails during a write: the write is committed or not, and the response never says the opposite. */
export const failingWrites = (cloud: "s3" | "gs", behind: () => Responder | undefined): void => {
  describe("a store that fails during a write", () => {
    const tables = new FailingTables();
    const outcomes: Record<string, number> = {};
    let store: ObjectStore;
    let service: ServiceProcess;
    let reader: Connection;

    beforeAll(async () => {
      const inner = behind() ?? respond(new Bucket());
      store = await startObjectStore({ cloud, prefix: "failing", behind: tables.respond(inner) });
      reader = await connect(store.uri, { storageOptions: { ...store.storageOptions } });
      const place: Place = { uri: store.uri, storageOptions: { ...store.storageOptions, ...impatience } };
      service = await serve(place, {
        LAKEHEAD_WRITES: "on",
        LAKEHEAD_WRITE_CONCURRENCY: "8",
        LAKEHEAD_CONSISTENCY_SECONDS: "0",
      });
      await service.ready();
    }, 120_000);
    afterAll(async () => {
      process.stdout.write(`writes to a failing ${cloud}://: ${JSON.stringify(outcomes)}\n`);
      reader.close();
      await service.stop();
      await store.close();
    });

    const read = (name: string): Promise<string> =>
      contentOf(reader, name).catch((error: unknown) => `unreadable: ${error}`);

    test.each(cases)("$operation is committed or not, as the response says", async (write) => {
      const { operation } = write;
      const whole = `${operation}-whole`;
      await prepareTable(service, whole, write);
      const before = await contentOf(reader, whole);
      tables.watch(whole);
      expect((await send(service, whole, write)).status).toBe(200);
      const changes = tables.heal(whole);
      const after = await contentOf(reader, whole);
      expect(changes).toBeGreaterThan(0);
      expect(after).not.toBe(before);

      const fail = async (fault: Fault, at: number): Promise<readonly string[]> => {
        const name = `${operation}-${faults.indexOf(fault)}-${at}`;
        const title = `a store that ${fault.title} from change ${at} of ${changes} on`;
        await prepareTable(service, name, write);
        tables.watch(name, at, fault);
        const { status, body } = await send(service, name, write);
        tables.heal(name);
        const content = await read(name);
        const isCommitted = content === after;
        // The objects of a table are deleted one after another.
        const isHalf = operation === "drop" && content !== before && !isCommitted;
        const outcome = `${status} ${isCommitted ? "committed" : isHalf ? "half dropped" : "not committed"}`;
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        const isRight =
          isOpen(status) && (isCommitted || isHalf || content === before)
            ? body.code === 18 && body.error.includes("the outcome of the write is unknown")
            : isCommitted
              ? status === 200
              : content === before && status >= 400;
        const wrong = isRight ? [] : [`${title}: ${status} ${JSON.stringify(body)}, ${content.slice(0, 300)}`];
        if (isCommitted) return wrong;
        const again = await send(service, name, write);
        return again.status === 200 && (await read(name)) === after
          ? wrong
          : [...wrong, `${title}: the next attempt has status ${again.status} ${JSON.stringify(again.body)}`];
      };

      const moments = [...new Set([1, changes])];
      const outcome = await Promise.all(moments.flatMap((at) => faults.map((fault) => fail(fault, at))));
      expect(outcome.flat()).toEqual([]);
    });
  });
};
