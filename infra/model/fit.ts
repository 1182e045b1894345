import { describeCpus, describeMemory, MiB } from "./quantity.ts";

/** What pods can request on one node, or what one pod requests. */
export interface Amount {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  /** Local disk (`ephemeral-storage`); without it, it is not known how much there is or is used. */
  readonly diskBytes?: number;
}

/**
 * CPUs that the kubelet reserves: 6 % of the first, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest.
 * The same on EKS (github.com/awslabs/amazon-eks-ami, nodeadm) and GKE (docs, "node allocatable").
 */
export function reservedCpus(cpus: number): number {
  return tiered(cpus, [
    [1, 0.06],
    [1, 0.01],
    [2, 0.005],
    [Number.POSITIVE_INFINITY, 0.0025],
  ]);
}

/** Sums a share of each slice of an amount. */
export function tiered(amount: number, slices: readonly (readonly [number, number])[]): number {
  let rest = amount;
  let sum = 0;
  for (const [width, share] of slices) {
    const slice = Math.min(rest, width);
    sum += slice * share;
    rest -= slice;
  }
  return sum;
}

/**
 * What the runtime's client requests from the workers for the function of a column without `num_cpus` and `memory`, and for
 * a whole job of one such function: beside it the tracker (0.1 CPUs, 128 MiB) and a writer (0.1 CPUs, 1 GiB). The driver runs
 * on the head. By geneva 0.17.0; `npm run test:geneva` compares with its own calculation.
 */
export const defaultFunction: Amount = { cpus: 1, memoryBytes: 4096 * MiB, gpus: 0 };
export const defaultJob: Amount = { cpus: 1.2, memoryBytes: (4096 + 1024 + 128) * MiB, gpus: 0 };

/**
 * The table service's files under /tmp, and its local disk in total: these files and the container's log. Writes put the
 * bodies that arrive there, 1 GiB by the service's default, and what the engine sorts while it builds an index.
 */
export const tableServiceDisk = (writes: boolean) =>
  writes ? ({ temporary: "6Gi", total: "7Gi" } as const) : ({ temporary: "1Gi", total: "2Gi" } as const);

/** The same of the maintenance, whose engine sorts there what it builds an index of. */
export const maintenanceDisk = { temporary: "6Gi", total: "7Gi" } as const;

/** What the runner of Functions installs at its start, and its local disk in total. */
export const functionsDisk = { temporary: "2Gi", total: "3Gi" } as const;

/** Memory below which the kubelet evicts pods. */
export const evictionThreshold = 100 * MiB;

/** How many pods of that size fit an empty node. */
export function podsPerNode(pod: Amount, node: Amount): number {
  const ratios = (["cpus", "memoryBytes", "gpus", "diskBytes"] as const).flatMap((key) => {
    const [needed = 0, has] = [pod[key], node[key]];
    return needed > 0 && has !== undefined ? [Math.floor(has / needed + 1e-9)] : [];
  });
  return ratios.length === 0 ? 0 : Math.max(0, Math.min(...ratios));
}

/** How many nodes of that size these pods need, each pod on the first node with room; undefined if one fits no empty node. */
export function nodesFor(pods: readonly Amount[], node: Amount): number | undefined {
  const left: Amount[] = [];
  for (const pod of pods) {
    const at = left.findIndex((room) => podsPerNode(pod, room) > 0);
    const room = at < 0 ? node : (left[at] ?? node);
    if (podsPerNode(pod, room) === 0) return undefined;
    left[at < 0 ? left.length : at] = {
      cpus: room.cpus - pod.cpus,
      memoryBytes: room.memoryBytes - pod.memoryBytes,
      gpus: room.gpus - pod.gpus,
      ...(room.diskBytes === undefined ? {} : { diskBytes: room.diskBytes - (pod.diskBytes ?? 0) }),
    };
  }
  return left.length;
}

/** `5 CPUs, 9Gi` and GPUs if any. */
export function describeAmount({ cpus, memoryBytes, gpus }: Amount): string {
  const parts = [`${describeCpus(cpus)} CPUs`, describeMemory(memoryBytes)];
  return [...parts, ...(gpus > 0 ? [`${gpus} GPU${gpus === 1 ? "" : "s"}`] : [])].join(", ");
}
