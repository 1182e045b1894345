import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDirectory } from "../../support/directory.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";
import { staticToken } from "../../support/static-token.ts";
import { asRows, plainStream, writesOn } from "../writes/support.ts";

const other = "token-of-the-other-caller";
const jobs = 100;
const tables = 10;

let home: string;
let service: ServiceProcess;
beforeAll(async () => {
  home = await makeDirectory();
  service = await startReadyServiceProcess({
    tokens: [staticToken("other", other)],
    environment: { ...writesOn, LAKEHEAD_DATABASE: home, LAKEHEAD_JOBS_MAX: "256" },
  });
}, 180_000);
afterAll(() => service?.stop());

const makeTable = async (name: string): Promise<void> => {
  await service.call("create", name, undefined, asRows(plainStream([1, 2, 3])));
  const added = await service.call("add_columns", name, { new_columns: [{ name: "double", computed: "id * 2" }] });
  expect(added.status).toBe(200);
};
const begin = async (name: string, token?: string): Promise<string> => {
  const options = token === undefined ? {} : { token };
  const { status, body } = await service.call("backfill_column", name, { column: "double" }, options);
  expect([status, body]).toEqual([202, { job_id: expect.any(String) }]);
  return body.job_id;
};

test("100 jobs of one caller run to their end, and another caller's job and statistics do not wait for them", async () => {
  const names = Array.from({ length: tables }, (_, at) => `table_${at}`);
  for (const name of [...names, "of_other"]) await makeTable(name);
  const started = await Promise.all(Array.from({ length: jobs }, (_, at) => begin(names[at % tables] ?? "")));
  const end = new AbortController();
  const times: number[] = [];
  const asked = (async () => {
    while (!end.signal.aborted) {
      const from = performance.now();
      expect((await service.call("stats", "of_other", {}, { token: other })).status).toBe(200);
      times.push(performance.now() - from);
      await sleep(100);
    }
  })();
  const own = await begin("of_other", other);
  const list = async (): Promise<{ job_id: string; state: string }[]> =>
    (await service.ask("/v1/jobs/list", {})).body.jobs;
  const openOf = async (): Promise<number> =>
    (await list()).filter(({ job_id: id, state }) => started.includes(id) && state === "IN_PROGRESS").length;
  const stateOf = async (): Promise<string> =>
    (await service.ask("/v1/jobs/describe", { job_id: own }, { token: other })).body.job_state;
  await expect.poll(stateOf, { timeout: 110_000, interval: 200 }).toBe("DONE");
  expect(await openOf()).toBeGreaterThan(jobs / 2);
  await expect.poll(openOf, { timeout: 1_000_000, interval: 1000 }).toBe(0);
  end.abort();
  await asked;
  const states = new Set((await list()).map(({ state }) => state));
  expect([...states]).toEqual(["DONE"]);
  const sorted = times.toSorted((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
  process.stdout.write(`100 jobs: ${times.length} stats of the other caller, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`);
}, 1_200_000);
