/** Two replicas over an object store: rollouts, drains and the autoscaler under load. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "../../e2e/support/daemon.ts";
import { holds } from "../../e2e/support/report.ts";
import type { Store } from "../cluster/object-store.ts";
import {
  caller,
  callersNode,
  podsOf,
  readyPods,
  type Subject,
  serviceName,
  tableName,
  tableServicePods,
  writeTable,
} from "../support.ts";
import { configured, namespace, tableService, token } from "../surroundings.ts";

/** The autoscaler keeps two replicas while others check what happens to them. */
const replicas = { min: 2, max: 2 };
/** A tenth of the requested CPU is less than any load takes, and more than an idle service. */
const scaling = { min: 2, max: 3, targetCpuPercent: 10 };

export async function checkAvailability(subject: Subject, store: Store): Promise<void> {
  const { surroundings, stack, report, kubectl } = subject;
  const settings = (more: object = {}) =>
    configured(surroundings, {
      "lakehead:database": { uri: store.uri, storageOptions: store.storageOptions },
      "lakehead:tableService": { ...tableService, replicas, ...more },
    });
  const moved = await report.check(
    "pulumi up moves the tables to an object store, with two replicas on two nodes",
    async () => {
      await stack.configure(settings());
      await stack.setSecret("lakehead:storageOptions", JSON.stringify(store.secretOptions));
      const { seconds } = await stack.up();
      const pods = await readyPods(surroundings, tableServicePods, { count: 2 });
      await writeTable(subject);
      const places = new Set(pods.map(({ spec }) => spec.nodeName));
      holds(places.size === 2, `both replicas are on ${[...places].join()}`);
      return `${pods.map(({ spec }) => spec.nodeName).join(", ")} in ${seconds.toFixed(0)} s`;
    },
  );
  if (!moved) return;
  await report.check("a rollout loses no request under load", () =>
    underLoad(subject, async () => {
      await stack.configure(settings({ logLevel: "debug" }));
      await stack.up();
      await kubectl(["-n", namespace, "rollout", "status", "deployment/table-service", "--timeout=500s"]);
      await readyPods(surroundings, tableServicePods, { count: 2 });
    }),
  );
  await report.check("a node's drain moves its pods one at a time, and loses no request", () => drain(subject));
  await report.check("the autoscaler adds a replica under load", async () => {
    await stack.configure(settings({ replicas: scaling }));
    await stack.up();
    return scaleOut(subject);
  });
}

/** What load met: how often each status, and each failure to connect. */
type Counts = Readonly<Record<string, number>>;

/** Requests one after another on new connections, as most clients send them, until a line arrives on standard input. */
const loadProgram = (lines: number, pause: number): string => `
const counts = {};
let on = true;
process.stdin.once("data", () => { on = false; });
const init = { method: "POST", body: "{}", headers: { "content-type": "application/json", authorization: "Bearer ${token}" } };
const line = async () => {
  while (on) {
    let result;
    try {
      const response = await fetch("http://${serviceName}/v1/table/${tableName}/stats", { ...init, signal: AbortSignal.timeout(20_000) });
      await response.arrayBuffer();
      result = response.status;
    } catch (error) { result = error.cause?.code ?? error.name; }
    counts[result] = (counts[result] ?? 0) + 1;
    await new Promise((resolve) => setTimeout(resolve, ${pause}));
  }
};
Promise.all(Array.from({ length: ${lines} }, line)).then(() => { console.log(JSON.stringify(counts)); process.exit(); });`;

/** Sends requests from the caller's pod while something happens. */
async function load(
  { surroundings }: Subject,
  { lines, pause }: { lines: number; pause: number },
  happens: () => Promise<unknown>,
): Promise<Counts> {
  const [place, pod] = caller;
  const args = ["--kubeconfig", surroundings.kubeconfig, "-n", place, "exec", "-i", pod, "--"];
  const child = spawn("kubectl", [...args, "node", "-e", loadProgram(lines, pause)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const said: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
  const closed = once(child, "close");
  try {
    await happens();
  } finally {
    child.stdin.end("stop\n");
    await closed;
  }
  return JSON.parse(Buffer.concat(said).toString("utf8")) as Counts;
}

async function underLoad(subject: Subject, happens: () => Promise<unknown>): Promise<string> {
  const counts = await load(subject, { lines: 4, pause: 25 }, happens);
  const lost = Object.entries(counts).filter(([status]) => status !== "200");
  holds(lost.length === 0 && (counts[200] ?? 0) > 50, JSON.stringify(counts));
  return `${counts[200]} requests, all answered with 200`;
}

async function drain(subject: Subject): Promise<string> {
  const { surroundings, kubectl } = subject;
  const pods = await readyPods(surroundings, tableServicePods, { count: 2 });
  const node = pods.map(({ spec }) => String(spec.nodeName)).find((name) => name !== callersNode) ?? "";
  let least = 2;
  const said = await underLoad(subject, async () => {
    const drained = kubectl([
      "drain",
      node,
      "--ignore-daemonsets",
      "--delete-emptydir-data",
      "--force",
      "--timeout=500s",
    ]);
    let over = false;
    void drained.finally(() => {
      over = true;
    });
    await until(
      "the drain's end",
      async () => {
        const deployment = await surroundings.api.get({
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "table-service", namespace },
        });
        least = Math.min(least, deployment?.status?.readyReplicas ?? 0);
        return over ? true : undefined;
      },
      { seconds: 520 },
    );
    await drained;
    await readyPods(surroundings, tableServicePods, { count: 2 });
  }).finally(() => kubectl(["uncordon", node]));
  holds(least >= 1, `${least} pods were ready at the worst`);
  const left = (await podsOf(surroundings, tableServicePods)).filter(({ spec }) => spec.nodeName === node);
  holds(left.length === 0, `${left.length} pods are still on ${node}`);
  return `${node}: ${said}, never fewer than ${least} ready`;
}

interface Autoscaler {
  readonly desiredReplicas?: number;
  readonly currentMetrics?: readonly {
    readonly resource?: { readonly current: { readonly averageUtilization?: number } };
  }[];
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
}

/** Load, and the third replica that the autoscaler's metrics ask for. */
async function scaleOut(subject: Subject): Promise<string> {
  const { surroundings } = subject;
  const metadata = { name: "table-service", namespace };
  const reference = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata };
  let last: Autoscaler = {};
  const used = () => last.currentMetrics?.[0]?.resource?.current.averageUtilization;
  const expect = (what: string, as: () => boolean) =>
    until(
      what,
      async () => {
        last = ((await surroundings.api.get(reference))?.status ?? {}) as Autoscaler;
        return as() ? true : undefined;
      },
      { seconds: 400, every: 1000 },
    ).catch((error: Error) => {
      throw new Error(`${error.message}\nits status: ${JSON.stringify(last)}`);
    });
  await expect("an idle service with two replicas", () => last.desiredReplicas === 2 && (used() ?? 100) < 10);
  const idle = used();
  const started = performance.now();
  const counts = await load(subject, { lines: 8, pause: 0 }, async () => {
    await expect("a third replica", () => last.desiredReplicas === 3);
    await readyPods(surroundings, tableServicePods, { count: 3 });
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  holds((counts[200] ?? 0) > 50, JSON.stringify(counts));
  return `${idle} % of the request when idle, ${used()} % under load, a third pod ready after ${seconds} s; ${JSON.stringify(counts)}`;
}
