import type { CatalogPod } from "./catalog.ts";
import type { ClusterModel } from "./cluster.ts";
import { type Collector, collector, type HistoryStore, historyGraceSeconds, historyVolume } from "./history.ts";
import { operatorFeatures } from "./operator.ts";
import { formatMemory } from "./quantity.ts";
import { type QueueSettings, queueLabels } from "./queue.ts";
import { autoscalerSidecar, type RayGroup, type RaySettings, rayEnvironment, rayGroups } from "./ray-groups.ts";
import { type ContainerSecurity, containerSecurity, type PodSecurity, podSecurity } from "./ray-security.ts";
import { gpuResource, nodeSelector, type RoleOptions, type Toleration, tolerations } from "./roles.ts";

/** The part of `ray.io/v1` RayCluster that this project writes. */
export interface RayClusterSpec {
  readonly rayVersion: string;
  readonly enableInTreeAutoscaling: true;
  readonly autoscalerOptions: {
    readonly version?: "v2";
    readonly upscalingMode: "Default";
    readonly idleTimeoutSeconds: number;
    readonly resources: Resources;
    readonly securityContext: ContainerSecurity;
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly: true }[];
  };
  readonly authOptions?: { readonly mode: "token" };
  readonly upgradeStrategy?: { readonly type: "Recreate" };
  readonly headGroupSpec: {
    readonly serviceType: "ClusterIP";
    readonly rayStartParams: Readonly<Record<string, string>>;
    readonly template: PodTemplate;
  };
  readonly workerGroupSpecs: readonly {
    readonly groupName: string;
    readonly minReplicas: number;
    readonly maxReplicas: number;
    readonly rayStartParams: Readonly<Record<string, string>>;
    readonly template: PodTemplate;
  }[];
}

type Amounts = Readonly<Record<string, string>>;
interface Resources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export interface PodTemplate {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly automountServiceAccountToken: false;
    readonly volumes?: readonly object[];
    readonly securityContext: PodSecurity;
    readonly nodeSelector: Readonly<Record<string, string>>;
    readonly tolerations: readonly Toleration[];
    readonly terminationGracePeriodSeconds: number;
    readonly initContainers?: readonly Collector[];
    readonly containers: readonly RayContainer[];
  };
}

interface RayContainer {
  readonly name: string;
  readonly image: string;
  readonly resources: Resources;
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: true }[];
  readonly securityContext: ContainerSecurity;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}

/** What Ray's pods have beside Ray. */
export interface PodExtras {
  /** Where the table service opens the tables. */
  readonly catalogPod?: CatalogPod | undefined;
  /** Where the history of RayClusters is kept. */
  readonly history?: HistoryStore | undefined;
}

/** The head's ports. None of them authenticates its callers unless `ray.auth` is `token`. */
export const rayPorts = { gcs: 6379, dashboard: 8265, client: 10001 } as const;

export interface RayClusterConfig extends QueueSettings {
  readonly serviceAccount: string;
  /** Of the head, where it is another than the workers'. */
  readonly headServiceAccount?: string;
  readonly ray: RaySettings & {
    readonly name: string;
    readonly idleTimeoutSeconds: number;
    readonly auth: "none" | "token";
  };
  /** Variables of the workers. */
  readonly workerEnvironment?: Readonly<Record<string, string>>;
  /** Files that workers have, of a Secret. */
  readonly workerFiles?: WorkerFiles | undefined;
}

