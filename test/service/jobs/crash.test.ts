import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@lancedb/lancedb";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory } from "../../support/directory.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../../support/service-process.ts";

const rows = 200_000;
const expression = "sqrt(abs(x)) * 2 + x";

let home: string;
const started: ServiceProcess[] = [];
beforeEach(async () => {
  home = await makeDirectory();
  const connection = await connect(home);
  const made = Array.from({ length: rows }, (_, id) => ({ id, x: id / 7 }));
  await connection.createTable("t", made);
  connection.close();
});
afterEach(async () => {
  for (const service of started.splice(0)) await service.kill();
});

const start = async (): Promise<ServiceProcess> => {
  const service = await startReadyServiceProcess({
    environment: {
      LAKEHEAD_DATABASE: home,
      LAKEHEAD_WRITES: "on",
      LAKEHEAD_QUEUE_SECONDS: "120",
      LAKEHEAD_JOBS_LEASE_SECONDS: "3",
    },
  });
  started.push(service);
  return service;
};

const describeJob = async (service: ServiceProcess, id: string) => {
  const { status, body } = await service.ask("/v1/jobs/describe", { job_id: id });
  expect(status).toBe(200);
  return body;
};
const ended = async (service: ServiceProcess, id: string) => {
  for (;;) {
    const job = await describeJob(service, id);
    if (job.job_state !== "IN_PROGRESS") return job;
    await sleep(200);
  }
};

/** The worker processes of a service. */
const childrenOf = async (pid: number | undefined): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const entry of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "");
    // After the name, which may have spaces: the state, and the parent.
    if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid) found.push(Number(entry));
  }
  return found;
};

const begin = async (service: ServiceProcess): Promise<string> => {
  const added = await service.call("add_columns", "t", { new_columns: [{ name: "y", computed: expression }] });
  expect([added.status, added.body]).toMatchObject([200, {}]);
  const { status, body } = await service.call("backfill_column", "t", { column: "y" });
  expect([status, body]).toMatchObject([202, {}]);
  return body.job_id;
};

const filled = async (service: ServiceProcess): Promise<number> =>
  (await service.call("count_rows", "t", { predicate: "y is not null" })).body;

test("the job of a service that was killed is taken over by the next, and each row is filled once", async () => {
  const first = await start();
  const id = await begin(first);
  await first.kill();
  const next = await start();
  expect(await ended(next, id)).toMatchObject({ job_state: "DONE", result: { rows_failed: 0 } });
  expect(await filled(next)).toBe(rows);
}, 120_000);

test("a job whose worker process was killed ends, and can be started again", async () => {
  const service = await start();
  const before = await childrenOf(service.running.child.pid);
  const id = await begin(service);
  let fresh: readonly number[] = [];
  while (fresh.length === 0) {
    const now = await childrenOf(service.running.child.pid);
    fresh = now.filter((pid) => !before.includes(pid));
    await sleep(20);
  }
  await sleep(300);
  for (const pid of fresh) process.kill(pid, "SIGKILL");
  const job = await ended(service, id);
  // A worker that was killed before it may have committed runs again.
  if (job.job_state === "FAILED") expect(job.failure).toMatchObject({ retryable: true });
  else expect(job.job_state).toBe("DONE");
  const { body } = await service.call("backfill_column", "t", { column: "y" });
  expect(await ended(service, body.job_id)).toMatchObject({ job_state: "DONE" });
  expect(await filled(service)).toBe(rows);
}, 120_000);

test("a job that is cancelled ends its worker process, and leaves no value of half of the rows", async () => {
  const service = await start();
  const id = await begin(service);
  await sleep(500);
  expect((await service.ask("/v1/jobs/cancel", { job_id: id })).status).toBe(200);
  const job = await ended(service, id);
  expect(["CANCELLED", "DONE"]).toContain(job.job_state);
  expect(await filled(service)).toBe(job.job_state === "DONE" ? rows : 0);
}, 120_000);
