/** What a stack takes of the quotas of Compute Engine. Pure: the facts are the documented responses. */

import { type Line, type Outcome, ok, unknown, wrong } from "../../../check-line.ts";
import type { ClusterModel } from "../../../model/cluster.ts";
import { installsKueue } from "../../../model/queue.ts";
import { acceleratorOf } from "../nodes/machines.ts";
import { settingsOf } from "../nodes/settings.ts";
import type { GcpConfig } from "../schema.ts";

/** `quotas` of compute.regions.get and compute.projects.get. */
export interface Quota {
  readonly metric?: string;
  readonly limit?: number;
  readonly usage?: number;
}

/** Families whose CPUs have a quota of their own. Source: "CPU quota" of Compute Engine's documentation. */
const ownCpuMetrics: Readonly<Record<string, string>> = {
  n2: "N2_CPUS",
  n2d: "N2D_CPUS",
  c3: "C3_CPUS",
  a2: "A2_CPUS",
};

/** Families that the quota CPUS counts. */
const sharedCpuFamilies: readonly string[] = ["e2", "n1"];

const gpuMetrics: Readonly<Record<string, string>> = {
  "nvidia-l4": "NVIDIA_L4_GPUS",
  "nvidia-tesla-t4": "NVIDIA_T4_GPUS",
  "nvidia-tesla-p4": "NVIDIA_P4_GPUS",
  "nvidia-tesla-v100": "NVIDIA_V100_GPUS",
  "nvidia-tesla-p100": "NVIDIA_P100_GPUS",
  "nvidia-tesla-a100": "NVIDIA_A100_GPUS",
  "nvidia-a100-80gb": "NVIDIA_A100_80GB_GPUS",
};

const diskMetrics: Readonly<Record<string, string>> = {
  "pd-balanced": "SSD_TOTAL_GB",
  "pd-ssd": "SSD_TOTAL_GB",
  "pd-standard": "DISKS_TOTAL_GB",
  "hyperdisk-balanced": "HDB_TOTAL_GB",
};

/** Every quota metric that a check can ask for, for the test against the API's own list. */
export const knownMetrics: readonly string[] = [
  ...["CPUS", "INSTANCES", "IN_USE_ADDRESSES", "STATIC_ADDRESSES"],
  ...["NETWORKS", "SUBNETWORKS", "ROUTERS", "FIREWALLS", "FORWARDING_RULES", "SECURITY_POLICIES"],
  ...Object.values(diskMetrics),
  "GPUS_ALL_REGIONS",
  ...Object.values(ownCpuMetrics),
  ...Object.values(gpuMetrics).flatMap((metric) => [metric, `PREEMPTIBLE_${metric}`]),
];

export interface QuotaDemand {
  readonly metric: string;
  readonly amount: number;
  /** Such as `cpu 4 × 16`. */
  readonly terms: readonly string[];
  /** Whether the quota is the project's, and not the region's. */
  readonly global?: boolean;
  /** How the configuration takes less; default: smaller pools. */
  readonly less?: string;
}

/** What a stack makes once, whatever its pools: networks, addresses, a load balancer. */
export function countedDemands(config: GcpConfig, { pools }: ClusterModel): QuotaDemand[] {
  const { network, tableService, nodes } = config;
  const demand = (metric: string, amount: number, global: boolean, less: string): QuotaDemand => ({
    metric,
    amount,
    terms: [`the stack ${amount}`],
    global,
    less,
  });
  const adopt = "use a network that exists with lakehead:network.mode: adopt";
  const { enabled, exposure } = tableService;
  const expose = "write lakehead:tableService.exposure.mode: cluster";
  const disks = Map.groupBy(pools, ({ key }) => diskMetrics[nodes[key].diskType] ?? "");
  return [
    ...(network.mode === "create"
      ? [
          ...["NETWORKS", "SUBNETWORKS", "ROUTERS"].map((metric) => demand(metric, 1, true, adopt)),
          demand("IN_USE_ADDRESSES", 1, false, adopt),
        ]
      : []),
    ...(enabled && exposure.mode === "public"
      ? [
          demand("STATIC_ADDRESSES", 1, true, expose),
          demand("FORWARDING_RULES", 1, true, expose),
          demand("FIREWALLS", 1, true, expose),
          ...(exposure.allowedCidrs.includes("0.0.0.0/0") ? [] : [demand("SECURITY_POLICIES", 1, true, expose)]),
        ]
      : []),
    ...(installsKueue(config) ? [demand("FIREWALLS", 1, true, "write lakehead:quota.queue.mode: none")] : []),
    {
      metric: "INSTANCES",
      amount: pools.reduce((sum, { max }) => sum + max, 0),
      terms: pools.map(({ key, max }) => `${key} ${max}`),
    },
    ...[...disks].map(
      ([metric, own]): QuotaDemand => ({
        metric,
        amount: own.reduce((sum, { max, diskGiB }) => sum + max * diskGiB, 0),
        terms: own.map(({ key, max, diskGiB }) => `${key} ${max} × ${diskGiB}`),
        less: "lower lakehead:nodes.*.max or lakehead:nodes.*.diskGiB",
      }),
    ),
  ];
}

