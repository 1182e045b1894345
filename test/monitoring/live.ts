/** A real Prometheus scrapes the real service and a real Ray as the monitors say; every query of the rules and of the dashboard is asked there. */

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { alertGroups, ruleGroups } from "../../infra/model/alerts.ts";
import { dashboardRows } from "../../infra/model/dashboard.ts";
import { historyEnvironment } from "../../infra/model/history.ts";
import { tableServiceSelector } from "../../infra/model/names.ts";
import { rayMetricsPorts } from "../../infra/model/scrape-targets.ts";
import { writeTables } from "../../tools/lance-tables.ts";
import { freePorts } from "../../tools/parts/free-port.ts";
import { type Running, startProcess } from "../support/process.ts";
import { type ServiceProcess, startReadyServiceProcess } from "../support/service-process.ts";
import { testTables, vectorOf } from "../support/tables.ts";
import { startOperator } from "./operator.ts";
import { end, startPrometheus } from "./prometheus.ts";
import { type Pod, type PodMonitor, scrapeConfigs } from "./scrape.ts";

/** What runs beside the service and Ray. */
interface Parts {
  readonly operator: boolean;
  readonly stateMetrics: boolean;
}

/** Series that one service and one Ray without Kubernetes do not have, each with its reason. */
const absent = ({ operator, stateMetrics }: Parts): readonly (readonly [metric: RegExp, reason: string])[] => [
  ...(stateMetrics ? [] : [[/^kube_/, "kube-state-metrics needs the parts of npm run build:e2e"] as const]),
  [/^DCGM_/, "dcgm-exporter needs a GPU"],
  ...(operator
    ? []
    : [[/^(kuberay_|controller_runtime_)/, "the operator needs the parts of npm run build:e2e"] as const]),
  [/^lakehead_admission_refusals_total$/, "no call was refused"],
  [/^lakehead_worker_ends_total$/, "no worker ended"],
  [/^lakehead_credentials_lent_total$/, "needs a cloud that lends credentials: npm run test:stores"],
];

/** The span of four scrapes, which Grafana puts in place of its variable. */
const span = "10s";

/** The metrics that an expression reads, apart from `up`. */
const metricsOf = (expr: string): string[] => [
  ...new Set(
    [...expr.matchAll(/\b([a-zA-Z_:][\w:]*)(?=\{)|\b(DCGM_\w+)/g)]
      .map(([, named, bare]) => named ?? bare ?? "")
      .filter((metric) => metric !== "up"),
  ),
];

const reasonOf = (expr: string, parts: Parts): string | undefined =>
  absent(parts).find(([metric]) => metricsOf(expr).some((one) => metric.test(one)))?.[1];

/** The metrics of node, autoscaler and dashboard, each at a port of its own: another Ray of this machine may have the usual ones. */
async function startRay(
  python: string,
  home: string,
  { namespace, events }: { readonly namespace: string; readonly events: number },
): Promise<{ process: Running; pod: Pod }> {
  const [node = 0, autoscaler = 0, metrics = 0, dashboard = 0] = await freePorts(4);
  const process = startProcess(
    python,
    [fileURLToPath(new URL("ray_jobs.py", import.meta.url)), home, String(node), String(dashboard)],
    {
      HOME: home,
      RAY_USAGE_STATS_ENABLED: "0",
      // Its parts have 30 seconds to start by default, too few on a machine at work.
      RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT: "240",
      RAY_raylet_start_wait_time_s: "240",
      ...eventsTo(events),
      AUTOSCALER_METRIC_PORT: String(autoscaler),
      DASHBOARD_METRIC_PORT: String(metrics),
    },
  );
  await process.printed(/Ray runs/);
  return {
    process,
    pod: {
      namespace,
      name: "geneva-head",
      labels: { "ray.io/node-type": "head", "ray.io/cluster": "geneva" },
      ports: { metrics: node, dashboard },
      undeclaredPorts: { [rayMetricsPorts.autoscaler]: autoscaler, [rayMetricsPorts.dashboard]: metrics },
    },
  };
}

/** Calls whose series the dashboard reads. */
async function load(service: ServiceProcess, turn: number): Promise<void> {
  const query = { k: 5, vector: { single_vector: vectorOf(1) } };
  await service.call("query", "docs", { ...query, columns: { column_names: ["id"] } });
  await service.call("count_rows", "docs", { predicate: "id > 3" });
  await service.call("explain_plan", "docs", { query });
  await service.call("update", "plain", { updates: [["text", "'new'"]], predicate: "id = 1" });
  await service.call("stats", "docs");
  const column = `computed_${turn}`;
  await service.call("add_columns", "plain", { new_columns: [{ name: column, computed: "id * 2" }] });
  await service.call("backfill_column", "plain", { column });
}

/** As the charts' own monitor has it: the series name the namespace that they are about. */
const stateMetricsConfig = (port: number) => ({
  job_name: "kube-state-metrics",
  honor_labels: true,
  static_configs: [{ targets: [`127.0.0.1:${port}`] }],
});

export interface Asked {
  /** The number of queries that returned data. */
  readonly answered: number;
  /** By reason, the number of queries without data. */
  readonly without: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
  /** Kinds of events that Ray sent to the place of the collector of its history. */
  readonly rayEvents: ReadonlySet<string>;
}

/** The variables of Ray's containers for another port. */
const eventsTo = (port: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(historyEnvironment).map(([name, value]) => [name, value.replace("8084", `${port}`)]),
  );

/** In the place of a collector. */
async function listenForEvents() {
  const kinds = new Set<string>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const events = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    for (const { eventType, event_type = eventType } of [events].flat()) kinds.add(String(event_type));
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, kinds, close: () => server.close() };
}

