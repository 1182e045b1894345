import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { outcomeOf } from "../service/maintenance/support.ts";
import { type ObjectStore, startObjectStore, type Weather } from "../support/object-store.ts";
import { Bucket } from "../support/object-store-content.ts";
import { type Ask, type Responder, respond } from "../support/object-store-protocol.ts";
import { fairWeather } from "../support/object-store-traffic.ts";
import { inStore, MaintainedTables, madeIds } from "./maintained-tables.ts";

/** The moment before or after a change of the store, the n-th one of a run that a pattern fits. */
interface Moment {
  readonly when: "before" | "after";
  readonly pattern: RegExp;
  readonly nth: number;
}

const commitOfRecord = /^PUT \S*_lakehead\/\S+\.manifest/;
const commit = /^PUT (?!\S*_lakehead\/)\S+\.manifest/;

const fragmentsMerged: Moment = { when: "after", pattern: commit, nth: 2 };

/** In the order of a run. Its commits on the table: ids for the new fragments, the fragments, the index. */
const moments: Readonly<Record<string, Moment>> = {
  "record-made": { when: "after", pattern: commitOfRecord, nth: 1 },
  "fragment-written": { when: "after", pattern: /^PUT (?!\S*_lakehead\/)\S+\/data\//, nth: 1 },
  "fragments-merged": fragmentsMerged,
  "index-written": { when: "before", pattern: commit, nth: 3 },
  "file-deleted": { when: "after", pattern: /^DELETE /, nth: 1 },
  "version-deleted": { when: "after", pattern: /^DELETE .*\.manifest/s, nth: 1 },
  // Or before a renewal, on a slow machine.
  "work-done": { when: "before", pattern: commitOfRecord, nth: 3 },
};

/** A store that ends a run at one of its changes, before or after it takes effect, and answers nothing from then on. */
class DeadlyStore {
  #armed: (Moment & { readonly act: () => void }) | undefined;
  #seen = 0;
  #isStruck = false;

  arm(moment: Moment, act: () => void): void {
    [this.#armed, this.#seen, this.#isStruck] = [{ ...moment, act }, 0, false];
  }

  /** @returns whether the moment came. */
  disarm(): boolean {
    const struck = this.#isStruck;
    [this.#armed, this.#isStruck] = [undefined, false];
    return struck;
  }

  respond(inner: Responder): Responder {
    const never = new Promise<never>(() => undefined);
    return async (ask: Ask) => {
      const armed = this.#armed;
      if (armed === undefined) return inner(ask);
      if (this.#isStruck) return never;
      const { method, key, query, body } = ask;
      const change = query.has("delete") ? `DELETE ${body}` : `${method} ${key}`;
      if (!armed.pattern.test(change) || ++this.#seen < armed.nth) return inner(ask);
      this.#isStruck = true;
      if (armed.when === "after") await inner(ask);
      armed.act();
      return never;
    };
  }
}

const weathers: Readonly<Record<string, Partial<Weather>>> = {
  "answers-5-of-100-with-503": { unavailable: 0.05 },
  "cuts-5-of-100-before-they-take-effect": { dropped: 0.05 },
  "cuts-5-of-100-after-they-took-effect": { unanswered: 0.05 },
  "loses-the-response-to-each-tenth-put": { unanswered: 0.1, only: "PUT" },
};

/** With the SDK's own retries, a run would wait for minutes for a store that is away. */
const impatience = { client_max_retries: "2", client_retry_timeout: "2" };

/** Runs that end early at any change of the store, and runs whose store fails. The tables of a test share the later runs. */
export const maintenance = (cloud: "s3" | "gs", behind: () => Responder | undefined): void => {
  describe("the maintenance of a table", () => {
    const deadly = new DeadlyStore();
    let prefixes = 0;
    let store: ObjectStore;
    let tables: MaintainedTables;
    let inner: Responder;

    beforeAll(() => {
      inner = deadly.respond(behind() ?? respond(new Bucket()));
    });
    beforeEach(async () => {
      store = await startObjectStore({ cloud, prefix: `maintained-${++prefixes}`, behind: inner });
      tables = await MaintainedTables.in(inStore(store));
      return async () => {
        deadly.disarm();
        tables.close();
        await store.close();
      };
    });
    afterAll(() => void deadly.disarm());

    test("a run that is killed before or after a change of the store costs no row and no file", async () => {
      const names = Object.keys(moments);
      for (const name of names) await tables.make(name);
      for (const [name, moment] of Object.entries(moments)) {
        const running = tables.startRun([name]);
        deadly.arm(moment, () => running.child.kill("SIGKILL"));
        await running.exited();
        expect(deadly.disarm(), `${name}:\n${running.output()}`).toBe(true);
      }
      await tables.expectOrder(Object.fromEntries(names.map((name) => [name, madeIds])));
    }, 300_000);

    test("a store that fails costs no row and no file", async () => {
      const names = [...Object.keys(weathers), "goes-away"];
      for (const name of names) await tables.make(name);
      for (const [name, weather] of Object.entries(weathers)) {
        store.set(weather);
        await tables.run([name]);
        store.set(fairWeather);
      }
      deadly.arm(fragmentsMerged, () => store.set({ presence: "away" }));
      const run = await tables.run(["goes-away"], {
        LAKEHEAD_STORAGE_OPTIONS: JSON.stringify({ ...store.storageOptions, ...impatience }),
        LAKEHEAD_MAINTENANCE_TABLE_SECONDS: "10",
      });
      expect(deadly.disarm()).toBe(true);
      store.set(fairWeather);
      expect(run.code, run.output).toBe(1);
      expect(outcomeOf(run, "goes-away").outcome).toBe("failed");
      await tables.expectOrder(Object.fromEntries(names.map((name) => [name, madeIds])));
    }, 300_000);
  });
};
