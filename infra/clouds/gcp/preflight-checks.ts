/** What a Google Cloud project must have before the first `up`. Pure: the facts are the documented responses. */

import { type Line, type Outcome, ok, unknown, wrong } from "../../check-line.ts";
import type { ClusterModel } from "../../model/cluster.ts";
import type { ManagedZone } from "./exposure/managed-zone.ts";
import { acceleratorOf } from "./nodes/machines.ts";
import { requiredServices } from "./required-services.ts";
import type { GcpConfig } from "./schema.ts";

/** One permission of each role that the deployer needs (docs/deploy-gcp.md). */
export const requiredPermissions = [
  "compute.networks.create",
  "compute.firewalls.create",
  "container.clusters.create",
  "iam.serviceAccounts.actAs",
  "iam.serviceAccounts.create",
  "resourcemanager.projects.setIamPolicy",
  "serviceusage.services.enable",
  "storage.buckets.create",
] as const;

/** Response of cloudresourcemanager.projects.testIamPermissions. */
export interface TestedPermissions {
  readonly permissions?: readonly string[];
}

export function checkPermissions({ project }: GcpConfig, tested: Outcome<TestedPermissions>): Line {
  if ("failure" in tested)
    return unknown(
      `permissions on ${project}: not checked (${tested.failure})`,
      `gcloud projects get-iam-policy ${project}`,
    );
  const granted = new Set(tested.value.permissions);
  const missing = requiredPermissions.filter((permission) => !granted.has(permission));
  return missing.length === 0
    ? ok(`permissions on ${project}: one of each role of the deployer is granted`)
    : wrong(
        `permissions on ${project}: the caller lacks ${missing.join(", ")}`,
        "grant the roles of the deployer in docs/deploy-gcp.md, or use its credentials",
      );
}

/** Response of serviceusage.services.batchGet. */
export interface ServiceStates {
  readonly services?: readonly { readonly name?: string; readonly state?: string }[];
}

/** The stack enables its APIs itself, for which Resource Manager must be enabled, and the Service Usage API that is asked. */
export function checkServices({ project }: GcpConfig, states: Outcome<ServiceStates>): Line {
  const enable = (services: string) => `gcloud services enable ${services} --project ${project}`;
  if ("failure" in states) {
    const text = `APIs of ${project}: not checked (${states.failure})`;
    return /SERVICE_DISABLED/.test(states.failure)
      ? wrong(text, enable("serviceusage.googleapis.com"))
      : unknown(text, `gcloud services list --enabled --project ${project}`);
  }
  const enabled = new Set(
    states.value.services?.flatMap(({ name, state }) => (state === "ENABLED" ? [name?.split("/").at(-1)] : [])),
  );
  const missing = requiredServices.filter((service) => !enabled.has(service));
  if (missing.includes("cloudresourcemanager.googleapis.com"))
    return wrong(
      `APIs of ${project}: cloudresourcemanager.googleapis.com is disabled`,
      enable("cloudresourcemanager.googleapis.com"),
    );
  return ok(
    missing.length === 0
      ? `APIs of ${project}: all are enabled`
      : `APIs of ${project}: pulumi up enables ${missing.join(", ")}`,
  );
}

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

/** Every quota metric that a check can ask for, for the test against the API's own list. */
export const knownMetrics: readonly string[] = [
  "CPUS",
  "GPUS_ALL_REGIONS",
  ...Object.values(ownCpuMetrics),
  ...Object.values(gpuMetrics).flatMap((metric) => [metric, `PREEMPTIBLE_${metric}`]),
];

export interface QuotaDemand {
  readonly metric: string;
  readonly amount: number;
  /** Such as `cpu 4 × 16`. */
  readonly terms: readonly string[];
}

/**
 * What every pool at its maximum takes of each quota. CPUs of Spot VMs count against PREEMPTIBLE_CPUS only in projects that
 * were granted that quota, so that they are listed as unknown.
 */