/**
 * What every pool at its maximum takes of each quota. CPUs of Spot VMs count against PREEMPTIBLE_CPUS only in projects that
 * were granted that quota, so that they are listed as unknown.
 */
export function quotaDemands(
  config: GcpConfig,
  { pools }: ClusterModel,
): { readonly demands: readonly QuotaDemand[]; readonly unknownPools: readonly string[] } {
  const demands = new Map<string, QuotaDemand>();
  const unknownPools: string[] = [];
  const add = (metric: string, pool: string, nodeCount: number, each: number) => {
    const before = demands.get(metric) ?? { metric, amount: 0, terms: [] };
    demands.set(metric, {
      metric,
      amount: before.amount + nodeCount * each,
      terms: [...before.terms, `${pool} ${nodeCount} × ${each}`],
    });
  };
  for (const pool of pools) {
    const { key, machines, machineNames, max, spot } = pool;
    const [name = ""] = machineNames;
    const [machine] = machines;
    const family = name.split("-")[0] ?? "";
    const metric = sharedCpuFamilies.includes(family) ? "CPUS" : ownCpuMetrics[family];
    const accelerator = key === "gpu" ? acceleratorOf(name, settingsOf(config, pool).accelerator) : undefined;
    const gpuMetric = gpuMetrics[accelerator?.type ?? ""];
    if (accelerator !== undefined && gpuMetric !== undefined) {
      add(`${spot ? "PREEMPTIBLE_" : ""}${gpuMetric}`, key, max, accelerator.count);
      add("GPUS_ALL_REGIONS", key, max, accelerator.count);
    }
    // G2 has no CPU quota in this API: its GPUs limit it.
    const gpuLimits = family === "g2" && gpuMetric !== undefined;
    if (metric !== undefined && machine !== undefined && !spot) add(metric, key, max, machine.cpus);
    else if (!gpuLimits) unknownPools.push(`${key} (${name}${spot ? ", Spot" : ""})`);
  }
  return { demands: [...demands.values()], unknownPools };
}

/** @param ran whether the stack has run, so that the use of the quota has its own in it */
export function checkQuota(
  { project, region }: GcpConfig,
  { metric, amount, terms, global = metric === "GPUS_ALL_REGIONS", less = "lower lakehead:nodes.*.max" }: QuotaDemand,
  quotas: Outcome<readonly Quota[]>,
  ran = false,
): Line {
  const need = `the stack's maximum is ${amount} (${terms.join(", ")})`;
  const byHand = global
    ? `gcloud compute project-info describe --project ${project}`
    : `gcloud compute regions describe ${region} --project ${project}`;
  if ("failure" in quotas) return unknown(`quota ${metric}: not checked (${quotas.failure}); ${need}`, byHand);
  const found = quotas.value.find((quota) => quota.metric === metric);
  if (found?.limit === undefined) return unknown(`quota ${metric}: the API does not list it; ${need}`, byHand);
  const { limit, usage = 0 } = found;
  const text = `quota ${metric}${global ? ` of ${project}` : ` in ${region}`}: ${limit}, ${usage} in use${ran ? ", by this stack too" : ""}; ${need}`;
  return limit >= amount + (ran ? 0 : usage)
    ? ok(text)
    : wrong(text, `${less}, or request an increase of ${metric} at IAM & Admin > Quotas`);
}

export const checkUnknownPools = ({ project, region }: GcpConfig, pools: readonly string[]): Line[] =>
  pools.length === 0
    ? []
    : [
        unknown(
          `quota of the CPUs of ${pools.join(", ")}: which quota counts depends on the project`,
          `gcloud compute regions describe ${region} --project ${project}`,
        ),
      ];
