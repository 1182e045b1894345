/** The resources of a stack's state as tasks with typical durations. Pure. */

import type { Task } from "./critical-path.ts";
import { durationOf } from "./durations.ts";

/** A resource as `pulumi stack export` writes it. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly custom: boolean;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly parent?: string;
  readonly provider?: string;
  readonly dependencies?: readonly string[];
  readonly propertyDependencies?: Readonly<Record<string, readonly string[] | null>>;
  readonly retainOnDelete?: boolean;
}

/** A resource waits for its dependencies, its parent and its provider. */
export function waitsFor({ parent, provider, dependencies, propertyDependencies }: StateResource): string[] {
  return [
    ...new Set([
      ...(dependencies ?? []),
      ...Object.values(propertyDependencies ?? {}).flatMap((urns) => urns ?? []),
      ...(parent === undefined ? [] : [parent]),
      // <urn>::<id>; a URN has four parts.
      ...(provider === undefined || provider === "" ? [] : [provider.split("::").slice(0, 4).join("::")]),
    ]),
  ];
}

export function tasksOf(resources: readonly StateResource[], operation: "create" | "delete"): Task[] {
  return resources.map((resource) => {
    const { urn, type, custom, inputs, retainOnDelete } = resource;
    const idle = !custom || type.startsWith("pulumi:") || (operation === "delete" && retainOnDelete === true);
    return { urn, after: waitsFor(resource), minutes: idle ? 0 : durationOf(type, inputs ?? {})[operation] };
  });
}

interface Link {
  readonly what: string;
  readonly type: string;
  readonly addonName?: string;
}

/** What no order of creation can avoid: each of these needs the one before it. */
const chains: Readonly<Record<"aws" | "gcp", readonly Link[]>> = {
  aws: [
    { what: "network", type: "aws:ec2/vpc:Vpc" },
    { what: "subnet", type: "aws:ec2/subnet:Subnet" },
    { what: "cluster", type: "aws:eks/cluster:Cluster" },
    { what: "CNI", type: "aws:eks/addon:Addon", addonName: "vpc-cni" },
    { what: "node group", type: "aws:eks/nodeGroup:NodeGroup" },
    { what: "EBS driver", type: "aws:eks/addon:Addon", addonName: "aws-ebs-csi-driver" },
    { what: "KubeRay", type: "kubernetes:helm.sh/v3:Release" },
    { what: "RayCluster", type: "kubernetes:ray.io/v1:RayCluster" },
  ],
  gcp: [
    { what: "APIs", type: "gcp:projects/service:Service" },
    { what: "network", type: "gcp:compute/network:Network" },
    { what: "subnetwork", type: "gcp:compute/subnetwork:Subnetwork" },
    { what: "cluster", type: "gcp:container/cluster:Cluster" },
    { what: "node pool", type: "gcp:container/nodePool:NodePool" },
    { what: "KubeRay", type: "kubernetes:helm.sh/v3:Release" },
    { what: "RayCluster", type: "kubernetes:ray.io/v1:RayCluster" },
  ],
};

/** The longest unavoidable chain, with its minutes. Removal needs the same order backwards. */
export function unavoidable(cloud: "aws" | "gcp", operation: "create" | "delete"): { minutes: number; text: string } {
  const links = chains[cloud]
    // An add-on goes with the cluster that it is on, and an unused driver delays nothing.
    .filter(({ addonName }) => operation === "create" || addonName === undefined)
    .map(({ what, type, addonName }) => ({ what, minutes: durationOf(type, { addonName })[operation] }));
  if (operation === "delete") links.reverse();
  return {
    minutes: links.reduce((sum, { minutes }) => sum + minutes, 0),
    text: links.map(({ what, minutes }) => `${what} ${shortMinutes(minutes)}`).join(" → "),
  };
}

export const shortMinutes = (minutes: number): string => String(Math.round(minutes * 100) / 100);
