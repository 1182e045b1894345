import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { ObjectStore } from "../support/object-store.ts";
import { fairWeather } from "../support/object-store-traffic.ts";
import type { ServiceProcess } from "../support/service-process.ts";
import { Ledger } from "./ledger.ts";
import { load, refusalFault, type Seen } from "./load.ts";
import { serve } from "./place.ts";
import { questions } from "./questions.ts";

const pollOptions = { timeout: 60_000, interval: 100 };
const nothing = (): Seen => ({ right: 0, refused: 0, wrong: [] });

/** Rounds of all questions under one kind of fault, while tags are created and deleted. */
const rounds = 2;
const tags = 40;

const awaySeconds = 10;

const probe = async (service: ServiceProcess, path: string) => {
  const response = await fetch(`${service.operationsBase}${path}`);
  return { status: response.status, body: await response.json() };
};

/** Requests between the service and its store fail; every request of this service reaches the store. */
export const faults = (store: () => ObjectStore): void => {
  describe("with a store that fails", () => {
    let service: ServiceProcess;
    beforeAll(async () => {
      service = await serve(store(), { LAKEHEAD_CONSISTENCY_SECONDS: "0" });
      await service.ready();
    });
    afterAll(() => service.stop());
    afterEach(() => store().set(fairWeather));

    /** After every fault: the service recovers by itself, and the tags match its responses. */
    const expectRecovery = async (seen: Seen, ledger: Ledger): Promise<void> => {
      expect(seen.wrong).toEqual([]);
      await expect
        .poll(() => probe(service, "/readyz"), pollOptions)
        .toMatchObject({
          status: 200,
          body: { databaseAvailable: true },
        });
      const round = async (): Promise<Seen> => {
        const after = nothing();
        await load(service, after, 4, () => true);
        expect(after.wrong).toEqual([]);
        return after;
      };
      await expect.poll(round, pollOptions).toMatchObject({ right: questions.length, refused: 0 });
      expect(await ledger.check()).toEqual([]);
    };

    test.each([
      ["that takes 50 ms for each request", { latencyMs: 50 }],
      ["that answers 5 % of requests 503", { unavailable: 0.05 }],
      ["that cuts 5 % of connections before the request takes effect", { dropped: 0.05 }],
      ["that cuts 5 % of connections after the request took effect", { unanswered: 0.05 }],
    ] as const)("%s, no answer is wrong and no tag is lost", async (name, weather) => {
      const seen = nothing();
      const ledger = new Ledger(service, name.replace(/\W+/g, "-"));
      store().take();
      store().set(weather);
      let round = 0;
      const makeTags = async (): Promise<void> => {
        while (ledger.size < tags) await ledger.work();
      };
      await Promise.all([load(service, seen, 8, () => ++round >= rounds), ...Array.from({ length: 4 }, makeTags)]);
      store().set(fairWeather);
      const failed = store().take().length * 0.05;
      // The SDK repeats failed requests: few of them end a call.
      expect(seen.refused + ledger.refused).toBeLessThan(failed / 2);
      await expectRecovery(seen, ledger);
    });

    test("with lost responses, a retry shows what a refused call did", async () => {
      const call = (operation: string, body: object) => service.call(`tags/${operation}`, "plain", body);
      store().set({ unanswered: 1, only: "PUT" });
      expect(refusalFault(await call("create", { tag: "unsure", version: 1 }))).toBeUndefined();
      store().set(fairWeather);
      expect(await call("version", { tag: "unsure" })).toMatchObject({ status: 200, body: { version: 1 } });
      expect(await call("create", { tag: "unsure", version: 1 })).toMatchObject({ status: 409, body: { code: 9 } });

      store().set({ unanswered: 1, only: "PUT" });
      expect(refusalFault(await call("update", { tag: "unsure", version: 2 }))).toBeUndefined();
      store().set(fairWeather);
      expect(await call("version", { tag: "unsure" })).toMatchObject({ status: 200, body: { version: 2 } });

      store().set({ unanswered: 1, only: "DELETE" });
      expect(refusalFault(await call("delete", { tag: "unsure" }))).toBeUndefined();
      store().set(fairWeather);
      expect(await call("delete", { tag: "unsure" })).toMatchObject({ status: 404, body: { code: 8 } });
    });

    test.each([
      ["away", "away"],
      ["silent", "silent"],
    ] as const)(
      `that is %s for ${awaySeconds} seconds, calls are refused, probes tell, and all comes back`,
      async (name, presence) => {
        const seen = nothing();
        const ledger = new Ledger(service, name);
        let over = false;
        const makeTags = async (): Promise<void> => {
          while (!over) {
            await ledger.work();
            await sleep(20);
          }
        };
        const work = Promise.all([load(service, seen, 4, () => over), makeTags()]);
        try {
          await expect.poll(() => seen.right, pollOptions).toBeGreaterThan(questions.length);
          store().set({ presence });
          for (let second = 1; second <= awaySeconds; second++) {
            await sleep(1000);
            expect(await probe(service, "/livez")).toMatchObject({ status: 200 });
            expect(await probe(service, "/readyz")).toMatchObject({ status: 200, body: { databaseConnected: true } });
          }
          // A silent store counts as unavailable only after the SDK's timeout.
          await expect
            .poll(() => probe(service, "/readyz"), pollOptions)
            .toMatchObject({ body: { databaseAvailable: false } });
          expect(seen.refused + ledger.refused).toBeGreaterThan(0);
          store().set(fairWeather);
        } finally {
          over = true;
          await work;
        }
        await expectRecovery(seen, ledger);
      },
    );

    test("unavailable at the start: the service is live, not ready, logs the reason, and recovers by itself", async () => {
      store().set({ presence: "away" });
      const late = await serve(store());
      try {
        expect(await probe(late, "/livez")).toMatchObject({ status: 200 });
        expect(await probe(late, "/readyz")).toMatchObject({
          status: 503,
          body: { databaseConnected: false, databaseAvailable: false },
        });
        expect(refusalFault(await late.call("stats", "plain"))).toBeUndefined();
        store().set(fairWeather);
        await late.ready();
        expect(await late.call("stats", "plain")).toMatchObject({ status: 200, body: { num_rows: 100 } });
      } finally {
        await late.stop();
      }
    });
  });
};