/**
 * @param python an interpreter with Ray
 * @param monitors of the stack whose namespace this is
 */
export async function askEveryQuery(
  python: string,
  namespace: string,
  monitors: readonly PodMonitor[],
  log: (line: string) => void,
): Promise<Asked> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-metrics-"));
  // Sockets have short paths.
  const rayHome = await mkdtemp("/tmp/ray");
  const processes: Running[] = [];
  let service: ServiceProcess | undefined;
  const operator = await startOperator(namespace, log);
  const events = await listenForEvents();
  try {
    await writeTables(join(folder, "tables"), testTables);
    service = await startReadyServiceProcess({
      copyOf: join(folder, "tables"),
      environment: { LAKEHEAD_WRITES: "on" },
    });
    const ray = await startRay(python, rayHome, { namespace, events: events.port });
    processes.push(ray.process);
    const operations = Number(new URL(service.operationsBase).port);
    const pods: Pod[] = [
      {
        namespace,
        name: "table-service-0",
        labels: tableServiceSelector,
        ports: { http: service.port, operations },
      },
      ray.pod,
      ...(operator === undefined ? [] : [operator.pod]),
    ];
    await writeFile(join(folder, "rules.yaml"), stringify({ groups: ruleGroups(namespace) }));
    const prometheus = await startPrometheus(folder, {
      global: { scrape_interval: "2s", evaluation_interval: "2s" },
      rule_files: ["rules.yaml"],
      scrape_configs: [
        ...monitors.flatMap((monitor) => scrapeConfigs(monitor, pods)),
        ...(operator?.stateMetrics === undefined ? [] : [stateMetricsConfig(operator.stateMetrics)]),
      ],
    });
    processes.push(prometheus.process);
    const asked = await ask(prometheus.url, namespace, {
      service,
      parts: { operator: operator !== undefined, stateMetrics: operator?.stateMetrics !== undefined },
    });
    return { ...asked, rayEvents: events.kinds };
  } finally {
    events.close();
    await end(processes);
    await service?.kill();
    await operator?.close();
    await rm(folder, { recursive: true, force: true });
    await rm(rayHome, { recursive: true, force: true });
  }
}

interface Question {
  readonly what: string;
  readonly query: string;
}

/** Of the dashboard each query, and of an alert each of its metrics, since its condition should not hold. */
const questions = (namespace: string): Question[] => [
  ...alertGroups(namespace).flatMap(({ alerts }) =>
    alerts.flatMap(({ name, expr }) =>
      metricsOf(expr).map((metric) => ({ what: `alert ${name}`, query: selectorOf(expr, metric) })),
    ),
  ),
  ...dashboardRows(namespace).flatMap(({ panels }) =>
    panels.flatMap(({ title, queries }) =>
      Object.values(queries).map((query) => ({
        what: `panel "${title}"`,
        query: query.replaceAll("$__rate_interval", span),
      })),
    ),
  ),
];

/** The metric of the expression with the labels of its target alone. */
function selectorOf(expr: string, metric: string): string {
  const labels = new RegExp(`\\b${metric}\\{([^}]*)\\}`).exec(expr)?.[1] ?? "";
  return `${metric}{${[...labels.matchAll(/\b(?:job|namespace|exported_namespace)="[^"]*"/g)].join(",")}}`;
}

interface Scraped {
  readonly service: ServiceProcess;
  readonly parts: Parts;
}

async function ask(
  prometheus: string,
  namespace: string,
  { service, parts }: Scraped,
): Promise<Omit<Asked, "rayEvents">> {
  // biome-ignore lint/suspicious/noExplicitAny: Prometheus's answers
  const get = async (path: string): Promise<any> => (await fetch(`${prometheus}/api/v1/${path}`)).json();
  const hasData = async ({ what, query }: Question): Promise<boolean> => {
    const { status, error, data } = await get(`query?query=${encodeURIComponent(query)}`);
    if (status !== "success") throw new Error(`${what}: ${error}: ${query}`);
    return data.result.length > 0;
  };
  const all = questions(namespace);
  const expected = all.filter(({ query }) => reasonOf(query, parts) === undefined);
  let missing = expected;
  for (let tries = 0; missing.length > 0 && tries < 80; tries++) {
    await load(service, tries);
    await sleep(3000);
    const found = await Promise.all(missing.map(hasData));
    missing = missing.filter((_, index) => found[index] === false);
  }
  const faults = missing.map(({ what, query }) => `${what}: no data: ${query}`);
  const without = new Map<string, number>();
  for (const question of all) {
    const reason = reasonOf(question.query, parts);
    if (reason === undefined) continue;
    if (await hasData(question)) faults.push(`${question.what}: has data, although ${reason}: ${question.query}`);
    else without.set(reason, (without.get(reason) ?? 0) + 1);
  }
  const { data: targets } = await get("targets?state=active");
  for (const { scrapeUrl, health, lastError } of targets.activeTargets)
    if (health !== "up") faults.push(`target ${scrapeUrl} is ${health}: ${lastError}`);
  // The service, the head's three ports, the operator and kube-state-metrics.
  const count = 4 + Number(parts.operator) + Number(parts.stateMetrics);
  if (targets.activeTargets.length !== count) faults.push(`${targets.activeTargets.length} targets, and not ${count}`);
  const { data: rules } = await get("rules");
  for (const { name, health, lastError } of rules.groups.flatMap((group: { rules: unknown[] }) => group.rules))
    if (health !== "ok") faults.push(`rule ${name} is ${health}: ${lastError}`);
  return { answered: expected.length - missing.length, without, faults };
}
