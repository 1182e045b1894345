import type { Config } from "../clouds/schema.ts";
import { operatorFeatures } from "./operator.ts";
import { formatMemory } from "./quantity.ts";
import { autoscalerSidecar, type RayGroup, rayGroups } from "./ray-groups.ts";
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

interface ContainerSecurity {
  readonly allowPrivilegeEscalation: false;
  readonly runAsNonRoot: true;
  readonly runAsUser: number;
  readonly capabilities: { readonly drop: readonly ["ALL"] };
  readonly seccompProfile: { readonly type: "RuntimeDefault" };
}

export interface PodTemplate {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly nodeSelector: Readonly<Record<string, string>>;
    readonly tolerations: readonly Toleration[];
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly resources: Resources;
      readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
      readonly securityContext: ContainerSecurity;
      readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
    }[];
  };
}

/** The head's ports. All three are open to whoever reaches them unless `ray.auth` is `token`. */
export const rayPorts = { gcs: 6379, dashboard: 8265, client: 10001 } as const;

const security: ContainerSecurity = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  // The user `ray` of the images rayproject/ray.
  runAsUser: 1000,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

/**
 * The RayCluster of a configuration, from the same groups as the client's parameters. `replicas` is left out because
 * the autoscaler owns it, and no restartPolicy is given because autoscaler v2 refuses one.
 */
export function rayClusterSpec(config: Config, options: RoleOptions): RayClusterSpec {
  const { head, workers } = rayGroups(config);
  const features = operatorFeatures(config);
  const sidecar = { cpu: String(autoscalerSidecar.cpus), memory: formatMemory(autoscalerSidecar.memoryBytes) };
  return {
    rayVersion: config.ray.version,
    enableInTreeAutoscaling: true,
    autoscalerOptions: {
      ...(features.autoscalerVersion ? { version: "v2" as const } : {}),
      upscalingMode: "Default",
      idleTimeoutSeconds: config.ray.idleTimeoutSeconds,
      resources: { requests: sidecar, limits: sidecar },
      securityContext: security,
    },
    ...(config.ray.auth === "token" ? { authOptions: { mode: "token" as const } } : {}),
    ...(features.upgradeStrategy ? { upgradeStrategy: { type: "Recreate" as const } } : {}),
    headGroupSpec: {
      serviceType: "ClusterIP",
      // No CPUs, so that Ray itself schedules no work on the head.
      rayStartParams: { "num-cpus": "0", "dashboard-host": "0.0.0.0" },
      template: podTemplate(config, head, options),
    },
    workerGroupSpecs: workers.map((worker) => ({
      groupName: worker.name,
      minReplicas: worker.minReplicas,
      maxReplicas: worker.maxReplicas,
      rayStartParams: worker.gpus > 0 ? { "num-gpus": String(worker.gpus) } : {},
      template: podTemplate(config, worker, options),
    })),
  };
}

function podTemplate(config: Config, group: RayGroup, options: RoleOptions): PodTemplate {
  const isHead = group.role === "ray-head";
  const amounts: Amounts = {
    cpu: String(group.cpus),
    memory: formatMemory(group.memoryBytes),
    ...(group.gpus > 0 ? { [gpuResource]: String(group.gpus) } : {}),
  };
  return {
    // Losing the head ends every job, as there is no fault-tolerant control store.
    metadata: { annotations: isHead ? { "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" } : {} },
    spec: {
      serviceAccountName: config.serviceAccount,
      nodeSelector: nodeSelector(group.role, options),
      tolerations: tolerations(group.role, options),
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: isHead ? "ray-head" : "ray-worker",
          image: group.image,
          resources: { requests: amounts, limits: amounts },
          ...(isHead
            ? { ports: Object.entries(rayPorts).map(([name, containerPort]) => ({ name, containerPort })) }
            : {}),
          securityContext: security,
          lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "ray stop"] } } },
        },
      ],
    },
  };
}