export function quotaDemands(
  { nodes }: GcpConfig,
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
  for (const { key, machines, machineNames, max, spot } of pools) {
    const [name = ""] = machineNames;
    const [machine] = machines;
    const family = name.split("-")[0] ?? "";
    const metric = sharedCpuFamilies.includes(family) ? "CPUS" : ownCpuMetrics[family];
    const accelerator = key === "gpu" ? acceleratorOf(name, nodes.gpu.accelerator) : undefined;
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

export function checkQuota(
  { project, region }: GcpConfig,
  demand: QuotaDemand,
  quotas: Outcome<readonly Quota[]>,
): Line {
  const { metric, amount, terms } = demand;
  const need = `the pools' maximum is ${amount} (${terms.join(", ")})`;
  const isGlobal = metric === "GPUS_ALL_REGIONS";
  const byHand = isGlobal
    ? `gcloud compute project-info describe --project ${project}`
    : `gcloud compute regions describe ${region} --project ${project}`;
  if ("failure" in quotas) return unknown(`quota ${metric}: not checked (${quotas.failure}); ${need}`, byHand);
  const found = quotas.value.find((quota) => quota.metric === metric);
  if (found?.limit === undefined) return unknown(`quota ${metric}: the API does not list it; ${need}`, byHand);
  const text = `quota ${metric}${isGlobal ? "" : ` in ${region}`}: ${found.limit}, ${found.usage ?? 0} in use, ${need}`;
  return found.limit >= amount
    ? ok(text)
    : wrong(text, `lower nodes.*.max, or request an increase of ${metric} at IAM & Admin > Quotas`);
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

/** The service accounts of `client.members`. */
export const memberAccounts = ({ client }: GcpConfig): string[] =>
  client.members.flatMap((member) => /^serviceAccount:(\S+@\S+)$/.exec(member)?.[1] ?? []);

/** Google refuses a grant to a service account that does not exist. */
export function checkMember(email: string, found: Outcome<unknown>): Line {
  const byHand = `gcloud iam service-accounts describe ${email}`;
  if ("value" in found) return ok(`client.members: the service account ${email} exists`);
  return /^status 404/.test(found.failure)
    ? wrong(
        `client.members: the service account ${email} does not exist`,
        "create it, or remove it from lakehead:client.members",
      )
    : unknown(`client.members: the service account ${email} is not checked (${found.failure})`, byHand);
}

/** Response of dns.managedZones.get. */
export interface FoundZone {
  /** With a dot at its end. */
  readonly dnsName?: string;
  readonly visibility?: string;
}

/** The zone of the host's record, which `pulumi up` makes. */
export function checkZone(host: string, { project, name }: ManagedZone, found: Outcome<FoundZone>): Line {
  const text = `zone ${name} of ${project}`;
  const byHand = `gcloud dns managed-zones describe ${name} --project ${project}`;
  if ("failure" in found)
    return /^status 404/.test(found.failure)
      ? wrong(`${text}: it does not exist`, "correct lakehead:tableService.exposure.zone, or create the zone")
      : unknown(`${text}: not checked (${found.failure})`, byHand);
  const { dnsName = "", visibility } = found.value;
  if (visibility === "private")
    return wrong(
      `${text}: it is private, and Google validates the certificate from the internet`,
      "name a public zone",
    );
  return `.${host}.`.endsWith(`.${dnsName}`)
    ? ok(`${text}: pulumi up points ${host} at the load balancer`)
    : wrong(`${text}: it is for ${dnsName}, not for ${host}`, "name the zone of the host");
}

/** `zones` of compute.regions.get: URLs of the region's zones. */
export function checkZones({ region }: GcpConfig, { pools }: ClusterModel, zones: Outcome<readonly string[]>): Line {
  if ("failure" in zones) return unknown(`zones: not checked (${zones.failure})`, "gcloud compute zones list");
  const names = zones.value.map((url) => url.split("/").at(-1) ?? "");
  const missing = [...new Set(pools.flatMap((pool) => pool.zones ?? []))].filter((zone) => !names.includes(zone));
  return missing.length === 0
    ? ok(`zones: ${region} has ${names.join(", ")}`)
    : wrong(
        `zones: ${region} does not have ${missing.join(", ")}`,
        `write zones of ${names.join(", ")} in lakehead:nodes.*.zones`,
      );
}
