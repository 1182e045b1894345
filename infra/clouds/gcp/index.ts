import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { ownsFunctionsCluster } from "../../config/functions.ts";
import type { SecretValues } from "../../config/load.ts";
import { runsMaintenance } from "../../config/maintenance.ts";
import { withOwnTags } from "../../config/shared.ts";
import { connect } from "../../kubernetes/connect.ts";
import { usesCatalog } from "../../model/catalog.ts";
import { throughCache } from "../../model/image-name.ts";
import { functionsCluster, functionsRunner, maintenanceAccount, tableServiceAccount } from "../../model/names.ts";
import type { NodeRole } from "../../model/roles.ts";
import { buildsServiceImage, servicePlatform } from "../../model/service-image.ts";
import type { Cloud, Exposure } from "../cloud.ts";
import { imageBuilder } from "../service-image.ts";
import { Budget } from "./budget.ts";
import { Cluster } from "./cluster/cluster.ts";
import { gkeKubeconfig } from "./cluster/kubeconfig.ts";
import { SecretsKey } from "./cluster/secrets-key.ts";
import { gcpDecisions } from "./decisions.ts";
import { InternalEndpoint, ServiceConnect } from "./exposure/internal-endpoint.ts";
import { googleProbeSources, PublicEndpoint } from "./exposure/public-endpoint.ts";
import { History } from "./history.ts";
import { clientCredentials } from "./identity/client-credentials.ts";
import { ClientIdentity } from "./identity/client-identity.ts";
import { WorkloadIdentity, type WorkloadIdentityArgs } from "./identity/workload-identity.ts";
import { DockerHubCache } from "./images/docker-hub-cache.ts";
import { ServiceImage } from "./images/service-image.ts";
import { labelValue } from "./labels.ts";
import { Network } from "./network.ts";
import { NodeIdentity } from "./nodes/node-identity.ts";
import { ComputeClass, NodePool } from "./nodes/node-pool.ts";
import type { GcpConfig } from "./schema.ts";
import { awaitServices, Services } from "./services.ts";
import { Bucket } from "./storage/bucket.ts";

