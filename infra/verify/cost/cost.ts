/** What the pods of a stack cost in the last days: their seconds, by job and owner, at the prices of the plan. Pure. */

import { markdownTable } from "../../../tools/markdown-table.ts";
import type { Amount } from "../../model/fit.ts";
import { jobLabels, machineLabel, pricedNodeLabels, rayClusterLabel, spotLabels } from "../../model/names.ts";
import { type Market, type PriceRow, priceOf } from "../../offline-plan/prices.ts";
import { amountOf, type NodeFact, type PodFact } from "../facts.ts";

/** A pod, as far as it ran in the days that are asked for. */
export interface PodUse {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly requests: Amount;
  /** Undefined where nothing knows it any more. */
  readonly node: NodeSize | undefined;
}

export interface NodeSize {
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Amount;
}

export const nothing: Amount = { cpus: 0, memoryBytes: 0, gpus: 0 };

/** As the table of prices names it: the machine type, with ` spot` behind it for spot capacity. */
function itemOf(node: NodeSize | undefined): string | undefined {
  const machine = node?.labels[machineLabel];
  const spot = spotLabels.some(([label, value]) => node?.labels[label] === value);
  return machine === undefined ? undefined : `${machine}${spot ? " spot" : ""}`;
}

/** The share of its node that a pod keeps from others: the greatest of those of CPUs, memory and GPUs. */
export function shareOf({ requests, node }: PodUse): number {
  const shares = (["cpus", "memoryBytes", "gpus"] as const).map((key) => {
    const has = node?.allocatable[key] ?? 0;
    return has > 0 ? requests[key] / has : 0;
  });
  return Math.min(1, Math.max(...shares));
}

const added = (a: Amount, b: Amount): Amount => ({
  cpus: a.cpus + b.cpus,
  memoryBytes: a.memoryBytes + b.memoryBytes,
  gpus: a.gpus + b.gpus,
});

/**
 * The pods that the API server still has. It forgets a pod with its deletion, and KubeRay deletes those of a cluster that ends.
 * @param now in milliseconds, as `from`, the start of the period
 */
export function podsOfApiServer(
  pods: readonly PodFact[],
  nodes: readonly NodeFact[],
  { from, now }: { readonly from: number; readonly now: number },
): readonly PodUse[] {
  return pods.flatMap(({ metadata, spec, status }) => {
    const states = (status.containerStatuses ?? []).flatMap(({ state: { running, terminated } = {} }) => {
      const started = (running ?? terminated)?.startedAt;
      const end = terminated === undefined ? now : Date.parse(terminated.finishedAt);
      return started === undefined ? [] : [{ start: Date.parse(started), end }];
    });
    const starts = states.map(({ start }) => start);
    const ends = states.map(({ end }) => end);
    const seconds = (Math.max(...ends) - Math.max(from, Math.min(...starts))) / 1000;
    if (states.length === 0 || seconds <= 0) return [];
    const node = nodes.find((one) => one.metadata.name === spec.nodeName);
    return [
      {
        name: metadata.name,
        labels: metadata.labels ?? {},
        seconds,
        requests: (spec.containers ?? [])
          .map(({ resources }) => amountOf(resources?.requests ?? {}))
          .reduce(added, nothing),
        node: node && { labels: node.metadata.labels ?? {}, allocatable: amountOf(node.status.allocatable ?? {}) },
      },
    ];
  });
}

interface Row {
  readonly job: string;
  readonly owner: string;
  readonly table: string;
  readonly pods: number;
  readonly hours: number;
  readonly dollars: number;
  /** The machines that the pods ran on, with the hours of each that they kept. */
  readonly machines: ReadonlyMap<string, number>;
}

export interface PodCosts {
  readonly rows: readonly Row[];
  /** Machines without a price, with the hours that the sum lacks. */
  readonly missing: ReadonlyMap<string, number>;
}

const unknownMachine = "a node of unknown type";

/** What a pod belongs to. */
function groupOf(labels: PodUse["labels"]) {
  const cluster = labels[rayClusterLabel];
  const rest = cluster === undefined ? "none" : `none, RayCluster ${cluster}`;
  const { job, owner, table } = jobLabels;
  return { job: labels[job] ?? rest, owner: labels[owner] ?? "", table: labels[table] ?? "" };
}

export function podCosts(pods: readonly PodUse[], prices: readonly PriceRow[], market: Market): PodCosts {
  const rows = new Map<string, Row>();
  const add = (sums: ReadonlyMap<string, number>, key: string, more: number) =>
    new Map([...sums, [key, (sums.get(key) ?? 0) + more]]);
  let missing: ReadonlyMap<string, number> = new Map();
  for (const pod of pods) {
    const group = groupOf(pod.labels);
    const key = JSON.stringify(group);
    const hours = pod.seconds / 3600;
    const machine = itemOf(pod.node) ?? unknownMachine;
    const price = priceOf(prices, market, machine)?.usd;
    const kept = hours * shareOf(pod);
    if (price === undefined) missing = add(missing, machine, hours);
    const { pods: count = 0, hours: before = 0, dollars = 0, machines = new Map() } = rows.get(key) ?? {};
    rows.set(key, {
      ...group,
      pods: count + 1,
      hours: before + hours,
      dollars: dollars + kept * (price ?? 0),
      machines: add(machines, machine, kept),
    });
  }
  return {
    rows: [...rows.values()].toSorted((a, b) => b.dollars - a.dollars || b.hours - a.hours),
    missing,
  };
}

export interface Period {
  readonly days: number;
  /** Where the pods were read. */
  readonly source: string;
}

export function renderPodCosts(stack: string, { rows, missing }: PodCosts, { days, source }: Period): string {
  const title = `${stack}: pods of the last ${days === 1 ? "day" : `${days} days`}, by ${source}`;
  if (rows.length === 0) return `${title}: none\n`;
  const sum = (key: "pods" | "hours" | "dollars"): number => rows.reduce((total, row) => total + row[key], 0);
  const amount = (value: number): string => value.toFixed(2);
  return [
    `${title}\n`,
    markdownTable(
      ["job", "owner", "table", "pods", "pod hours", "USD", "hours of machines"],
      [
        ...rows.map(({ job, owner, table, pods, hours, dollars, machines }) => [
          ...[job, owner, table, String(pods), amount(hours), amount(dollars)],
          [...machines].map(([machine, kept]) => `${amount(kept)} × ${machine}`).join("; "),
        ]),
        [
          ...[missing.size === 0 ? "sum" : "sum without what has no price", "", ""],
          ...[String(sum("pods")), amount(sum("hours")), amount(sum("dollars")), ""],
        ],
      ],
      ["left", "left", "left", "right", "right", "right", "left"],
    ),
    "",
    ...[...missing].map(([machine, hours]) =>
      machine === unknownMachine
        ? `no price: ${amount(hours)} pod hours on ${machine}: kube-state-metrics needs the node labels ${pricedNodeLabels.join(", ")}`
        : `no price: ${machine} (${amount(hours)} pod hours); add a row by --prices <file>`,
    ),
    "A pod costs the greatest of its shares of its node's CPUs, memory and GPUs. What no pod requested is in no row.",
    "",
  ].join("\n");
}
