import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Cloud } from "../clouds/cloud.ts";
import type { Config, Secrets } from "../clouds/schema.ts";
import { ownsFunctionsCluster, runsFunctions } from "../config/functions.ts";
import { runsMaintenance } from "../config/maintenance.ts";
import { managedBy } from "../kubernetes/labels.ts";
import {
  type CatalogPod,
  catalogAudience,
  catalogModule,
  catalogPod,
  catalogScopes,
  namespaceProperties,
} from "../model/catalog.ts";
import { clientParameters } from "../model/client-parameters.ts";
import { clientRequirements } from "../model/client-requirements.ts";
import { clientSnippet } from "../model/client-snippet.ts";
import { throughCache } from "../model/image-name.ts";
import { functionsCluster, tableServiceAccount, tableServiceName } from "../model/names.ts";
import { installsKueue, workersWait } from "../model/queue.ts";
import { rayClusterSpec } from "../model/ray-cluster.ts";
import { rayClientImage } from "../model/ray-groups.ts";
import { ClientAccess } from "./client-access.ts";
import { CaBundle, throughEgress } from "./egress.ts";
import { FunctionsCluster } from "./functions-cluster.ts";
import { FunctionsRunner } from "./functions-runner.ts";
import { GpuPlugin } from "./gpu-plugin.ts";
import { HistoryServer } from "./history-server.ts";
import { createOperator } from "./kuberay.ts";
import { Maintenance, maintainsOnRay } from "./maintenance.ts";
import { createMonitoring } from "./monitoring/monitoring.ts";
import { Namespace } from "./namespace.ts";
import { NetworkPolicies, policyRequest, scraperOf } from "./network-policies.ts";
import { networkPolicySpecs } from "./network-policy-specs.ts";
import { OrphanCleanup } from "./orphan-cleanup/orphan-cleanup.ts";
import { ClusterQueue, Kueue, WorkerQueue } from "./queue.ts";
import { Quota, RayClusterQuota } from "./quota.ts";
import { RayCluster } from "./ray-cluster.ts";
import { RuntimeAccount } from "./runtime-account.ts";
import { servicePortOf } from "./table-service/exposure.ts";
import { TableService } from "./table-service/table-service.ts";

export interface Workloads {
  readonly namespace: pulumi.Output<string>;
  /** The client's cluster creation parameters, with the names of its documentation. */
  readonly clientParameters: pulumi.Input<unknown>;
  /** A complete Python program with them. */
  readonly clientSnippet: string;
  /** What the program needs, as a `requirements.txt`. */
  readonly clientRequirements: string;
  /** Base URL of the table service; undefined without one. */
  readonly tableServiceUrl: pulumi.Output<string> | undefined;
  /** Target of the DNS record of the table service's host; undefined without a load balancer. */
  readonly tableServiceAddress: pulumi.Output<string> | undefined;
  /** What a user does beside `Cloud.clientCredentials` so that the program reaches the tables, in comments. */
  readonly catalogCredentials: string;
  /** Where the table service opens the tables: the arguments of lance-ray and pylance in Ray's pods. */
  readonly catalogParameters: object | undefined;
  /** Ray's address for clients inside the cluster; undefined without a RayCluster. */
  readonly rayAddress: pulumi.Output<string> | undefined;
  /** The same of the RayCluster for Functions alone. */
  readonly functionsRayAddress: pulumi.Output<string> | undefined;
}

