import { type ContainerSecurity, containerSecurity } from "./ray-security.ts";

/**
 * KubeRay's history server: in each Ray pod a collector writes Ray's events and logs to a bucket, and a server shows them like
 * Ray's dashboard when the RayCluster is gone. Source: docs.ray.io, "Ray History Server with KubeRay", of KubeRay 1.7.
 */
export interface HistorySettings {
  readonly enabled: boolean;
  readonly collectorImage: string;
}

/** Where a cloud keeps it: the variables by which both programs find their bucket. */
export type HistoryStore = Readonly<Record<string, string>>;

/** Name and account of the server. */
export const historyServer = "history-server";

/** Name of the bucket, from that of the tables' bucket. */
export const historyBucket = (tables: string): string => `${tables}-ray-history`;

const eventsPort = 8084;
const folder = "/tmp/ray";

/** Variables of Ray's containers: their events go to the collector in their pod. */
export const historyEnvironment = {
  RAY_enable_ray_event: "true",
  RAY_enable_core_worker_ray_event_to_aggregator: "true",
  RAY_DASHBOARD_AGGREGATOR_AGENT_EVENTS_EXPORT_ADDR: `http://localhost:${eventsPort}/v1/events`,
  RAY_DASHBOARD_AGGREGATOR_AGENT_EXPOSABLE_EVENT_TYPES: "ALL",
} as const;

/** The folder of Ray's logs, which both containers see, under the name that KubeRay gives it for its autoscaler. */
export const historyVolume = { name: "ray-logs", mountPath: folder } as const;

/** What the scheduler counts for a collector. */
export const collectorAmount = { cpus: 0.05, memoryBytes: 64 * 2 ** 20, diskBytes: 64 * 2 ** 20 } as const;

type Amounts = Readonly<Record<string, string>>;

export interface Collector {
  readonly name: string;
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly resources: { readonly requests: Amounts; readonly limits: Amounts };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: ContainerSecurity;
}

const ofPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

/**
 * The container of a collector.
 * @param tokenSecret of a RayCluster whose dashboard requires a token
 */
export function collector(
  { collectorImage }: HistorySettings,
  store: HistoryStore,
  { isHead, tokenSecret }: { readonly isHead: boolean; readonly tokenSecret?: string | undefined },
): Collector {
  const variables = { RAY_ROLE: isHead ? "Head" : "Worker", RAY_TMP_ROOT: folder, EVENTS_PORT: String(eventsPort) };
  return {
    name: "collector",
    image: collectorImage,
    env: [
      ofPod("RAY_CLUSTER_NAME", "metadata.labels['ray.io/cluster']"),
      ofPod("RAY_CLUSTER_NAMESPACE", "metadata.namespace"),
      ofPod("POD_IP", "status.podIP"),
      { name: "FQ_RAY_IP", value: "$(RAY_CLUSTER_NAME)-head-svc.$(RAY_CLUSTER_NAMESPACE).svc.cluster.local" },
      ...Object.entries({ ...variables, RAY_COLLECTOR_EVENT_COMPRESSION_ENABLED: "true", ...store }).map(
        ([name, value]) => ({ name, value }),
      ),
      ...(tokenSecret === undefined
        ? []
        : [
            { name: "RAY_AUTH_MODE", value: "token" },
            { name: "RAY_AUTH_TOKEN", valueFrom: { secretKeyRef: { name: tokenSecret, key: "auth_token" } } },
          ]),
    ],
    resources: {
      requests: { cpu: "50m", memory: "64Mi", "ephemeral-storage": "64Mi" },
      limits: { memory: "256Mi" },
    },
    volumeMounts: [historyVolume],
    // As Ray, whose files it reads.
    securityContext: containerSecurity,
  };
}
