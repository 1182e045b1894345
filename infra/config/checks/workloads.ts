import type { ClusterModel } from "../../model/cluster.ts";
import { functionsRay } from "../../model/functions-cluster.ts";
import {
  functionsCluster,
  functionsHeadAccount,
  functionsRunner,
  maintenanceAccount,
  orphanCleanupAccount,
  tableServiceAccount,
} from "../../model/names.ts";
import { describeMemory, MiB, parseMemory } from "../../model/quantity.ts";
import { workersWait } from "../../model/queue.ts";
import { rayGroups, wholePod } from "../../model/ray-groups.ts";
import { ownsFunctionsCluster } from "../functions.ts";
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
      "no caller could authenticate",
      "write the issuer of your tokens, or set static tokens: pulumi config set --secret staticTokens …",
    ),
    ...errorIf(
      auth.issuer !== undefined && auth.audience === undefined,
      "tableService.auth.audience",
      "the table service would accept tokens that the issuer made for other services",
      "write the audience of the tokens for this service",
    ),
    ...errorIf(
      auth.consoleClientId !== undefined && (auth.issuer === undefined || !tableService.console),
      "tableService.auth.consoleClientId",
      "the client id would have no effect",
      "write tableService.console: true and the issuer, or remove the client id",
    ),
    ...warningIf(
      tableService.writes && parseMemory(tableService.memory) < writesMemory,
      "tableService.memory",
      `two processes that write and one that reads need at least ${describeMemory(writesMemory)} with tableService.writes`,
      `write ${describeMemory(writesMemory)} or more`,
    ),
  ];
}

export function checkOrphanCleanup({ orphanCleanup, tableService }: SharedConfig): Finding[] {
  return errorIf(
    orphanCleanup.enabled && orphanCleanup.image === undefined && !tableService.enabled,
    "orphanCleanup.image",
    "the cleanup runs in the table service's image, and the table service is disabled",
    "write an image with Node 24.2 or later, or orphanCleanup.enabled: false",
  );
}

export function checkMaintenance(config: SharedConfig): Finding[] {
  const { maintenance, tableService } = config;
  return errorIf(
    maintenance.enabled === true && !tableService.enabled,
    ["maintenance.enabled", true],
    "the maintenance runs in the table service's image, and the table service is disabled",
    "write tableService.enabled: true, or maintenance.enabled: false",
  );
}

/** Functions need rows that can be written, a cluster that reaches them, and what only a cluster of their own has. */
export function checkFunctions(config: SharedConfig, secrets: ReadonlySet<string>): Finding[] {
  const { tableService, ray, networkPolicies, egress } = config;
  const { functions } = tableService;
  if (!functions.enabled) return [];
  const key = "tableService.functions.enabled";
  const cluster = "tableService.functions.cluster";
  const own = functions.cluster === "own";
  const named = functions.secrets.length > 0;
  return [
    ...errorIf(
      !tableService.enabled || !tableService.writes,
      [key, true],
      "Functions write columns, and the table service does not serve writes",
      "write tableService.enabled: true and tableService.writes: true, or tableService.functions.enabled: false",
    ),
    ...errorIf(
      !own && !ray.create,
      cluster,
      "Functions run on the stack's RayCluster, and ray.create is false",
      "write ray.create: true, or cluster: own",
    ),
    ...errorIf(
      !own && functions.prefixes.length > 0,
      "tableService.functions.prefixes",
      "on the stack's RayCluster Functions have the identity of its pods, which reaches all tables",
      "write cluster: own, or leave it out",
    ),
    ...errorIf(
      !own && named,
      "tableService.functions.secrets",
      "the pods of the stack's RayCluster do not have them",
      "write cluster: own, or leave it out",
    ),
    ...errorIf(
      own && named && !secrets.has("functionSecrets"),
      "tableService.functions.secrets",
      "they have no values",
      `pulumi config set --secret functionSecrets '{"${functions.secrets[0]}": "…"}'`,
    ),
    ...warningIf(
      own && !networkPolicies,
      "networkPolicies",
      "nothing keeps Functions from the metadata server, the API server, other pods, and Ray's ports of the stack's own cluster",
      "write true, or policies of your own",
    ),
    ...warningIf(
      own && networkPolicies && egress.proxy !== undefined && functions.egressCidrs.length === 0,
      "tableService.functions.egressCidrs",
      `Functions' pods reach public addresses alone, and the proxy ${egress.proxy} has a private one in most networks`,
      "write its network, such as 10.1.2.0/28",
    ),
  ];
}

/** Ray's pods and the client write by lent credentials, and nothing runs in these pods that needs rights on the bucket. */
export function checkCatalog({ tableService }: SharedConfig): Finding[] {
  if (tableService.catalog !== true) return [];
  const key = "tableService.catalog";
  return [
    ...errorIf(
      !tableService.enabled || tableService.vending !== true || !tableService.writes,
      [key, true],
      "Ray's pods and the client would have no way to the tables: the table service lends no credentials that write",
      "write tableService.enabled, tableService.vending and tableService.writes: true, or tableService.catalog: false",
    ),
    ...errorIf(
      tableService.functions.enabled && tableService.functions.cluster === "shared",
      "tableService.functions.cluster",
      "Functions open tables with the identity of the RayCluster's pods, which has no rights on the bucket with tableService.catalog",
      "write cluster: own, or tableService.catalog: false",
    ),
  ];
}

