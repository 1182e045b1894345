import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { podCosts, podsOfApiServer, renderPodCosts } from "../../../infra/verify/cost/cost.ts";
import { podsOfPrometheus } from "../../../infra/verify/cost/prometheus.ts";
import type { NodeFact, PodFact } from "../../../infra/verify/facts.ts";
import { pod } from "./support.ts";

const now = Date.parse("2026-11-25T12:00:00Z");
const period = { from: now - 24 * 3_600_000, now };
const labels = { "lakehead/job": "embeddings", "lakehead/owner": "ada" };
const machine: NodeFact = {
  metadata: { name: "n", labels: { "node.kubernetes.io/instance-type": "m7i.xlarge" } },
  spec: {},
  status: { allocatable: { cpu: "4", memory: "16Gi" } },
};
const spec: PodFact["spec"] = {
  nodeName: "n",
  containers: [
    { resources: { requests: { cpu: "500m", memory: "8Gi" } } },
    { resources: { requests: { cpu: "500m" } } },
  ],
};
const inState = (state: NonNullable<NonNullable<PodFact["status"]["containerStatuses"]>[number]["state"]>) => ({
  containerStatuses: [{ name: "ray", ready: true, state }],
});
const price = (usd: number) =>
  ({
    cloud: "aws",
    region: "*",
    item: "m7i.xlarge",
    usd,
    per: "hour",
    date: "2026-11-25",
    source: "https://p.invalid",
  }) as const;
const market = { cloud: "aws", region: "eu-central-1" };

test("a pod of the API server costs its greatest share of its node, within the days that are asked for", () => {
  const pods = [
    pod("runs", { labels, spec, status: inState({ running: { startedAt: "2026-11-25T10:00:00Z" } }) }),
    pod("began before", {
      labels,
      spec,
      status: inState({ terminated: { startedAt: "2026-11-24T06:00:00Z", finishedAt: "2026-11-24T13:00:00Z" } }),
    }),
    pod("ended before", {
      labels,
      spec,
      status: inState({ terminated: { startedAt: "2026-11-23T06:00:00Z", finishedAt: "2026-11-23T13:00:00Z" } }),
    }),
    pod("waits", { labels, spec, status: inState({ waiting: { reason: "ImagePullBackOff" } }) }),
  ];
  const { rows, missing } = podCosts(podsOfApiServer(pods, [machine], period), [price(0.2)], market);
  expect(missing.size).toBe(0);
  // Half of the memory and a quarter of the CPUs, for two hours and for one.
  expect(rows).toMatchObject([{ job: "embeddings", owner: "ada", pods: 2, hours: 3 }]);
  expect(rows[0]?.dollars).toBeCloseTo(3 * 0.5 * 0.2);
});

test("a machine without a price is named with its hours, and not in the sum", () => {
  const pods = [pod("runs", { spec, status: inState({ running: { startedAt: "2026-11-25T10:00:00Z" } }) })];
  const printed = renderPodCosts("aws-dev", podCosts(podsOfApiServer(pods, [machine], period), [], market), {
    days: 1,
    source: "the API server",
  });
  expect(printed).toContain("no price: m7i.xlarge (2.00 pod hours); add a row by --prices <file>");
  expect(printed).toMatch(/^\| sum without what has no price \|/m);
});

test.each([
  [401, "", /401; set LAKEHEAD_PROMETHEUS_TOKEN/],
  [200, "<html>", /does not answer as Prometheus/],
  [400, JSON.stringify({ status: "error", error: "query timed out" }), /query timed out/],
])("what is no answer of Prometheus is named: %s", async (status, body, message) => {
  const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await expect(podsOfPrometheus({ url, token: undefined }, "lancedb", 7)).rejects.toThrow(message);
  } finally {
    server.close();
  }
});
