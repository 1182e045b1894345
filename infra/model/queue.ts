import { gpuResource } from "./roles.ts";

/**
 * Workers that wait in a queue of Kueue where the namespace's quota would refuse them. Each worker pod is a workload of its
 * own, and heads are in no queue: Kueue suspends a RayCluster as a whole, its head included (kueue#7569), and takes one with
 * an autoscaler only with an annotation that the runtime's client cannot set.
 */
export interface QueueSettings {
  readonly quota: {
    readonly enabled: boolean;
    readonly cpus: number;
    readonly memory: string;
    readonly gpus: number;
    readonly queue: { readonly mode: "none" | "existing" | "install" };
  };
}

/** Kueue gives a queue named `default` every job of its namespace, and RayClusters are jobs. */
export const localQueueName = "lakehead";
/** Ports of Kueue's pods that the API server calls: its webhooks, and the API of what waits. */
export const kueuePorts = { webhook: 9443, visibility: 8082 } as const;
/** The label by which Kueue takes a pod into a queue of its namespace. */
export const queueLabel = "kueue.x-k8s.io/queue-name";

/** Name of the objects that belong to the whole cluster. */
export const clusterQueueName = (namespace: string): string => `lakehead-${namespace}`;

export const workersWait = ({ quota }: QueueSettings): boolean => quota.enabled && quota.queue.mode !== "none";

export const installsKueue = (config: QueueSettings): boolean =>
  workersWait(config) && config.quota.queue.mode === "install";

/** Labels of every worker pod. */
export const queueLabels = (config: QueueSettings): Record<string, string> =>
  workersWait(config) ? { [queueLabel]: localQueueName } : {};

export const inNamespace = (namespace: string) => ({ matchLabels: { "kubernetes.io/metadata.name": namespace } });

/** `spec` of a `kueue.x-k8s.io/v1beta2` ClusterQueue with one flavor of its own name. */
export function clusterQueueSpec(namespace: string, { quota }: QueueSettings) {
  const amounts = {
    cpu: String(quota.cpus),
    memory: quota.memory,
    [gpuResource]: String(quota.gpus),
    // Kueue never admits a pod that asks for what its queue does not name. The nodes bound the disk.
    "ephemeral-storage": "1Pi",
  };
  const resources = Object.entries(amounts).map(([name, nominalQuota]) => ({ name, nominalQuota }));
  return {
    namespaceSelector: inNamespace(namespace),
    resourceGroups: [
      { coveredResources: Object.keys(amounts), flavors: [{ name: clusterQueueName(namespace), resources }] },
    ],
  };
}

/**
 * `spec` of a ValidatingAdmissionPolicy: a RayCluster whose workers pass the queue by would have no bound. Only new ones, so
 * that those of before the queue can scale to their end.
 */
export function queuePolicySpec(namespace: string) {
  const ofQueue = `'${queueLabel}' in group.template.metadata.labels && group.template.metadata.labels['${queueLabel}'] == '${localQueueName}'`;
  return {
    failurePolicy: "Fail",
    matchConstraints: {
      namespaceSelector: inNamespace(namespace),
      resourceRules: [
        { apiGroups: ["ray.io"], apiVersions: ["*"], operations: ["CREATE"], resources: ["rayclusters"] },
      ],
    },
    validations: [
      {
        expression: `!has(object.spec.workerGroupSpecs) || object.spec.workerGroupSpecs.all(group, has(group.template.metadata) && has(group.template.metadata.labels) && ${ofQueue})`,
        message: `the pods of each worker group need the label ${queueLabel}: ${localQueueName}, as the stack's output clientParameters has it: workers wait in that queue for their share of quota`,
      },
    ],
  };
}