/** A GKE cluster with its network, identities and bucket. */
export function createGcp(config: GcpConfig, secrets: SecretValues<"dockerHubToken">): Cloud {
  const model = gcpDecisions.clusterModel(config);
  const { project, region, clusterName, protect } = config;
  const own = { project: "lakehead", stack: labelValue(pulumi.getStack()), "managed-by": "pulumi" };
  const labels = withOwnTags(config.tags, own);
  const google = new gcp.Provider("google", { project, region, defaultLabels: labels });
  const root = new GcpRoot("platform", { providers: [google], transforms: [awaitServices()] });

  const services = new Services("services", { project }, { parent: root });
  const within = (...dependsOn: pulumi.Resource[]) => ({ parent: root, dependsOn: [services, ...dependsOn] });
  const bucket = new Bucket("bucket", { project, region, bucket: config.bucket, protect }, within());
  const network = new Network("network", { project, region, network: config.network, protect }, within());
  const nodes = new NodeIdentity("node-identity", { project, clusterName }, within());
  const nodeEmail = nodes.email;
  const secretsKey = config.encryptSecrets
    ? new SecretsKey("secrets-key", { project, region, protect }, within())
    : undefined;
  const cluster = new Cluster(
    "cluster",
    { config, network, nodeEmail, secretsKeyName: secretsKey?.keyName },
    // The key with its grant.
    within(...network.egress, ...nodes.grants, ...(secretsKey === undefined ? [] : [secretsKey])),
  );
  // In any order: GKE taints GPU nodes itself only where the cluster has others, so the pool declares the taint.
  const pools = model.pools.map(
    (pool) =>
      new NodePool(
        `${pool.key}-pool${pool.rank === 0 ? "" : `-fallback-${pool.rank}`}`,
        { config, roles: model.roles, pool, clusterName: cluster.clusterName, nodeEmail, labels },
        { parent: root, dependsOn: [...network.egress, ...nodes.grants] },
      ),
  );
  const poolsOf = (role: NodeRole): NodePool[] => pools.filter((pool) => pool.role === role);
  const ready: Record<NodeRole, pulumi.Resource[]> = {
    system: poolsOf("system"),
    "ray-head": poolsOf("ray-head"),
    "ray-worker-cpu": poolsOf("ray-worker-cpu"),
    "ray-worker-gpu": poolsOf("ray-worker-gpu"),
  };

  const ownAccess = usesCatalog(config) ? undefined : "administer";
  const identity = { project, namespace: config.namespace, bucket, cluster };
  const runtime = new WorkloadIdentity(
    "runtime-identity",
    {
      ...identity,
      accountId: config.runtimeAccountId,
      displayName: "Ray pods of the feature-engineering runtime",
      kubernetesAccount: config.serviceAccount,
      access: ownAccess,
      clusterViewer: true,
    },
    within(),
  );
  const tables = new WorkloadIdentity(
    "table-service-identity",
    {
      ...identity,
      accountId: config.tableServiceAccountId,
      displayName: "Table service",
      kubernetesAccount: tableServiceAccount,
      access: config.tableService.writes ? "read-write" : "read-and-tag",
      clusterViewer: false,
    },
    within(),
  );
  const maintenance = runsMaintenance(config)
    ? new WorkloadIdentity(
        "maintenance-identity",
        {
          ...identity,
          accountId: config.maintenanceAccountId,
          displayName: "Maintenance of the tables",
          kubernetesAccount: maintenanceAccount,
          access: "read-write",
          clusterViewer: false,
        },
        within(),
      )
    : undefined;
  const functions = ownsFunctionsCluster(config) ? functionsIdentities(config, identity, within()) : undefined;
  const history = config.ray.history.enabled
    ? new History("ray-history", { config, identity, writer: runtime.email }, within())
    : undefined;
  const client = new ClientIdentity(
    "client-identity",
    { project, bucket, access: ownAccess, accountId: config.client.accountId, members: config.client.members },
    within(),
  );
  const serviceImage = buildsServiceImage(config)
    ? new ServiceImage(
        "service-image",
        { project, region, clusterName, platform: servicePlatform(model) },
        { ...within(), providers: [imageBuilder()] },
      )
    : undefined;
  const { username } = config.dockerHub;
  const token = secrets.dockerHubToken;
  const cache = config.dockerHub.cache
    ? new DockerHubCache(
        "docker-hub",
        {
          project,
          region,
          clusterName,
          credentials: username === undefined || token === undefined ? undefined : { username, token },
        },
        within(),
      )
    : undefined;
  for (const needed of [cache, history])
    if (needed !== undefined) for (const role of Object.values(ready)) role.push(needed);
  const image = config.tableService.image;
  if (config.budget !== undefined)
    new Budget("budget", { project, clusterName, settings: config.budget, labels }, within());
  const { exposure, address, useBalancer } = createExposure(config, network, within());

  const kubeconfig = pulumi.secret(
    cluster.endpoint.apply((endpoint) => gkeKubeconfig({ context: clusterName, ...endpoint })),
  );
  const { provider, crdProvider } = connect(
    "cluster",
    { kubeconfig, clusterIdentifier: `gke/${project}/${region}/${clusterName}` },
    { dependsOn: [cluster] },
  );
  for (const role of model.roles.computeClasses ?? [])
    ready[role].push(
      new ComputeClass(`compute-class-${role}`, { role, pools: poolsOf(role) }, { ...within(), provider }),
    );
  return {
    cluster: model,
    provider,
    crdProvider,
    kubeconfig,
    clusterName: cluster.clusterName,
    runtimeAccountAnnotations: runtime.annotations,
    tableServiceImage:
      serviceImage?.image ?? (image === undefined ? undefined : throughCache(image, model.dockerHubCache)),
    tableServiceAccountAnnotations: tables.annotations,
    ...(config.tableService.vending ? { vending: { mode: "google" as const } } : {}),
    // Of every cluster of GKE, at a public address.
    catalogIssuer: usesCatalog(config)
      ? `https://container.googleapis.com/v1/projects/${project}/locations/${region}/clusters/${clusterName}`
      : undefined,
    maintenanceAccountAnnotations: maintenance?.annotations ?? {},
    functions: {
      workerAnnotations: functions?.worker.annotations ?? {},
      runnerAnnotations: functions?.runner.annotations ?? {},
      metadataServer: true,
      privateServices: [],
    },
    database: { uri: bucket.uri, storageOptions: {} },
    history: history?.at,
    managedMetrics: config.monitoring.mode === "managed" ? { kinds: "google" } : undefined,
    client: {
      configMethod: "LOCAL",
      region,
      extra: "gcp",
      database: {
        // Not of the bucket's output, so that the offline plan shows the program.
        uri: `gs://${config.bucket.name}${config.bucket.prefix === "" ? "" : `/${config.bucket.prefix}`}`,
        // Lance's own client of Google's storage refuses credentials that impersonate; OpenDAL accepts them.
        storageOptions: { use_opendal: "true" },
        secretStorageOptions: false,
      },
    },
    clientCredentials: clientCredentials(config),
    clientSubject: { kind: "User", name: client.email },
    ready,
    exposure,
    ...(useBalancer === undefined ? {} : { useBalancer }),
    outputs: {
      runtimeServiceAccount: runtime.email,
      clientServiceAccount: client.email,
      ...(address === undefined ? {} : { tableServiceAddress: address }),
    },
  };
}

