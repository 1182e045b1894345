import { type Machine, machines } from "./machines.ts";
import { describeCpus, describeMemory, GiB, MiB } from "./quantity.ts";

/** What pods may ask for on one node, or what one pod asks for. */
export interface Amount {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
}

/**
 * CPUs that the kubelet keeps back: 6 % of the first, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest.
 * The same on EKS (github.com/awslabs/amazon-eks-ami, nodeadm) and GKE (docs, "node allocatable").
 */
function reservedCpus(cpus: number): number {
  return tiered(cpus, [
    [1, 0.06],
    [1, 0.01],
    [2, 0.005],
    [Number.POSITIVE_INFINITY, 0.0025],
  ]);
}

/** Sums a share of each slice of an amount. */
function tiered(amount: number, slices: readonly (readonly [number, number])[]): number {
  let rest = amount;
  let sum = 0;
  for (const [width, share] of slices) {
    const slice = Math.min(rest, width);
    sum += slice * share;
    rest -= slice;
  }
  return sum;
}

/** What the system's own DaemonSets ask for on every node, rounded up from their manifests. */
const daemonSets = {
  // aws-node 50m, kube-proxy 100m, ebs-csi-node 30m and 120Mi, the device plugin.
  aws: { cpus: 0.25, memoryBytes: 256 * MiB },
  // anetd, gke-metadata-server, fluentbit, gke-metrics-agent, pdcsi-node, the Prometheus collector.
  gcp: { cpus: 0.45, memoryBytes: 700 * MiB },
} as const;

const evictionThreshold = 100 * MiB;

/**
 * What is left for pods on a node. EKS reserves 255 MiB and 11 MiB for each of 110 pods (250 from 30 CPUs on, as
 * with prefix delegation), and of a virtual machine's memory 7.5 % never reaches Linux (Karpenter's default for
 * VM_MEMORY_OVERHEAD_PERCENT). GKE reserves by slices of the machine's memory.
 */
export function allocatable(cloud: "aws" | "gcp", machine: Machine): Amount {
  const own = daemonSets[cloud];
  const memoryBytes =
    cloud === "aws"
      ? machine.memoryBytes * 0.925 - (255 + 11 * (machine.cpus < 30 ? 110 : 250)) * MiB
      : machine.memoryBytes -
        tiered(machine.memoryBytes, [
          [4 * GiB, 0.25],
          [4 * GiB, 0.2],
          [8 * GiB, 0.1],
          [112 * GiB, 0.06],
          [Number.POSITIVE_INFINITY, 0.02],
        ]);
  return {
    cpus: machine.cpus - reservedCpus(machine.cpus) - own.cpus,
    memoryBytes: memoryBytes - evictionThreshold - own.memoryBytes,
    gpus: machine.gpus,
  };
}

/** How many pods of that size fit an empty node. */
export function podsPerNode(pod: Amount, node: Amount): number {
  const ratios = (["cpus", "memoryBytes", "gpus"] as const)
    .filter((key) => pod[key] > 0)
    .map((key) => Math.floor(node[key] / pod[key] + 1e-9));
  return ratios.length === 0 ? 0 : Math.max(0, Math.min(...ratios));
}

/** The machines that a suggestion may name: current ones that every larger region has. */
const suggested: Readonly<Record<"aws" | "gcp", RegExp>> = {
  aws: /^(c7i|m7i|r7i|c7g|m7g|r7g|g5|g6|g6e|p5)\./,
  gcp: /^(n2-standard|n2-highmem|g2-standard|a2-highgpu|a3-highgpu)-/,
};

/** The smallest machine of that architecture on which the pod fits, by GPUs, then CPUs, then memory. */
export function smallestMachine(
  cloud: "aws" | "gcp",
  pod: Amount,
  architecture: Machine["architecture"] = "x86_64",
): Machine | undefined {
  return [...machines[cloud].values()]
    .filter((machine) => suggested[cloud].test(machine.name) && machine.architecture === architecture)
    .filter((machine) => machine.gpus > 0 === pod.gpus > 0 && podsPerNode(pod, allocatable(cloud, machine)) > 0)
    .sort((a, b) => a.gpus - b.gpus || a.cpus - b.cpus || a.memoryBytes - b.memoryBytes)[0];
}

/** `5 CPUs, 9Gi` and GPUs if any. */
export function describeAmount({ cpus, memoryBytes, gpus }: Amount): string {
  const parts = [`${describeCpus(cpus)} CPUs`, describeMemory(memoryBytes)];
  return [...parts, ...(gpus > 0 ? [`${gpus} GPU${gpus === 1 ? "" : "s"}`] : [])].join(", ");
}
