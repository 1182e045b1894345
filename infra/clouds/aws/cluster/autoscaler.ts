import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { chartInputs } from "../../../kubernetes/chart.ts";
import { clusterAutoscaler } from "../../../versions.ts";
import { autoscalerPolicy } from "../identity/cluster-policies.ts";
import type { Place } from "../identity/policy.ts";
import { Role, trustServiceAccount } from "../identity/role.ts";
import type { AwsConfig } from "../schema.ts";

export interface AutoscalerArgs {
  readonly place: Place;
  readonly config: AwsConfig["autoscaler"];
  readonly kubernetesVersion: string;
  readonly oidcProviderArn: pulumi.Output<string>;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** The order of the groups, by `groupPriorities`; undefined for the one that wastes least. */
  readonly priorities: Readonly<Record<string, readonly string[]>> | undefined;
}

const namespace = "kube-system";
const account = "cluster-autoscaler";

const read = ["get", "list", "watch"];

/**
 * The autoscaler lists these before it scales, and charts before 2026 do not grant them: dynamic resource allocation,
 * which is always enabled from 1.35, and volume attachments (kubernetes/autoscaler#9244, #8678).
 */
const additionalRules = [
  { apiGroups: ["resource.k8s.io"], resources: ["deviceclasses", "resourceclaims", "resourceslices"], verbs: read },
  { apiGroups: ["storage.k8s.io"], resources: ["volumeattachments"], verbs: read },
];

/** The cluster autoscaler. Its permissions cover only this cluster's groups. */
export class Autoscaler extends pulumi.ComponentResource {
  constructor(name: string, args: AutoscalerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Autoscaler", name, {}, opts);
    const { place, config } = args;
    const role = new Role(
      `${name}-role`,
      {
        description: `Cluster autoscaler of ${place.cluster}`,
        trust: trustServiceAccount(args.oidcProviderArn, namespace, account),
        policies: { scale: JSON.stringify(autoscalerPolicy(place)) },
      },
      { parent: this },
    );
    new kubernetes.helm.v3.Release(
      name,
      {
        name: account,
        namespace,
        ...chartInputs(config.chart, clusterAutoscaler.chartVersion),
        atomic: true,
        values: {
          fullnameOverride: account,
          cloudProvider: "aws",
          awsRegion: place.region,
          autoDiscovery: { clusterName: place.cluster },
          image: { repository: config.image, tag: clusterAutoscaler.tags[args.kubernetesVersion] ?? "" },
          rbac: {
            additionalRules,
            serviceAccount: { create: true, name: account, annotations: { "eks.amazonaws.com/role-arn": role.arn } },
          },
          extraArgs: {
            expander: args.priorities === undefined ? "least-waste" : "priority,least-waste",
            "skip-nodes-with-system-pods": false,
            "skip-nodes-with-local-storage": false,
          },
          ...(args.priorities === undefined ? {} : { expanderPriorities: args.priorities }),
          nodeSelector: args.nodeSelector,
          resources: { requests: { cpu: "100m", memory: "512Mi" }, limits: { memory: "512Mi" } },
          containerSecurityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      },
      { parent: this, dependsOn: [role] },
    );
  }
}