/** The parent of everything in Google Cloud; its children inherit the explicit provider. */
class GcpRoot extends pulumi.ComponentResource {
  constructor(name: string, opts: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Platform", name, {}, opts);
  }
}

/** Of the workers of Functions, and of the pods that commit what they compute. */
function functionsIdentities(
  { functionsAccountId, functionsRunnerAccountId, tableService }: GcpConfig,
  identity: Pick<WorkloadIdentityArgs, "project" | "namespace" | "bucket" | "cluster">,
  opts: pulumi.ComponentResourceOptions,
) {
  const { prefixes } = tableService.functions;
  const folders = prefixes.map((path) => identity.bucket.folderOfTables(path));
  const make = (
    suffix: string,
    own: Pick<WorkloadIdentityArgs, "accountId" | "displayName" | "kubernetesAccount" | "access">,
    reach: readonly pulumi.Input<string>[],
  ) =>
    new WorkloadIdentity(
      `functions-${suffix}-identity`,
      { ...identity, ...own, clusterViewer: false, folders: prefixes.length === 0 ? undefined : reach },
      opts,
    );
  return {
    worker: make(
      "worker",
      {
        accountId: functionsAccountId,
        displayName: "Workers of Functions",
        kubernetesAccount: functionsCluster,
        access: "compute",
      },
      folders,
    ),
    runner: make(
      "runner",
      {
        accountId: functionsRunnerAccountId,
        displayName: "Runner of Functions",
        kubernetesAccount: functionsRunner,
        access: "read-write",
      },
      prefixes.length === 0 ? [] : [...folders, identity.bucket.folderOfTables("_lakehead")],
    ),
  };
}

interface CreatedExposure {
  readonly exposure: Exposure;
  readonly address: pulumi.Output<string> | undefined;
  readonly useBalancer?: Cloud["useBalancer"];
}

function createExposure(config: GcpConfig, network: Network, opts: pulumi.ComponentResourceOptions): CreatedExposure {
  const { project, region, clusterName, tableService } = config;
  const common = {
    internal: { annotations: { "networking.gke.io/load-balancer-type": "Internal" } },
    public: { annotations: {} },
    probeSources: googleProbeSources,
    dependsOn: [],
  };
  const { exposure, writes } = tableService;
  if (!tableService.enabled || exposure.mode === "cluster") return { exposure: common, address: undefined };
  if (exposure.mode === "internal") {
    const { host, certificateName, proxyCidr, privateServiceConnect } = exposure;
    if (host === undefined || certificateName === undefined || proxyCidr === undefined)
      return { exposure: common, address: undefined };
    const tls = { host, certificateName, proxyCidr };
    const ownNetwork = config.network.mode === "create";
    const endpoint = new InternalEndpoint(
      "internal-endpoint",
      {
        project,
        region,
        clusterName,
        network: network.network,
        subnetwork: network.subnetwork,
        ownNetwork,
        writes,
        ...tls,
      },
      opts,
    );
    return {
      exposure: { ...common, internal: endpoint.exposure, dependsOn: [endpoint] },
      address: endpoint.address,
      ...(privateServiceConnect === undefined
        ? {}
        : {
            useBalancer: (address) =>
              new ServiceConnect(
                "service-connect",
                { project, region, network: network.network, settings: privateServiceConnect, address },
                opts,
              ).outputs,
          }),
    };
  }
  const endpoint = new PublicEndpoint(
    "public-endpoint",
    {
      project,
      clusterName,
      network: network.network,
      host: exposure.host,
      zone: exposure.zone,
      allowedCidrs: exposure.allowedCidrs,
      waf: exposure.waf,
      accessLogs: exposure.accessLogs,
      writes,
    },
    opts,
  );
  // The Ingress uses the address and the policies, so it is deleted first.
  return { exposure: { ...common, public: endpoint.exposure, dependsOn: [endpoint] }, address: endpoint.address };
}
