import type { ClusterModel } from "../../model/cluster.ts";
import { maintenanceAccount, orphanCleanupAccount, tableServiceAccount } from "../../model/names.ts";
import { describeMemory, MiB, parseMemory } from "../../model/quantity.ts";
import { rayGroups, withSidecar } from "../../model/ray-groups.ts";
import { runsMaintenance } from "../maintenance.ts";
import { errorIf, type Finding, warningIf } from "../report.ts";
import type { SharedConfig } from "../shared.ts";

/** Memory in which the service's worker processes fit, which have at least 512 MiB each and three quarters in total. */
const writesMemory = 2 * 1024 * MiB;

/** The table service authenticates its callers, and has memory for what it serves. */
export function checkTableService({ tableService }: SharedConfig, secrets: ReadonlySet<string>): Finding[] {
  const { enabled, auth } = tableService;
  if (!enabled) return [];
  return [
    ...errorIf(
      auth.issuer === undefined && !secrets.has("staticTokens"),
      "tableService.auth.issuer",
      undefined,
      "no caller could authenticate",
      "write the issuer of your tokens, or set static tokens: pulumi config set --secret staticTokens …",
    ),
    ...errorIf(
      auth.issuer !== undefined && auth.audience === undefined,
      "tableService.auth.audience",
      undefined,
      "the table service would accept tokens that the issuer made for other services",
      "write the audience of the tokens for this service",
    ),
    ...errorIf(
      auth.consoleClientId !== undefined && (auth.issuer === undefined || !tableService.console),
      "tableService.auth.consoleClientId",
      auth.consoleClientId,
      "the client id would have no effect",
      "write tableService.console: true and the issuer, or remove the client id",
    ),
    ...warningIf(
      tableService.writes && parseMemory(tableService.memory) < writesMemory,
      "tableService.memory",
      tableService.memory,
      `two processes that write and one that reads need at least ${describeMemory(writesMemory)} with tableService.writes`,
      `write ${describeMemory(writesMemory)} or more`,
    ),
  ];
}

export function checkOrphanCleanup({ orphanCleanup, tableService }: SharedConfig): Finding[] {
  return errorIf(
    orphanCleanup.enabled && orphanCleanup.image === undefined && !tableService.enabled,
    "orphanCleanup.image",
    undefined,
    "the cleanup runs in the table service's image, and the table service is disabled",
    "write an image with Node 24.2 or later, or orphanCleanup.enabled: false",
  );
}

export function checkMaintenance(config: SharedConfig): Finding[] {
  const { maintenance, tableService } = config;
  return errorIf(
    maintenance.enabled === true && !tableService.enabled,
    "maintenance.enabled",
    true,
    "the maintenance runs in the table service's image, and the table service is disabled",
    "write tableService.enabled: true, or maintenance.enabled: false",
  );
}

/** Functions need rows that can be written, and a cluster that reaches them. */
export function checkFunctions({ tableService, ray }: SharedConfig): Finding[] {
  if (!tableService.functions.enabled) return [];
  const key = "tableService.functions.enabled";
  return [
    ...errorIf(
      !tableService.enabled || !tableService.writes,
      key,
      true,
      "Functions write columns, and the table service does not serve writes",
      "write tableService.enabled: true and tableService.writes: true, or tableService.functions.enabled: false",
    ),
    ...errorIf(
      !ray.create,
      key,
      true,
      "Functions run on the stack's RayCluster, and ray.create is false",
      "write ray.create: true, or tableService.functions.enabled: false",
    ),
  ];
}

