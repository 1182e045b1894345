import type { ClusterModel, Pool } from "../../../model/cluster.ts";
import { nodeLabels, nodeTaints, type PoolRole, type Taint } from "../../../model/roles.ts";
import { autoscalerTags } from "./autoscaler-tags.ts";

/** The decisions about one EKS managed node group. */
export interface NodeGroupSettings {
  readonly role: PoolRole;
  /** The prefix of the group's name. */
  readonly name: string;
  readonly amiType:
    | "AL2023_x86_64_STANDARD"
    | "AL2023_ARM_64_STANDARD"
    | "AL2023_x86_64_NVIDIA"
    | "AL2023_ARM_64_NVIDIA";
  readonly capacityType: "ON_DEMAND" | "SPOT";
  readonly instanceTypes: readonly string[];
  readonly min: number;
  readonly max: number;
  readonly diskGiB: number;
  readonly zones: readonly string[] | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Tags of the group's autoscaling group. */
  readonly autoscalerTags: Readonly<Record<string, string>>;
}

/** No prefix of a group's name is that of another, for the autoscaler's priorities. */
const groupName = ({ role, rank }: Pool): string => (rank === 0 ? role : `fallback-${rank}-${role}`);

/**
 * The order in which the cluster autoscaler tries groups, by patterns of the names that EKS gives their autoscaling groups;
 * undefined where no pool has a fallback.
 * Source: github.com/kubernetes/autoscaler, cluster-autoscaler/expander/priority/readme.md
 */
export function groupPriorities({ pools }: ClusterModel): Readonly<Record<string, readonly string[]>> | undefined {
  const first = 100;
  const ranks = Map.groupBy(pools, ({ rank }) => rank);
  return ranks.size === 1
    ? undefined
    : Object.fromEntries(
        [...ranks].map(([rank, group]) => [String(first - rank), group.map((pool) => `^eks-${groupName(pool)}-`)]),
      );
}

/** With it the cluster autoscaler waits for the GPUs of a new node instead of adding another one (autoscaler#1949). */
const acceleratorLabel = "k8s.amazonaws.com/accelerator";

export function nodeGroups(clusterName: string, { pools, roles }: ClusterModel): NodeGroupSettings[] {
  return pools.map((pool) => {
    const machine = pool.machines[0];
    const gpus = machine?.gpus ?? 0;
    const arm = machine?.architecture === "arm64";
    const labels = {
      ...nodeLabels(pool.role, roles),
      ...(gpus > 0 ? { [acceleratorLabel]: (pool.machineNames[0] ?? "").split(".")[0] ?? "gpu" } : {}),
    };
    const taints = nodeTaints(pool.role, roles);
    return {
      role: pool.role,
      name: groupName(pool),
      amiType: `AL2023_${arm ? "ARM_64" : "x86_64"}_${gpus > 0 ? "NVIDIA" : "STANDARD"}`,
      capacityType: pool.spot ? "SPOT" : "ON_DEMAND",
      instanceTypes: pool.machineNames,
      min: pool.min,
      max: pool.max,
      diskGiB: pool.diskGiB,
      zones: pool.zones,
      labels,
      taints,
      autoscalerTags: autoscalerTags(clusterName, { labels, taints, gpus, diskGiB: pool.diskGiB }),
    };
  });
}
