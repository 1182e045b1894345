import * as pulumi from "@pulumi/pulumi";
import type { ClusterModel } from "../../../model/cluster.ts";
import type { NodeRole } from "../../../model/roles.ts";
import { eksAddons } from "../../../versions.ts";
import { Addon } from "../cluster/addon.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { dnsSuffixOf } from "../identity/arn.ts";
import { serviceTrust } from "../identity/policy.ts";
import { Role, trustServiceAccount } from "../identity/role.ts";
import type { ClusterNetwork } from "../network/network.ts";
import type { AwsConfig } from "../schema.ts";
import { NodeGroup } from "./node-group.ts";
import { nodeGroups } from "./node-group-settings.ts";

export interface NodesArgs {
  readonly config: AwsConfig;
  readonly model: ClusterModel;
  readonly partition: string;
  readonly cluster: Cluster;
  readonly network: ClusterNetwork;
  readonly tags: Readonly<Record<string, string>>;
}

/** The node groups, with the roles and add-ons that exist before the first node and until after the last. */
export class Nodes extends pulumi.ComponentResource {
  readonly #groups: readonly (readonly [role: NodeRole, group: NodeGroup])[];

  constructor(name: string, args: NodesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Nodes", name, {}, opts);
    const { config, partition, cluster, network } = args;
    const child = { parent: this };
    const pinned = eksAddons[config.kubernetesVersion];
    const managed = (policyName: string) => `arn:${partition}:iam::aws:policy/${policyName}`;

    const nodeRole = new Role(
      `${name}-role`,
      {
        description: `Nodes of ${config.clusterName}`,
        trust: serviceTrust(`ec2.${dnsSuffixOf(config.region)}`),
        managedPolicies: {
          worker: managed("AmazonEKSWorkerNodePolicy"),
          images: managed("AmazonEC2ContainerRegistryPullOnly"),
        },
      },
      child,
    );
    const cniRole = new Role(
      `${name}-cni-role`,
      {
        description: `VPC CNI of ${config.clusterName}`,
        trust: trustServiceAccount(cluster.oidcProviderArn, "kube-system", "aws-node"),
        managedPolicies: { cni: managed("AmazonEKS_CNI_Policy") },
      },
      child,
    );
    const cni = new Addon(
      `${name}-vpc-cni`,
      {
        clusterName: cluster.clusterName,
        addon: "vpc-cni",
        version: config.addons.vpcCni ?? pinned?.vpcCni ?? "",
        serviceAccountRoleArn: cniRole.arn,
        settings: {
          enableNetworkPolicy: config.networkPolicies ? "true" : "false",
          env: { ENABLE_PREFIX_DELEGATION: "true", WARM_PREFIX_TARGET: "1" },
        },
        // It releases the nodes' network interfaces until the last node is gone.
        preserve: true,
      },
      { ...child, dependsOn: [cniRole] },
    );
    const proxy = new Addon(
      `${name}-kube-proxy`,
      {
        clusterName: cluster.clusterName,
        addon: "kube-proxy",
        version: config.addons.kubeProxy ?? pinned?.kubeProxy ?? "",
      },
      child,
    );

    this.#groups = nodeGroups(config.clusterName, args.model).map((settings) => [
      settings.pool.role,
      new NodeGroup(
        `${name}-${settings.name}`,
        {
          clusterName: cluster.clusterName,
          cluster: config.clusterName,
          kubernetesVersion: config.kubernetesVersion,
          settings,
          release: config.nodeUpdates.release,
          repair: config.nodeUpdates.repair,
          nodeRoleArn: nodeRole.arn,
          subnets: network.privateSubnets,
          tags: args.tags,
          after: [nodeRole, cniRole, cni, proxy, ...network.egress],
        },
        child,
      ),
    ]);
  }

  /** The node groups of a role. */
  of(role: NodeRole): NodeGroup[] {
    return this.#groups.flatMap(([of, group]) => (of === role ? [group] : []));
  }
}