/** The quota admits the stack's own pods, and beside their minimum a client's RayCluster with one CPU worker. */
export function checkQuota(config: SharedConfig, cluster: ClusterModel): Finding[] {
  const { quota, tableService, ray } = config;
  if (!quota.enabled) return [];
  const { head, workers } = rayGroups(config, cluster);
  const groups = [
    ...(ray.create ? [withSidecar(head), ...workers] : []),
    ...(tableService.enabled
      ? [
          {
            cpus: tableService.cpus,
            memoryBytes: parseMemory(tableService.memory),
            gpus: 0,
            minReplicas: tableService.replicas.min,
            maxReplicas: tableService.replicas.max,
          },
        ]
      : []),
    ...(tableService.enabled && tableService.functions.enabled
      ? [
          {
            cpus: tableService.functions.cpus,
            memoryBytes: parseMemory(tableService.functions.memory),
            gpus: 0,
            minReplicas: tableService.functions.runners,
            maxReplicas: tableService.functions.runners,
          },
        ]
      : []),
    ...(runsMaintenance(config)
      ? [
          {
            cpus: config.maintenance.cpus,
            memoryBytes: parseMemory(config.maintenance.memory),
            gpus: 0,
            minReplicas: 1,
            maxReplicas: 1,
          },
        ]
      : []),
  ];
  const sum = (replicas: "minReplicas" | "maxReplicas", field: "cpus" | "memoryBytes" | "gpus") =>
    groups.reduce((total, group) => total + group[field] * group[replicas], 0);
  const client = [
    withSidecar(head),
    ...workers.map((worker) =>
      worker.role === "ray-worker-cpu" ? { ...worker, minReplicas: Math.max(1, worker.minReplicas) } : worker,
    ),
  ];
  const bounds = [
    { key: "quota.cpus", value: quota.cpus, limit: quota.cpus, field: "cpus", text: String },
    {
      key: "quota.memory",
      value: quota.memory,
      limit: parseMemory(quota.memory),
      field: "memoryBytes",
      text: describeMemory,
    },
    { key: "quota.gpus", value: quota.gpus, limit: quota.gpus, field: "gpus", text: String },
  ] as const;
  const clusters = ray.create ? 2 : 1;
  const room = errorIf(
    quota.rayClusters < clusters,
    "quota.rayClusters",
    quota.rayClusters,
    "the stack's own RayCluster is the only one that the quota admits, and a client cannot create another",
    `write ${clusters} or more, or ray.create: false`,
  );
  const sums = bounds.flatMap(({ key, value, limit, field, text }): Finding[] => {
    const [min, max] = [sum("minReplicas", field), sum("maxReplicas", field)];
    const withClient = client.reduce((total, group) => total + group[field] * group.minReplicas, min);
    const remedy = `write ${text(Math.max(max, withClient))} or more`;
    if (min > limit) return errorIf(true, key, value, `the stack's own pods request at least ${text(min)}`, remedy);
    const beside = `a client's RayCluster with one CPU worker and the stack's own pods request at least ${text(withClient)}`;
    if (withClient > limit) return warningIf(true, key, value, beside, remedy);
    return warningIf(max > limit, key, value, `the stack's own pods request up to ${text(max)}`, remedy);
  });
  return [...room, ...sums];
}

/** Namespaces of Kubernetes and of the clouds, which exist already and which a destroy must not delete. */
const reservedNamespace = /^(default$|kube-|gke-|gmp-)/;

/** The runtime's account is created beside these. */
const reservedAccounts = ["default", tableServiceAccount, orphanCleanupAccount, maintenanceAccount];

/** Names that are free and differ. */
export function checkNames(config: SharedConfig, cluster: ClusterModel): Finding[] {
  const names = rayGroups(config, cluster).workers.map(({ name }) => name);
  const { operator, namespace, serviceAccount } = config;
  return [
    ...errorIf(
      reservedNamespace.test(namespace),
      "namespace",
      namespace,
      "the namespace belongs to Kubernetes or the cloud, and the stack creates and deletes its own",
      "write a namespace of its own, such as lancedb",
    ),
    ...errorIf(
      operator.mode === "helm" && reservedNamespace.test(operator.namespace),
      "operator.namespace",
      operator.namespace,
      "the namespace belongs to Kubernetes or the cloud, and the stack creates and deletes its own",
      "write a namespace of its own, such as kuberay-system",
    ),
    ...errorIf(
      reservedAccounts.includes(serviceAccount),
      "serviceAccount",
      serviceAccount,
      "the namespace has another service account of this name",
      "write another name, such as geneva-service-account",
    ),
    ...errorIf(
      new Set(names).size < names.length,
      "ray.gpuWorkers.name",
      names.at(-1),
      "both worker groups have this name",
      "write another name",
    ),
    ...errorIf(
      operator.mode === "helm" && operator.namespace === namespace,
      "operator.namespace",
      operator.namespace,
      "a destroy would delete the operator with the runtime's namespace, before the RayClusters in it",
      "write a namespace of its own, such as kuberay-system",
    ),
  ];
}
