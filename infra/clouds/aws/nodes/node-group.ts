import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type NodeRole, systemRole, type TaintEffect } from "../../../model/roles.ts";
import type { ClusterNetwork } from "../network/network.ts";
import type { NodeGroupSettings } from "./node-group-settings.ts";

export interface NodeGroupArgs {
  readonly clusterName: pulumi.Input<string>;
  readonly cluster: string;
  readonly kubernetesVersion: string;
  readonly settings: NodeGroupSettings;
  readonly nodeRoleArn: pulumi.Input<string>;
  readonly release: "latest" | "pinned";
  /** Whether EKS replaces a node that stays unready. */
  readonly repair: boolean;
  readonly subnets: ClusterNetwork["privateSubnets"];
  readonly tags: Readonly<Record<string, string>>;
  /** What the nodes need before they join; the launch template does not depend on it. */
  readonly after: readonly pulumi.Resource[];
}

const taintEffects: Readonly<Record<TaintEffect, string>> = {
  NoSchedule: "NO_SCHEDULE",
  PreferNoSchedule: "PREFER_NO_SCHEDULE",
  NoExecute: "NO_EXECUTE",
};

/**
 * AWS's newest release of a machine image. Source: docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html. AL2023_ARM_64_NVIDIA
 * is arm64/nvidia there.
 */
function newestRelease(kubernetesVersion: string, amiType: string, opts: pulumi.InvokeOptions): pulumi.Output<string> {
  const [, architecture, variant] = /^AL2023_(x86_64|ARM_64)_(\w+)$/.exec(amiType) ?? [];
  const image = `${architecture === "ARM_64" ? "arm64" : "x86_64"}/${variant?.toLowerCase()}`;
  const name = `/aws/service/eks/optimized-ami/${kubernetesVersion}/amazon-linux-2023/${image}/recommended/release_version`;
  return aws.ssm.getParameterOutput({ name }, opts).apply(({ value }) => value);
}

/** Roles whose nodes are replaced one at a time; of workers, a third at a time. */
const oneByOne: ReadonlySet<NodeRole> = new Set([systemRole, "ray-head"]);

/** One managed node group with its launch template and the tags that let it grow from zero. */
export class NodeGroup extends pulumi.ComponentResource {
  constructor(name: string, args: NodeGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:NodeGroup", name, {}, opts);
    const { settings } = args;
    const { pool } = settings;
    const nodeTags = { ...args.tags, Name: `${args.cluster}-${settings.name}` };

    const template = new aws.ec2.LaunchTemplate(
      name,
      {
        namePrefix: `${args.cluster}-${settings.name}-`,
        updateDefaultVersion: true,
        // One hop: a pod outside the host network cannot use the node's role.
        metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
        blockDeviceMappings: [
          {
            deviceName: "/dev/xvda",
            ebs: { volumeType: "gp3", volumeSize: pool.diskGiB, encrypted: "true", deleteOnTermination: "true" },
          },
        ],
        tagSpecifications: ["instance", "volume", "network-interface"].map((resourceType) => ({
          resourceType,
          tags: nodeTags,
        })),
      },
      { parent: this },
    );
    const group = new aws.eks.NodeGroup(
      name,
      {
        clusterName: args.clusterName,
        nodeGroupNamePrefix: `${settings.name}-`,
        version: args.kubernetesVersion,
        ...(args.release === "latest"
          ? { releaseVersion: newestRelease(args.kubernetesVersion, settings.amiType, { parent: this }) }
          : {}),
        nodeRepairConfig: { enabled: args.repair },
        nodeRoleArn: args.nodeRoleArn,
        subnetIds: args.subnets
          .filter(({ zone }) => pool.zones === undefined || (zone !== undefined && pool.zones.includes(zone)))
          .map(({ id }) => id),
        amiType: settings.amiType,
        capacityType: pool.spot ? "SPOT" : "ON_DEMAND",
        instanceTypes: [...pool.machineNames],
        launchTemplate: { id: template.id, version: pulumi.interpolate`${template.latestVersion}` },
        labels: { ...settings.labels },
        taints: settings.taints.map(({ key, value, effect }) => ({ key, value, effect: taintEffects[effect] })),
        scalingConfig: { minSize: pool.min, maxSize: pool.max, desiredSize: pool.min },
        updateConfig: oneByOne.has(pool.role) ? { maxUnavailable: 1 } : { maxUnavailablePercentage: 33 },
      },
      {
        parent: this,
        dependsOn: [...args.after],
        // The autoscaler owns the size.
        ignoreChanges: ["scalingConfig.desiredSize"],
        // A node has fifteen minutes to drain, and a large group is replaced in several rounds.
        customTimeouts: { create: "45m", update: "120m", delete: "60m" },
      },
    );
    const autoscalingGroupName = group.resources.apply((resources) => resources[0]?.autoscalingGroups?.[0]?.name ?? "");
    for (const [key, value] of Object.entries(settings.autoscalerTags)) {
      new aws.autoscaling.Tag(
        `${name}-${key}`,
        { autoscalingGroupName, tag: { key, value, propagateAtLaunch: false } },
        { parent: this },
      );
    }
  }
}
