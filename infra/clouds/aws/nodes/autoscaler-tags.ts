import { gpuResource, type Taint } from "../../../model/roles.ts";

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
export function autoscalerTags(
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
