import type { ClusterModel, Pool } from "../../../model/cluster.ts";
import { gpuResource, nodeLabels, nodeTaints, type Taint } from "../../../model/roles.ts";

/** The decisions about the EKS managed node group of a pool. */
export interface NodeGroupSettings {
  readonly pool: Pool;
  /** The prefix of the group's name. */
  readonly name: string;
  readonly amiType:
    | "AL2023_x86_64_STANDARD"
    | "AL2023_ARM_64_STANDARD"
    | "AL2023_x86_64_NVIDIA"
    | "AL2023_ARM_64_NVIDIA";
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
      pool,
      name: groupName(pool),
      amiType: `AL2023_${arm ? "ARM_64" : "x86_64"}_${gpus > 0 ? "NVIDIA" : "STANDARD"}`,
      labels,
      taints,
      autoscalerTags: autoscalerTags(clusterName, { labels, taints, gpus, diskGiB: pool.diskGiB }),
    };
  });
}

const template = "k8s.io/cluster-autoscaler/node-template";

/** The key of the tag for one label of a group's nodes. AWS accepts 128 characters. */
export function autoscalerLabelTag(label: string): string {
  return `${template}/label/${label}`;
}

/**
 * The tags by which the cluster autoscaler finds a group and knows its nodes while the group is empty. EKS does not copy
 * a node group's own tags to its autoscaling group.
 * Source: github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws/README.md
 */
function autoscalerTags(
  cluster: string,
  node: {
    readonly labels: Readonly<Record<string, string>>;
    readonly taints: readonly Taint[];
    readonly gpus: number;
    readonly diskGiB: number;
  },
): Record<string, string> {
  const pairs = (entries: readonly (readonly [string, string])[]) => Object.fromEntries(entries);
  return {
    "k8s.io/cluster-autoscaler/enabled": "true",
    [`k8s.io/cluster-autoscaler/${cluster}`]: "owned",
    ...pairs(Object.entries(node.labels).map(([key, value]) => [autoscalerLabelTag(key), value])),
    ...pairs(node.taints.map(({ key, value, effect }) => [`${template}/taint/${key}`, `${value}:${effect}`])),
    ...(node.gpus > 0 ? { [`${template}/resources/${gpuResource}`]: String(node.gpus) } : {}),
    [`${template}/resources/ephemeral-storage`]: `${node.diskGiB}Gi`,
  };
}
