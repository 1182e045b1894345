import * as gcp from "@pulumi/gcp";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Pool } from "../../../model/cluster.ts";
import { type NodeRole, nodeLabels, nodeTaints, type RoleOptions, type TaintEffect } from "../../../model/roles.ts";
import type { GcpConfig } from "../schema.ts";
import { type Accelerator, acceleratorOf } from "./machines.ts";
import { type PoolSettings, settingsOf } from "./settings.ts";

/** Taint effects in GKE's API. */
export const gkeTaintEffects: Record<TaintEffect, string> = {
  NoSchedule: "NO_SCHEDULE",
  PreferNoSchedule: "PREFER_NO_SCHEDULE",
  NoExecute: "NO_EXECUTE",
};

/**
 * The GPUs of a GPU pool's nodes. GKE's API requires even built-in GPUs; otherwise it does not install their driver.
 * @throws RangeError when the GPU is unknown, which the configuration's checks refuse
 */
export function poolAccelerator(
  { machineType, accelerator }: Pick<PoolSettings, "machineType" | "accelerator">,
  path = "nodes.gpu",
): Accelerator {
  const found = acceleratorOf(machineType, accelerator);
  if (found === undefined)
    throw new RangeError(`${path}.accelerator: the GPU of ${machineType} is unknown; write its type and count`);
  return found;
}

/** Most regions have three zones; a few have four. */
const usualZones = 3;

/** Initial nodes of a pool in each zone. Afterwards the autoscaler keeps their number within the pool's bounds. */
export function initialNodesPerZone({ min, zones }: Pool): number {
  return Math.ceil(min / (zones?.length ?? usualZones));
}

export interface NodePoolArgs {
  readonly config: GcpConfig;
  readonly roles: RoleOptions;
  readonly pool: Pool;
  readonly clusterName: pulumi.Input<string>;
  readonly nodeEmail: pulumi.Input<string>;
  readonly labels: Readonly<Record<string, string>>;
}

/** The network tag of all nodes, for firewall rules. */
export function nodeTag(clusterName: string): string {
  return `${clusterName}-node`;
}

/** The nodes of one role. */
export class NodePool extends pulumi.ComponentResource {
  readonly resource: gcp.container.NodePool;
  readonly role: NodeRole;

  constructor(name: string, args: NodePoolArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:NodePool", name, {}, opts);
    this.role = args.pool.role;
    this.resource = new gcp.container.NodePool(name, nodePoolInputs(args), {
      parent: this,
      ignoreChanges: ["initialNodeCount"],
      customTimeouts: { create: "45m", update: "60m", delete: "45m" },
    });
  }
}

/** A surge node needs more GPU quota than most projects have. */
const surge = (isGpu: boolean) => (isGpu ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge: 1, maxUnavailable: 0 });

function nodePoolInputs({
  config,
  roles,
  pool,
  clusterName,
  nodeEmail,
  labels,
}: NodePoolArgs): gcp.container.NodePoolArgs {
  const isGpu = pool.key === "gpu";
  const settings = settingsOf(config, pool);
  const { flexStart } = settings;
  return {
    project: config.project,
    location: config.region,
    cluster: clusterName,
    ...(pool.zones === undefined ? {} : { nodeLocations: [...pool.zones] }),
    initialNodeCount: initialNodesPerZone(pool),
    autoscaling: {
      totalMinNodeCount: pool.min,
      totalMaxNodeCount: pool.max,
      // Scarce capacity is used in any zone that has it.
      locationPolicy: pool.spot || isGpu ? "ANY" : "BALANCED",
    },
    // Nodes of flex-start are neither repaired nor replaced by another: GKE upgrades them by new ones in their place.
    management: { autoRepair: flexStart === undefined, autoUpgrade: true },
    ...(flexStart === undefined ? { upgradeSettings: surge(isGpu) } : {}),
    networkConfig: { enablePrivateNodes: true },
    nodeConfig: {
      machineType: settings.machineType,
      imageType: "COS_CONTAINERD",
      spot: pool.spot,
      // Source: cloud.google.com/kubernetes-engine/docs/concepts/dws
      ...(flexStart === undefined
        ? {}
        : {
            flexStart: true,
            maxRunDuration: `${flexStart.hours * 3600}s`,
            reservationAffinity: { consumeReservationType: "NO_RESERVATION" },
          }),
      diskSizeGb: pool.diskGiB,
      diskType: settings.diskType,
      serviceAccount: nodeEmail,
      oauthScopes: ["https://www.googleapis.com/auth/cloud-platform"],
      labels: nodeLabels(pool.role, roles),
      taints: nodeTaints(pool.role, roles).map(({ key, value, effect }) => ({
        key,
        value,
        effect: gkeTaintEffects[effect],
      })),
      ...(isGpu
        ? {
            guestAccelerators: [
              {
                ...poolAccelerator(settings, pool.path),
                gpuDriverInstallationConfig: { gpuDriverVersion: config.nodes.gpu.driver },
              },
            ],
          }
        : {}),
      // Pods get the identity of their own service account, not the node's.
      workloadMetadataConfig: { mode: "GKE_METADATA" },
      metadata: { "disable-legacy-endpoints": "true" },
      shieldedInstanceConfig: { enableSecureBoot: true, enableIntegrityMonitoring: true },
      kubeletConfig: { insecureKubeletReadonlyPortEnabled: "FALSE" },
      gvnic: { enabled: true },
      tags: [nodeTag(config.clusterName)],
      resourceLabels: { ...labels, role: pool.role },
    },
  };
}

/** The order in which GKE adds nodes to the pools of a role. */
export class ComputeClass extends pulumi.ComponentResource {
  constructor(
    name: string,
    { role, pools }: { readonly role: NodeRole; readonly pools: readonly NodePool[] },
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("lakehead:gcp:ComputeClass", name, {}, opts);
    new kubernetes.apiextensions.CustomResource(
      name,
      {
        apiVersion: "cloud.google.com/v1",
        kind: "ComputeClass",
        metadata: { name: role },
        spec: {
          priorities: pools.map(({ resource }) => ({ nodepools: [resource.name] })),
          whenUnsatisfiable: "DoNotScaleUp",
          nodePoolAutoCreation: { enabled: false },
        },
      },
      { parent: this },
    );
  }
}
