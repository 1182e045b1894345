import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Config } from "../clouds/schema.ts";
import { chartInputs } from "../kubernetes/chart.ts";
import { managedBy } from "../kubernetes/labels.ts";
import {
  clusterQueueName,
  clusterQueueSpec,
  inNamespace,
  kueuePorts,
  localQueueName,
  type QueueSettings,
  queuePolicySpec,
} from "../model/queue.ts";
import { kueue } from "../versions.ts";
import { Namespace } from "./namespace.ts";

const apiVersion = "kueue.x-k8s.io/v1beta2";

export interface KueueArgs {
  readonly settings: Config["quota"]["queue"];
  /** The only namespace whose pods it sees, so that no other depends on its webhooks. */
  readonly watched: string;
  /** Version of the Pod Security Standards for its namespace. */
  readonly policyVersion: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** Kueue from its Helm chart, with the chart's definitions. */
export class Kueue extends pulumi.ComponentResource {
  constructor(name: string, args: KueueArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Kueue", name, {}, opts);
    const { settings, policyVersion } = args;
    const home = new Namespace(
      `${name}-namespace`,
      { name: settings.namespace, enforce: "restricted", policyVersion },
      { parent: this },
    );
    new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(settings.chart, kueue.version),
        name: "kueue",
        namespace: home.namespaceName,
        atomic: true,
        timeout: 600,
        values: kueueValues(args),
      },
      { parent: this },
    );
  }
}

/** The chart's values. */
export function kueueValues({
  settings,
  watched,
  nodeSelector,
}: Pick<KueueArgs, "watched" | "nodeSelector"> & { readonly settings: Pick<KueueArgs["settings"], "image"> }) {
  return {
    controllerManager: {
      // No pod of the namespace starts without an answer of its webhooks.
      replicas: 2,
      manager: {
        image: { repository: settings.image, tag: `v${kueue.version}`, pullPolicy: "IfNotPresent" },
        resources: { requests: { cpu: "100m", memory: "512Mi" }, limits: { cpu: "2", memory: "512Mi" } },
      },
      nodeSelector: { ...nodeSelector },
      podDisruptionBudget: { enabled: true },
    },
    managerConfig: {
      controllerManagerConfigYaml: JSON.stringify({
        apiVersion: "config.kueue.x-k8s.io/v1beta2",
        kind: "Configuration",
        health: { healthProbeBindAddress: ":8081" },
        metrics: { bindAddress: ":8443" },
        webhook: { port: kueuePorts.webhook },
        leaderElection: { leaderElect: true, resourceName: "c1f6bfd2.kueue.x-k8s.io" },
        // Without RayClusters, which it would suspend with their heads.
        integrations: { frameworks: ["pod"] },
        managedJobsNamespaceSelector: inNamespace(watched),
      }),
    },
  };
}

export interface ClusterQueueArgs {
  /** The namespace whose pods it admits. */
  readonly namespace: string;
  readonly config: QueueSettings;
}

/** The amounts that the workers of one namespace share. Kueue deletes it once no pod holds a part of them. */
export class ClusterQueue extends pulumi.ComponentResource {
  constructor(name: string, { namespace, config }: ClusterQueueArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:ClusterQueue", name, {}, opts);
    const metadata = { name: clusterQueueName(namespace), labels: managedBy };
    // Of any node: the pods' own selectors choose theirs.
    const flavor = new kubernetes.apiextensions.CustomResource(
      `${name}-flavor`,
      { apiVersion, kind: "ResourceFlavor", metadata, spec: {} },
      { parent: this },
    );
    new kubernetes.apiextensions.CustomResource(
      name,
      {
        apiVersion,
        kind: "ClusterQueue",
        metadata: { ...metadata, annotations: { "pulumi.com/waitFor": "condition=Active" } },
        spec: clusterQueueSpec(namespace, config),
      },
      { parent: this, dependsOn: [flavor] },
    );
  }
}

export interface WorkerQueueArgs {
  readonly namespace: pulumi.Input<string>;
  readonly namespaceName: string;
}

/** The queue of the namespace's workers, and the rule that no RayCluster passes it by. */
export class WorkerQueue extends pulumi.ComponentResource {
  constructor(name: string, { namespace, namespaceName }: WorkerQueueArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:WorkerQueue", name, {}, opts);
    const clusterQueue = clusterQueueName(namespaceName);
    new kubernetes.apiextensions.CustomResource(
      name,
      {
        apiVersion,
        kind: "LocalQueue",
        metadata: { name: localQueueName, namespace, labels: managedBy },
        spec: { clusterQueue },
      },
      { parent: this },
    );
    const policy = new kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy(
      `${name}-policy`,
      { metadata: { name: clusterQueue, labels: managedBy }, spec: queuePolicySpec(namespaceName) },
      { parent: this },
    );
    new kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
      `${name}-policy-binding`,
      {
        metadata: { name: clusterQueue, labels: managedBy },
        spec: { policyName: policy.metadata.name, validationActions: ["Deny"] },
      },
      { parent: this },
    );
  }
}
