import { checkProtection } from "../../config/checks/created-cluster.ts";
import { checkKubernetes } from "../../config/checks/versions.ts";
import type { CheckContext } from "../../config/parse.ts";
import { errorIf, type Finding } from "../../config/report.ts";
import { overlappingPairs, parseCidr } from "../../model/cidr.ts";
import { compareVersions } from "../../model/semver.ts";
import { gke, gkeRayAddon } from "../../versions.ts";
import { acceleratorOf, gcpMachines } from "./machines.ts";
import type { GcpConfig } from "./schema.ts";

/** What Google Cloud would refuse, some of it only after minutes. */
export function check(config: GcpConfig, { today }: CheckContext): Finding[] {
  const { kubernetesVersion, operator, tags, runtimeAccountId, tableServiceAccountId, client } = config;
  const paired = operator.mode === "addon" && kubernetesVersion in gkeRayAddon.pairings;
  return [
    ...checkKubernetes(kubernetesVersion, gke, today, paired),
    ...(operator.mode === "addon" ? checkAddon(config) : []),
    ...checkNetwork(config),
    ...checkProtection(config),
    ...checkMachines(config),
    ...Object.entries(tags).flatMap(([key, value]) =>
      errorIf(
        !/^[a-z0-9_-]*$/.test(value),
        `tags.${key}`,
        value,
        "Google Cloud does not accept this value in a label",
        "use lower-case letters, digits, - and _",
      ),
    ),
    ...errorIf(
      new Set([runtimeAccountId, tableServiceAccountId, client.accountId]).size < 3,
      "runtimeAccountId",
      runtimeAccountId,
      "the runtime, the table service and the client would share an identity",
      "write three different ids in runtimeAccountId, tableServiceAccountId and client.accountId",
    ),
  ];
}

function checkAddon({ kubernetesVersion, operator: { version } }: GcpConfig): Finding[] {
  const paired = gkeRayAddon.pairings[kubernetesVersion];
  const pairs = Object.entries(gkeRayAddon.pairings).map(([minor, operator]) => `${minor} with ${operator}`);
  const minor = version?.split(".").slice(0, 2).join(".");
  return [
    ...errorIf(
      paired === undefined && version === undefined,
      "operator.version",
      undefined,
      `the operator version of GKE ${kubernetesVersion}'s add-on is not published (only ${pairs.join(", ")})`,
      "write operator.mode: helm, or the version that the add-on of your clusters installs",
    ),
    ...errorIf(
      paired !== undefined && minor !== undefined && compareVersions(minor, paired) !== 0,
      "operator.version",
      version,
      `GKE ${kubernetesVersion}'s add-on installs ${paired}`,
      `leave it out, or write "${paired}"`,
    ),
  ];
}

function checkNetwork({ network }: GcpConfig): Finding[] {
  const { mode: _, ...ranges } = network;
  return [
    ...errorIf(
      parseCidr(network.controlPlaneCidr)?.length !== 28,
      "network.controlPlaneCidr",
      network.controlPlaneCidr,
      "GKE accepts only a /28",
      "write a /28",
    ),
    ...overlappingPairs(ranges).flatMap(([a, b]) =>
      errorIf(
        true,
        `network.${b}`,
        ranges[b as keyof typeof ranges],
        `it overlaps network.${a}`,
        "write networks that do not overlap",
      ),
    ),
  ];
}

function checkMachines({ nodes }: GcpConfig): Finding[] {
  const { enabled, machineType, size, accelerator } = nodes.gpu;
  const hasGpus = accelerator !== undefined || (gcpMachines.find(machineType) ?? size ?? { gpus: 0 }).gpus > 0;
  return [
    ...errorIf(
      enabled && hasGpus && acceleratorOf(machineType, accelerator) === undefined,
      "nodes.gpu.accelerator",
      undefined,
      `the GPU of ${machineType} is unknown, and GKE requires its name`,
      "write its type and count",
    ),
    // Google's newest families boot only from Hyperdisk. Source: cloud.google.com/compute/docs/machine-resource
    ...Object.entries(nodes).flatMap(([key, pool]) =>
      errorIf(
        (key !== "gpu" || enabled) && /^[cn]4-/.test(pool.machineType) && !pool.diskType.startsWith("hyperdisk-"),
        `nodes.${key}.diskType`,
        pool.diskType,
        `${pool.machineType} has no persistent disks`,
        'write "hyperdisk-balanced"',
      ),
    ),
  ];
}
