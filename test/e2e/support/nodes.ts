import type { KubernetesObject } from "./api.ts";

export interface NodeSpec {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** What the node has for pods, such as `{ cpu: "7910m", memory: "29Gi", "nvidia.com/gpu": "1" }`; 58 pods if not said. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** A node that kwok plays: it takes pods, reports them ready, and runs nothing. */
export function nodeObject({ name, labels = {}, taints = [], allocatable }: NodeSpec): KubernetesObject {
  const size = { pods: "58", "ephemeral-storage": "100Gi", ...allocatable };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        type: "kwok",
        ...labels,
      },
    },
    spec: { taints },
    status: { capacity: size, allocatable: size, nodeInfo: { operatingSystem: "linux", architecture: "amd64" } },
  };
}
