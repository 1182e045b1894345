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

/** Memory of a collector, its limit and its garbage collector's. It reads one log file at a time, whole. */
const memory = { limit: "256Mi", collected: "200MiB" } as const;

/** Variables of Ray's containers: their events go to the collector in their pod. */
export const historyEnvironment = {
  RAY_enable_ray_event: "true",
  RAY_enable_core_worker_ray_event_to_aggregator: "true",
  RAY_DASHBOARD_AGGREGATOR_AGENT_EVENTS_EXPORT_ADDR: `http://localhost:${eventsPort}/v1/events`,
  RAY_DASHBOARD_AGGREGATOR_AGENT_EXPOSABLE_EVENT_TYPES: "ALL",
  // A file that the collector can hold, and that S3 takes in the five seconds of its client. Without it Ray's own are of 512 MiB, and the
  // output of its workers has no bound.
  RAY_ROTATION_MAX_BYTES: String(32 * 2 ** 20),
  RAY_ROTATION_BACKUP_COUNT: "5",
  // `ray stop` ends the control store before the head gets SIGTERM, and the head of Ray 2.60 would wait 30 seconds for its answer.
  RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S: "0",
} as const;

/** Seconds that Ray and then the collector, which uploads all log files at its end, have together. */
export const historyGraceSeconds = 60;

/** The folder of Ray's logs, which both containers see, under the name that KubeRay gives it for its autoscaler. */
export const historyVolume = { name: "ray-logs", mountPath: folder } as const;

/** What the scheduler counts for a collector. */
export const collectorAmount = { cpus: 0.05, memoryBytes: 64 * 2 ** 20, diskBytes: 64 * 2 ** 20 } as const;

type Amounts = Readonly<Record<string, string>>;

export interface Collector {
  readonly name: string;
  readonly restartPolicy: "Always";
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly resources: { readonly requests: Amounts; readonly limits: Amounts };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext: ContainerSecurity;
}

const ofPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

/**
 * The sidecar of a collector, an init container: it restarts where the pod's own containers must not, as KubeRay's autoscaler v2 asks, and
 * stops after Ray. It ends itself when Ray is not there after a minute. KubeRay gives each init container `FQ_RAY_IP`, the head's address.
 * @param tokenSecret of a RayCluster whose dashboard requires a token
 */
export function collector(
  { collectorImage }: HistorySettings,
  store: HistoryStore,
  { isHead, tokenSecret }: { readonly isHead: boolean; readonly tokenSecret?: string | undefined },
): Collector {
  const variables = {
    RAY_ROLE: isHead ? "Head" : "Worker",
    RAY_TMP_ROOT: folder,
    EVENTS_PORT: String(eventsPort),
    RAY_COLLECTOR_EVENT_COMPRESSION_ENABLED: "true",
    GOMEMLIMIT: memory.collected,
  };
  return {
    name: "collector",
    restartPolicy: "Always",
    image: collectorImage,
    env: [
      ofPod("RAY_CLUSTER_NAME", "metadata.labels['ray.io/cluster']"),
      ofPod("RAY_CLUSTER_NAMESPACE", "metadata.namespace"),
      ofPod("POD_IP", "status.podIP"),
      ...Object.entries({ ...variables, ...store }).map(([name, value]) => ({ name, value })),
      ...(tokenSecret === undefined
        ? []
        : [
            { name: "RAY_AUTH_MODE", value: "token" },
            { name: "RAY_AUTH_TOKEN", valueFrom: { secretKeyRef: { name: tokenSecret, key: "auth_token" } } },
          ]),
    ],
    resources: {
      requests: { cpu: "50m", memory: "64Mi", "ephemeral-storage": "64Mi" },
      limits: { memory: memory.limit },
    },
    volumeMounts: [historyVolume],
    // As Ray, whose files it reads.
    securityContext: containerSecurity,
  };
}