/** The quota admits the stack's own pods, and beside their minimum a client's RayCluster with one CPU worker. */
export function checkQuota(config: SharedConfig, cluster: ClusterModel): Finding[] {
  const { quota, tableService, ray } = config;
  if (!quota.enabled) {
    const { mode } = quota.queue;
    return errorIf(
      mode !== "none",
      "quota.queue.mode",
      "a queue has no bound without the quota's sums",
      "write quota.enabled: true, or quota.queue.mode: none",
    );
  }
  const { head, workers } = rayGroups(config, cluster);
  const own = ownsFunctionsCluster(config);
  const functions = rayGroups(functionsRay(config), cluster);
  const pods = [
    ...[...(ray.create ? [head] : []), ...(own ? [functions.head] : [])].map(wholePod),
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
  // What is no worker passes the queue by.
  const waits = workersWait(config);
  const groups = [
    ...(waits ? [] : pods),
    ...[...(ray.create ? workers : []), ...(own ? functions.workers : [])].map(wholePod),
  ];
  const sum = (replicas: "minReplicas" | "maxReplicas", field: "cpus" | "memoryBytes" | "gpus") =>
    groups.reduce((total, group) => total + group[field] * group[replicas], 0);
  const client = [
    ...(waits ? [] : [wholePod(head)]),
    ...workers
      .map(wholePod)
      .map((worker) =>
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
  const clusters = [true, ray.create, own].filter(Boolean).length;
  const room = errorIf(
    quota.rayClusters < clusters,
    "quota.rayClusters",
    "the quota admits no more RayClusters than the stack's own, and a client cannot create another",
    `write ${clusters} or more${ray.create ? ", or ray.create: false" : ""}`,
  );
  const sums = bounds.flatMap(({ key, value, limit, field, text }): Finding[] => {
    const [min, max] = [sum("minReplicas", field), sum("maxReplicas", field)];
    const withClient = client.reduce((total, group) => total + group[field] * group.minReplicas, min);
    const remedy = `write ${text(Math.max(max, withClient))} or more`;
    if (min > limit) return errorIf(true, [key, value], `the stack's own pods request at least ${text(min)}`, remedy);
    const beside = `a client's RayCluster with one CPU worker and the stack's own pods request at least ${text(withClient)}`;
    if (withClient > limit) return warningIf(true, [key, value], beside, remedy);
    return warningIf(!waits && max > limit, [key, value], `the stack's own pods request up to ${text(max)}`, remedy);
  });
  return [...room, ...sums];
}

/** Namespaces of Kubernetes and of the clouds, which exist already and which a destroy must not delete. */
const reservedNamespace = /^(default$|kube-|gke-|gmp-)/;

/** The runtime's account is created beside these. */
const reservedAccounts = [
  "default",
  tableServiceAccount,
  orphanCleanupAccount,
  maintenanceAccount,
  functionsRunner,
  functionsCluster,
  functionsHeadAccount,
];

/** Names that are free and differ. */
export function checkNames(config: SharedConfig, cluster: ClusterModel): Finding[] {
  const { operator, namespace, serviceAccount, monitoring } = config;
  const taken = [namespace, operator.namespace];
  const groups = [
    { key: "ray", settings: config },
    { key: "tableService.functions.ray", settings: functionsRay(config) },
  ];
  return [
    ...(monitoring.mode === "none" || monitoring.mode === "existing"
      ? []
      : errorIf(
          reservedNamespace.test(monitoring.namespace) || taken.includes(monitoring.namespace),
          "monitoring.namespace",
          "the namespace belongs to another part, and the stack creates and deletes its own",
          "write a namespace of its own, such as monitoring",
        )),
    ...errorIf(
      config.ray.name === functionsCluster,
      "ray.name",
      "the RayCluster of Functions has this name",
      "write another name, such as geneva",
    ),
    ...errorIf(
      reservedNamespace.test(namespace),
      "namespace",
      "the namespace belongs to Kubernetes or the cloud, and the stack creates and deletes its own",
      "write a namespace of its own, such as lancedb",
    ),
    ...errorIf(
      operator.mode === "helm" && reservedNamespace.test(operator.namespace),
      "operator.namespace",
      "the namespace belongs to Kubernetes or the cloud, and the stack creates and deletes its own",
      "write a namespace of its own, such as kuberay-system",
    ),
    ...errorIf(
      reservedAccounts.includes(serviceAccount),
      "serviceAccount",
      "the namespace has another service account of this name",
      "write another name, such as geneva-service-account",
    ),
    ...groups.flatMap(({ key, settings }) => {
      const names = rayGroups(settings, cluster).workers.map(({ name }) => name);
      return errorIf(
        new Set(names).size < names.length,
        `${key}.gpuWorkers.name`,
        "both worker groups have this name",
        "write another name",
      );
    }),
    ...errorIf(
      operator.mode === "helm" && operator.namespace === namespace,
      "operator.namespace",
      "a destroy would delete the operator with the runtime's namespace, before the RayClusters in it",
      "write a namespace of its own, such as kuberay-system",
    ),
  ];
}
