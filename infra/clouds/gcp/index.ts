import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { GcpConfig } from "../../config/load.ts";
import { connect } from "../../kubernetes/connect.ts";
import { tableServiceAccount } from "../../model/names.ts";
import { pools } from "../../model/pools.ts";
import type { PoolRole } from "../../model/roles.ts";
import type { Exposure, Platform } from "../index.ts";
import { Bucket } from "./bucket.ts";
import { ClientIdentity } from "./client-identity.ts";
import { Cluster } from "./cluster.ts";
import { gkeKubeconfig } from "./kubeconfig.ts";
import { labelValue } from "./labels.ts";
import { Network } from "./network.ts";
import { NodeIdentity } from "./node-identity.ts";
import { NodePool } from "./node-pool.ts";
import { googleProbeSources, PublicEndpoint } from "./public-endpoint.ts";
import { Services } from "./services.ts";
import { WorkloadIdentity } from "./workload-identity.ts";

/** GKE with everything around it that the workloads need. */
export function createGcpPlatform(config: GcpConfig): Platform {
  const { project, region, clusterName, protect } = config;
  const labels = { ...config.tags, project: "lakehead", stack: labelValue(pulumi.getStack()), "managed-by": "pulumi" };
  const google = new gcp.Provider("google", { project, region, defaultLabels: labels });
  const root = new PlatformRoot("platform", { providers: [google] });

  const services = new Services("services", { project }, { parent: root });
  const within = (...dependsOn: pulumi.Resource[]) => ({ parent: root, dependsOn: [services, ...dependsOn] });
  const bucket = new Bucket("bucket", { project, region, bucket: config.bucket, protect }, within());
  const network = new Network("network", { project, region, network: config.network, protect }, within());
  const nodes = new NodeIdentity("node-identity", { project, clusterName }, within());
  const nodeEmail = nodes.email;
  const cluster = new Cluster("cluster", { config, network, nodeEmail }, within(...network.egress, ...nodes.grants));
  const ready = createPools(config, { cluster, nodeEmail, labels }, root, [...network.egress, ...nodes.grants]);

  const identity = { project, namespace: config.namespace, bucket, cluster };
  const runtime = new WorkloadIdentity(
    "runtime-identity",
    {
      ...identity,
      accountId: config.runtimeAccountId,
      displayName: "Ray pods of the feature-engineering runtime",
      kubernetesAccount: config.serviceAccount,
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
      clusterViewer: false,
    },
    within(),
  );
  const client = new ClientIdentity(
    "client-identity",
    { project, bucket, accountId: config.client.accountId, members: config.client.members },
    within(),
  );
  const { exposure, address } = createExposure(config, network, within());

  const kubeconfig = pulumi.secret(
    cluster.endpoint.apply((endpoint) => gkeKubeconfig({ context: clusterName, ...endpoint })),
  );
  const { provider, crdProvider } = connect(
    "cluster",
    { kubeconfig, clusterIdentifier: `gke/${project}/${region}/${clusterName}` },
    { dependsOn: [cluster] },
  );
  return {
    provider,
    crdProvider,
    kubeconfig,
    clusterName: cluster.clusterName,
    runtimeAccountAnnotations: runtime.annotations,
    tableServiceAccountAnnotations: tables.annotations,
    database: { uri: bucket.uri, storageOptions: {} },
    client: { configMethod: "LOCAL", region },
    clientSubject: { kind: "User", name: client.email },
    ready,
    exposure,
    outputs: {
      runtimeServiceAccount: runtime.email,
      clientServiceAccount: client.email,
      ...(address === undefined ? {} : { tableServiceAddress: address }),
    },
  };
}

/** Gives everything in Google Cloud one parent, and through it the one explicit provider. */
class PlatformRoot extends pulumi.ComponentResource {
  constructor(name: string, opts: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Platform", name, {}, opts);
    this.registerOutputs({});
  }
}

interface PoolSurroundings {
  readonly cluster: Cluster;
  readonly nodeEmail: pulumi.Input<string>;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * All at once, as GKE makes them. GKE taints a GPU pool by itself only when the cluster has another kind of node already,
 * which would make one pool wait for another; the taint is declared, so that the order does not matter.
 */
function createPools(
  config: GcpConfig,
  { cluster, nodeEmail, labels }: PoolSurroundings,
  parent: pulumi.Resource,
  prerequisites: readonly pulumi.Resource[],
): Record<PoolRole, pulumi.Resource[]> {
  const ready: Record<PoolRole, pulumi.Resource[]> = {
    system: [],
    "ray-head": [],
    "ray-worker-cpu": [],
    "ray-worker-gpu": [],
  };
  for (const pool of pools(config)) {
    const made = new NodePool(
      `${pool.key}-pool`,
      { config, pool, clusterName: cluster.clusterName, nodeEmail, labels },
      { parent, dependsOn: [...prerequisites] },
    );
    ready[pool.role].push(made);
  }
  return ready;
}

function createExposure(
  { project, clusterName, tableService }: GcpConfig,
  network: Network,
  opts: pulumi.ComponentResourceOptions,
): { exposure: Exposure; address: pulumi.Output<string> | undefined } {
  const common = {
    internal: { annotations: { "networking.gke.io/load-balancer-type": "Internal" } },
    probeSources: googleProbeSources,
    dependsOn: [],
  };
  const { exposure } = tableService;
  if (!tableService.enabled || exposure.mode !== "public") {
    return { exposure: { ...common, public: { annotations: {} } }, address: undefined };
  }
  const endpoint = new PublicEndpoint(
    "public-endpoint",
    {
      project,
      clusterName,
      network: network.network,
      host: exposure.host,
      allowedCidrs: exposure.allowedCidrs,
    },
    opts,
  );
  // The Ingress holds the address and the policies; it has to let go of them first.
  return { exposure: { ...common, public: endpoint.exposure, dependsOn: [endpoint] }, address: endpoint.address };
}
