/**
 * The RayCluster that the runtime's client makes from its parameters: the fields that it is known to send, with values of
 * this stack. Only its shape matters here, for the API server's strict dry run.
 */

import type { ClientParameters } from "../../../infra/model/client-parameters.ts";
import { type Api, ApiError, type KubernetesObject } from "./api.ts";
import { holds } from "./report.ts";

type Group = ClientParameters["head_group"];

const amounts = ({ num_cpus, memory, num_gpus }: Group) => {
  const sizes = {
    cpu: String(num_cpus),
    memory: String(memory),
    ...(num_gpus === undefined ? {} : { "nvidia.com/gpu": String(num_gpus) }),
  };
  return { requests: sizes, limits: sizes };
};

const env = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

const probe = (command: string) => ({
  exec: { command: ["bash", "-c", command] },
  timeoutSeconds: 2,
  periodSeconds: 5,
});

const template = (group: Group, container: Readonly<Record<string, unknown>>) => ({
  metadata: { labels: { "azure.workload.identity/use": "true", ...group.labels } },
  spec: {
    serviceAccountName: group.service_account,
    nodeSelector: group.node_selector,
    tolerations: group.tolerations ?? [],
    containers: [{ image: group.image, imagePullPolicy: "IfNotPresent", resources: amounts(group), ...container }],
  },
});

export function clientRayCluster(parameters: ClientParameters, rayVersion: string): KubernetesObject {
  const { name, namespace, head_group: head, worker_groups: workers } = parameters;
  const common = { LANCE_LOG: "info", GENEVA_RAY_CLUSTER_NAME: name, GENEVA_RAY_CLUSTER_NAMESPACE: namespace };
  const alive = "wget -T 2 -q -O- http://localhost:52365/api/local_raylet_healthz | grep success";
  return {
    apiVersion: "ray.io/v1",
    kind: "RayCluster",
    metadata: { name, namespace },
    spec: {
      rayVersion,
      enableInTreeAutoscaling: true,
      autoscalerOptions: {
        version: "v2",
        idleTimeoutSeconds: 60,
        upscalingMode: "Default",
        imagePullPolicy: "IfNotPresent",
        resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } },
      },
      headGroupSpec: {
        rayStartParams: { "dashboard-host": "0.0.0.0", "num-cpus": "0", resources: '\'"{\\"head\\": 1}"\'' },
        template: template(head, {
          name: "ray-head",
          env: env(common),
          ports: [
            { containerPort: 10001, name: "client" },
            { containerPort: 8265, name: "dashboard" },
            { containerPort: 6379, name: "gcs" },
          ],
        }),
      },
      workerGroupSpecs: workers.map((worker) => ({
        groupName: worker.name,
        replicas: 1,
        minReplicas: worker.min_replicas,
        maxReplicas: worker.max_replicas ?? 100,
        idleTimeoutSeconds: 60,
        rayStartParams: {},
        template: template(worker, {
          name: "ray-worker",
          env: env({ ...common, RAY_memory_monitor_refresh_ms: "0", RAY_memory_usage_threshold: "0.9" }),
          livenessProbe: probe(alive),
          readinessProbe: probe(alive),
        }),
      })),
    },
  };
}

/** Creates it in a dry run with strict field validation, and shows that the server would tell of a field it does not know. */
export async function checkClientCluster(api: Api, parameters: ClientParameters, rayVersion: string): Promise<string> {
  const cluster = clientRayCluster(parameters, rayVersion);
  const path = `${await api.path(cluster, false)}?dryRun=All&fieldValidation=Strict`;
  const answer = await api.ask<KubernetesObject>("POST", path, cluster);
  holds(answer.metadata.name === cluster.metadata.name, "the answer is another object");
  // The client writes this one too, where no such field is: servers that are not asked to be strict drop it.
  const { autoscalerOptions } = cluster.spec;
  const stray = {
    ...cluster,
    spec: { ...cluster.spec, autoscalerOptions: { ...autoscalerOptions, enableInTreeAutoscaling: true } },
  };
  const refusal = await api.ask("POST", path, stray).then(
    () => undefined,
    (error: unknown) => error,
  );
  holds(
    refusal instanceof ApiError &&
      /unknown field "spec.autoscalerOptions.enableInTreeAutoscaling"/.test(refusal.message),
    `a field that the definition does not know was not refused: ${String(refusal)}`,
  );
  await api.ask("POST", path.replace("=Strict", "=Warn"), stray);
  return `${cluster.metadata.name} with ${parameters.worker_groups.length} worker groups`;
}