interface WorkerFiles {
  readonly folder: string;
  readonly secretName: string;
  /** Names of the files by the Secret's keys. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The RayCluster of a configuration, from the same groups as the client's parameters. `replicas` is absent because the
 * autoscaler owns it (see `mergeWorkerGroups`), and `restartPolicy` because autoscaler v2 refuses one.
 */
export function rayClusterSpec(
  config: RayClusterConfig,
  cluster: ClusterModel,
  extras: PodExtras = {},
): RayClusterSpec {
  const { head, workers } = rayGroups(config, cluster);
  const features = operatorFeatures(cluster.operatorVersion);
  const template = (group: RayGroup) => podTemplate(config, group, cluster.roles, extras);
  const sidecar = {
    cpu: String(autoscalerSidecar.cpus),
    memory: formatMemory(autoscalerSidecar.memoryBytes),
    "ephemeral-storage": formatMemory(autoscalerSidecar.diskBytes),
  };
  return {
    rayVersion: config.ray.version,
    enableInTreeAutoscaling: true,
    autoscalerOptions: {
      ...(features.autoscalerVersion ? { version: "v2" as const } : {}),
      upscalingMode: "Default",
      idleTimeoutSeconds: config.ray.idleTimeoutSeconds,
      resources: { requests: sidecar, limits: sidecar },
      securityContext: containerSecurity,
      volumeMounts: [{ name: tokenVolume, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true }],
    },
    ...(config.ray.auth === "token" ? { authOptions: { mode: "token" as const } } : {}),
    ...(features.upgradeStrategy ? { upgradeStrategy: { type: "Recreate" as const } } : {}),
    headGroupSpec: {
      serviceType: "ClusterIP",
      // No CPUs, so that Ray schedules no work on the head.
      rayStartParams: { "num-cpus": "0", "dashboard-host": "0.0.0.0" },
      template: template(head),
    },
    workerGroupSpecs: workers.map((worker) => ({
      groupName: worker.name,
      minReplicas: worker.minReplicas,
      maxReplicas: worker.maxReplicas,
      rayStartParams: worker.gpus > 0 ? { "num-gpus": String(worker.gpus) } : {},
      template: template(worker),
    })),
  };
}

const tokenVolume = "autoscaler-token";

/** What the API server mounts by itself where a pod does not refuse: token, certificate and namespace. */
const apiToken = {
  name: tokenVolume,
  projected: {
    sources: [
      { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
    ],
  },
};

const filesVolume = "files";

const filesOf = ({ secretName, files }: WorkerFiles) => ({
  name: filesVolume,
  secret: {
    secretName,
    items: Object.entries(files).map(([key, path]) => ({ key, path })),
  },
});

function podTemplate(
  config: RayClusterConfig,
  group: RayGroup,
  roles: RoleOptions,
  { catalogPod, history }: PodExtras,
): PodTemplate {
  const isHead = group.role === "ray-head";
  const { serviceAccount, headServiceAccount = serviceAccount } = config;
  const { workerFiles, workerEnvironment = {} } = isHead ? {} : config;
  const volumes = [
    ...(isHead ? [apiToken] : []),
    ...(workerFiles === undefined ? [] : [filesOf(workerFiles)]),
    ...(catalogPod === undefined ? [] : [catalogPod.volume]),
    ...(history === undefined ? [] : [{ name: historyVolume.name, emptyDir: {} }]),
  ];
  const volumeMounts = [
    ...(workerFiles === undefined
      ? []
      : [{ name: filesVolume, mountPath: workerFiles.folder, readOnly: true as const }]),
    ...(catalogPod === undefined ? [] : [catalogPod.mount]),
    ...(history === undefined ? [] : [historyVolume]),
  ];
  const env = Object.entries({ ...rayEnvironment(config.ray), ...workerEnvironment, ...catalogPod?.env }).map(
    ([name, value]) => ({ name, value }),
  );
  const labels = isHead ? {} : queueLabels(config);
  const amounts: Amounts = {
    cpu: String(group.cpus),
    memory: formatMemory(group.memoryBytes),
    "ephemeral-storage": formatMemory(group.diskBytes),
    ...(group.gpus > 0 ? { [gpuResource]: String(group.gpus) } : {}),
  };
  return {
    // The loss of the head ends every job: there is no fault-tolerant control store.
    metadata: {
      ...(Object.keys(labels).length > 0 ? { labels } : {}),
      annotations: isHead ? { "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" } : {},
    },
    spec: {
      serviceAccountName: isHead ? headServiceAccount : serviceAccount,
      // Code of jobs runs in Ray's containers, and the account may patch and delete RayClusters: only the autoscaler, a
      // container of its own in the head's pod, gets a token.
      automountServiceAccountToken: false,
      ...(volumes.length > 0 ? { volumes } : {}),
      // Also of the containers that KubeRay or an admission controller adds.
      securityContext: podSecurity,
      nodeSelector: nodeSelector(group.role, roles),
      tolerations: tolerations(group.role, roles),
      terminationGracePeriodSeconds: history === undefined ? 30 : historyGraceSeconds,
      ...(history === undefined
        ? {}
        : {
            initContainers: [
              collector(config.ray.history, history, {
                isHead,
                // KubeRay makes the secret, under the name of the RayCluster.
                tokenSecret: config.ray.auth === "token" ? config.ray.name : undefined,
              }),
            ],
          }),
      containers: [
        {
          name: isHead ? "ray-head" : "ray-worker",
          image: group.image,
          resources: { requests: amounts, limits: amounts },
          ...(isHead
            ? { ports: Object.entries(rayPorts).map(([name, containerPort]) => ({ name, containerPort })) }
            : {}),
          ...(env.length > 0 ? { env } : {}),
          ...(volumeMounts.length > 0 ? { volumeMounts } : {}),
          securityContext: containerSecurity,
          lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "ray stop"] } } },
        },
      ],
    },
  };
}
