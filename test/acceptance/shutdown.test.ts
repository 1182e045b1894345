import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Running } from "../support/process.ts";
import { Workplace } from "./workplace.ts";

const workplace = new Workplace();
beforeAll(() => workplace.open());
afterAll(() => workplace.close());

const start = async (environment: Readonly<Record<string, string>>) => {
  const running = workplace.start(environment);
  const [, base = "", health = ""] = await running.printed(/table service\s+(http:\/\/\S+)\s+\(health: (\S+),/);
  const [, token = ""] = await running.printed(/token for local use\s+(\S+)/);
  // It listens before it is ready, while the database connects.
  while ((await fetch(health)).status !== 200);
  return { running, base, health, token };
};

/** Sends a request; `refused` means that the connection was never accepted. */
const post = (url: string, token: string, body: object, agent: Agent): Promise<number | "refused"> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    };
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
      response.on("error", reject);
    });
    sent.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNREFUSED" ? resolve("refused") : reject(error),
    );
    sent.end(text);
  });

const requestLines = (running: Running) =>
  running
    .output()
    .split("\n")
    .filter((line) => line.includes('"msg":"request"'));

/** Requests answered and requests received, by the service's metrics. */
const arrived = async (metrics: string): Promise<{ readonly answered: number; readonly arrived: number }> => {
  const text = await (await fetch(metrics)).text();
  const sum = (pattern: RegExp): number =>
    [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  const answered = sum(/^lakehead_requests_total\{operation="analyze_plan"[^}]*\} (\d+)$/gm);
  const open = sum(/^lakehead_(?:native_calls_in_flight|calls_waiting)\{class="analyze"\} (\d+)$/gm);
  return { answered, arrived: answered + open };
};

test("SIGTERM with 60 requests in flight: every accepted one gets a response, exit code 0", async () => {
  const { running, base, health, token } = await start({
    LAKEHEAD_ANALYZE_QUEUE: "500",
    // On a busy machine 60 analyses take long: none may be refused for its time in the queue.
    LAKEHEAD_QUEUE_SECONDS: "120",
    LAKEHEAD_SHUTDOWN_SECONDS: "120",
    LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: "500",
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 300 });
  const count = 60;
  const query = { k: 10, vector: Array.from({ length: 8 }, () => 0.5), bypass_vector_index: true };
  const answers = Array.from({ length: count }, () =>
    post(`${base}/v1/table/earthquakes/analyze_plan`, token, query, agent),
  );
  // A connection in the kernel's backlog is not accepted yet: wait until the process has received all requests.
  const metrics = health.replace("readyz", "metrics");
  let seen = await arrived(metrics);
  while (seen.arrived < count) seen = await arrived(metrics);
  running.child.kill("SIGTERM");
  expect(seen.answered).toBeLessThan(count);
  const statuses = await Promise.all(answers);
  expect(await running.exited()).toBe(0);
  agent.destroy();
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(requestLines(running)).toHaveLength(count);
  expect(running.output()).toMatch(/"msg":"draining"[\s\S]*"msg":"stopped"/);
});

test("while it drains it is live, not ready, and serves requests", async () => {
  const { running, base, health, token } = await start({ LAKEHEAD_DRAIN_SECONDS: "60" });
  const agent = new Agent();
  running.child.kill("SIGTERM");
  await running.printed(/"msg":"draining"/);
  expect((await fetch(health)).status).toBe(503);
  expect((await fetch(health.replace("readyz", "livez"))).status).toBe(200);
  expect(await post(`${base}/v1/table/earthquakes/stats`, token, {}, agent)).toBe(200);
  const { headers } = await fetch(`${base}/openapi.json`);
  expect(headers.get("connection")).toBe("close");
  running.child.kill("SIGTERM");
  expect(await running.exited()).toBe(130);
});