/** Everything inside the cluster, the same on every cloud. */
export function createWorkloads(config: Config, secrets: Secrets, cloud: Cloud): Workloads {
  const { systemNodeSelector: nodeSelector, kubernetesVersion, devicePlugin } = cloud.cluster;
  const policyVersion = kubernetesVersion === undefined ? "latest" : `v${kubernetesVersion}`;

  const root = new WorkloadsRoot("workloads", {
    providers: [cloud.provider],
    transforms: [
      ...pullSecrets(config.imagePullSecrets),
      // The short names, by which pods of the namespace call Ray.
      ...throughEgress(config.egress, [
        ...cloud.cluster.ownNetworks,
        ...[config.ray.name, functionsCluster].map((name) => `${name}-head-svc`),
      ]),
    ],
  });
  const within = (dependsOn: readonly pulumi.Resource[] = []) => ({ parent: root, dependsOn: [...dependsOn] });

  const nodesReady = Object.values(cloud.ready).flat();
  const { queue } = config.quota;
  const kueue = installsKueue(config)
    ? [
        new Kueue(
          "kueue",
          { settings: queue, watched: config.namespace, policyVersion, nodeSelector },
          within(nodesReady),
        ),
      ]
    : [];
  // Both outlive the namespace, whose pods hold parts of the quota.
  const clusterQueue = workersWait(config)
    ? [new ClusterQueue("cluster-queue", { namespace: config.namespace, config }, within(kueue))]
    : [];
  // The Ray pods that the runtime's client creates meet only the baseline standard. They end with the namespace, so it
  // is deleted before the nodes; everything in it waits for the nodes by waiting for it.
  const home = new Namespace(
    "namespace",
    { name: config.namespace, enforce: "baseline", policyVersion },
    within([...nodesReady, ...clusterQueue]),
  );
  const namespace = home.namespaceName;
  const account = new RuntimeAccount(
    "runtime-account",
    { name: config.serviceAccount, namespace, annotations: cloud.runtimeAccountAnnotations },
    within(),
  );
  if (cloud.clientSubject !== undefined) {
    new ClientAccess(
      "client-access",
      { namespace, mode: config.client.access, subjects: [cloud.clientSubject] },
      within(),
    );
  }
  const guards = [
    ...(config.networkPolicies
      ? [
          new NetworkPolicies(
            "network-policies",
            { namespace, specs: networkPolicySpecs(policyRequest(config, cloud)) },
            within(),
          ),
        ]
      : []),
    ...(config.egress.caBundle === undefined
      ? []
      : [new CaBundle("ca-bundle", { namespace, pem: config.egress.caBundle }, within())]),
    ...(config.quota.enabled
      ? [new Quota("quota", { namespace, ...config.quota, sums: !workersWait(config) }, within())]
      : []),
    ...(workersWait(config)
      ? [new WorkerQueue("worker-queue", { namespace, namespaceName: config.namespace }, within())]
      : []),
  ];

  const plugin =
    devicePlugin === undefined ? [] : [new GpuPlugin("gpu-plugin", devicePlugin, within(cloud.ready.system))];
  const { networkPolicies } = config;
  const scraper = scraperOf(config.monitoring, cloud);
  const operator = createOperator(
    config.operator,
    cloud,
    { policyVersion, networkPolicies, scraper, after: home },
    root,
  );
  const catalog = catalogOf(config, cloud);
  const extras = { catalogPod: catalog?.pod, history: cloud.history?.store };
  const modules =
    catalog === undefined
      ? []
      : [
          new kubernetes.core.v1.ConfigMap(
            "catalog",
            { metadata: { name: catalogModule.configMap, namespace, labels: managedBy }, data: catalogModule.data },
            within(),
          ),
        ];
  const rayCluster = config.ray.create
    ? new RayCluster(
        "ray-cluster",
        { name: config.ray.name, namespace, spec: rayClusterSpec(config, cloud.cluster, extras) },
        within([...operator, ...guards, account, ...plugin, ...modules]),
      )
    : undefined;
  const { tableService, orphanCleanup } = config;
  const { functions } = tableService;
  const ownFunctions = ownsFunctionsCluster(config)
    ? new FunctionsCluster(
        "functions-cluster",
        {
          config,
          cluster: cloud.cluster,
          namespace,
          place: cloud.functions,
          secretValues: secrets.functionSecrets,
        },
        within([...operator, ...guards, ...plugin]),
      )
    : undefined;
  if (config.quota.enabled) {
    new RayClusterQuota(
      "ray-cluster-quota",
      { namespace, count: config.quota.rayClusters },
      within([...operator, ...[rayCluster, ownFunctions].filter((cluster) => cluster !== undefined)]),
    );
  }
  const service =
    tableService.enabled && cloud.tableServiceImage !== undefined
      ? new TableService(
          "table-service",
          {
            ...tableService,
            image: cloud.tableServiceImage,
            namespace,
            accountName: tableServiceAccount,
            accountAnnotations: cloud.tableServiceAccountAnnotations,
            settings: { ...tableService, maintenanceRules: config.maintenance.rules },
            balancing: cloud.exposure,
            database: cloud.database,
            vending: cloud.vending,
            catalogCaller: catalog && pulumi.output(catalog.issuer).apply((issuer) => ({ ...catalog.caller, issuer })),
            staticTokens: secrets.staticTokens,
            nodeSelector,
            // The clouds label the nodes of a pool; an existing cluster's may have no zones.
            zones: cloud.cluster.pools.length > 0,
            protect: config.protect,
          },
          within(guards),
        )
      : undefined;
  if (runsMaintenance(config) && cloud.tableServiceImage !== undefined) {
    new Maintenance(
      "maintenance",
      {
        ...config.maintenance,
        namespace,
        accountAnnotations: cloud.maintenanceAccountAnnotations,
        image: cloud.tableServiceImage,
        logLevel: tableService.logLevel,
        database: cloud.database,
        claimName: service?.claimName,
        nodeSelector,
        ray: maintainsOnRay(config, cloud) ? { ...config.ray, ...config.maintenance.ray } : undefined,
      },
      within(guards),
    );
  }
  const functionsOn = ownFunctions ?? rayCluster;
  if (functionsOn !== undefined && runsFunctions(config)) {
    new FunctionsRunner(
      "functions-runner",
      {
        ...functions,
        namespace,
        serviceAccountName: ownFunctions?.runnerAccount ?? account.accountName,
        image: rayClientImage(config.ray, cloud.cluster),
        ray: ownFunctions === undefined ? config.ray : { ...config.ray, name: functionsCluster },
        workerOptions: ownFunctions === undefined ? undefined : cloud.functions.workerOptions,
        database: cloud.database,
        nodeSelector,
      },
      within([...guards, functionsOn]),
    );
  }
  const cleanupImage =
    orphanCleanup.image === undefined
      ? cloud.tableServiceImage
      : throughCache(orphanCleanup.image, cloud.cluster.dockerHubCache);
  if (orphanCleanup.enabled && cleanupImage !== undefined) {
    new OrphanCleanup(
      "orphan-cleanup",
      { ...orphanCleanup, namespace, image: cleanupImage, nodeSelector },
      within(guards),
    );
  }

  if (cloud.history !== undefined) {
    const { memory, serverImage: image } = config.ray.history;
    new HistoryServer(
      "history-server",
      { namespace, place: cloud.history, image, memory, nodeSelector },
      within(guards),
    );
  }

  createMonitoring(config, cloud, { policyVersion, after: [home, ...operator] }, root);

  const parameters = clientParameters(config, cloud.cluster, cloud.client, pulumi.getStack(), extras);
  return {
    namespace,
    clientParameters: parameters,
    clientSnippet: clientSnippet(parameters, cloud.client, catalog?.uri),
    clientRequirements: clientRequirements(config.ray, cloud.client),
    tableServiceUrl: service?.url,
    tableServiceAddress: service?.address,
    catalogCredentials: catalog === undefined ? "" : catalogCredentials(config, pulumi.getStack()),
    catalogParameters: catalog && {
      namespace_impl: "rest",
      namespace_properties: namespaceProperties(catalog.uri),
    },
    rayAddress: rayCluster?.address,
    functionsRayAddress: ownFunctions?.address,
  };
}

/** The parent of every workload; its children inherit the explicit provider. */
class WorkloadsRoot extends pulumi.ComponentResource {
  constructor(name: string, opts: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Workloads", name, {}, opts);
  }
}

/** Pods pull with the secrets of their service account. */
const pullSecrets = (names: readonly string[]): pulumi.ResourceTransform[] =>
  names.length === 0
    ? []
    : [
        ({ type, props, opts }) =>
          type === "kubernetes:core/v1:ServiceAccount"
            ? { props: { ...props, imagePullSecrets: names.map((name) => ({ name })) }, opts }
            : undefined,
      ];

interface Catalog {
  /** The table service's address in the cluster, at the port of its Service, behind which the pods speak HTTP. */
  readonly uri: string;
  readonly pod: CatalogPod;
  readonly issuer: pulumi.Input<string>;
  readonly caller: { readonly audience: string; readonly account: string };
}

/** How Ray's pods open tables by the table service; undefined where they have rights on the bucket. */
function catalogOf({ tableService, namespace, serviceAccount }: Config, cloud: Cloud): Catalog | undefined {
  if (cloud.catalogIssuer === undefined) return undefined;
  const audience = tableService.auth.audience ?? catalogAudience;
  const port = servicePortOf(tableService.exposure.mode, cloud.exposure);
  return {
    uri: `http://${tableServiceName}.${namespace}.svc.cluster.local:${port}`,
    pod: catalogPod(audience),
    issuer: cloud.catalogIssuer,
    caller: { audience, account: `${namespace}/${serviceAccount}` },
  };
}

/** Lines of `#`, because the others may be a part of a configuration file. */
function catalogCredentials({ tableService: { exposure }, namespace }: Config, stack: string): string {
  const address =
    exposure.mode === "cluster"
      ? `http://127.0.0.1:8080, while this runs: kubectl -n ${namespace} port-forward service/${tableServiceName} 8080:80`
      : `"$(npx pulumi stack output tableServiceUrl --stack ${stack})"`;
  return `# The table service opens the tables. export LAKEHEAD_URL=${address}
# export LAKEHEAD_TOKEN=<a token of yours with the scopes ${catalogScopes.join(", ")}>
`;
}
