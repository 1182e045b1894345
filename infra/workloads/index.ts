import * as pulumi from "@pulumi/pulumi";
import { storageAddress } from "../../service/contract.ts";
import type { Platform } from "../clouds/index.ts";
import { type Config, roleOptions, type Secrets } from "../config/load.ts";
import { clientParameters } from "../model/client-parameters.ts";
import { clientSnippet } from "../model/client-snippet.ts";
import { installsDevicePlugin } from "../model/device-plugin.ts";
import { tableServiceAccount } from "../model/names.ts";
import { rayClusterSpec } from "../model/ray-cluster.ts";
import { systemNodeSelector } from "../model/roles.ts";
import { ClientAccess } from "./client-access.ts";
import { GpuPlugin } from "./gpu-plugin.ts";
import { createOperator } from "./kuberay.ts";
import { Namespace } from "./namespace.ts";
import { NetworkPolicies } from "./network-policies.ts";
import { OrphanCleanup } from "./orphan-cleanup/orphan-cleanup.ts";
import { Quota, RayClusterQuota } from "./quota.ts";
import { RayCluster } from "./ray-cluster.ts";
import { RuntimeAccount } from "./runtime-account.ts";
import { TableService, tableServiceSelector } from "./table-service/table-service.ts";

export interface Workloads {
  readonly namespace: pulumi.Output<string>;
  /** The client's cluster creation parameters, names as in its documents. */
  readonly clientParameters: pulumi.Input<unknown>;
  /** The same as Python that runs as pasted. */
  readonly clientSnippet: string;
  /** Base URL of the table service; undefined when the stack does not deploy it. */
  readonly tableServiceUrl: pulumi.Output<string> | undefined;
  /** What the DNS record of the table service's host points at; undefined without a load balancer. */
  readonly tableServiceAddress: pulumi.Output<string> | undefined;
  /** Where a client inside the cluster connects to Ray; undefined when the stack makes no RayCluster of its own. */
  readonly rayAddress: pulumi.Output<string> | undefined;
}

/** Everything inside the cluster, the same on every cloud. */
export function createWorkloads(config: Config, secrets: Secrets, platform: Platform): Workloads {
  const roles = roleOptions(config);
  // Nobody labels a pool "system" in a cluster that exists already.
  const nodeSelector = config.cloud === "kubeconfig" ? {} : systemNodeSelector(roles);
  const policyVersion = config.cloud === "kubeconfig" ? "latest" : `v${config.kubernetesVersion}`;

  const root = new WorkloadsRoot("workloads", { providers: [platform.provider] });
  const within = (dependsOn: readonly pulumi.Resource[] = []) => ({ parent: root, dependsOn: [...dependsOn] });

  // The runtime's client makes Ray pods of its own, which meet the baseline and no more. They end with the namespace,
  // so that it must go before the nodes do; everything in it waits for the nodes by waiting for it.
  const home = new Namespace(
    "namespace",
    { name: config.namespace, enforce: "baseline", policyVersion },
    within(Object.values(platform.ready).flat()),
  );
  const namespace = home.namespaceName;
  const account = new RuntimeAccount(
    "runtime-account",
    { name: config.serviceAccount, namespace, annotations: platform.runtimeAccountAnnotations },
    within(),
  );
  if (platform.clientSubject !== undefined) {
    new ClientAccess(
      "client-access",
      { namespace, mode: config.client.access, subjects: [platform.clientSubject] },
      within(),
    );
  }
  const guards = [
    ...(config.networkPolicies
      ? [new NetworkPolicies("network-policies", { namespace, ...policyRequest(config, platform) }, within())]
      : []),
    ...(config.quota.enabled ? [new Quota("quota", { namespace, ...config.quota }, within())] : []),
  ];

  const plugin = createGpuPlugin(config, within(platform.ready.system));
  const operator = createOperator(config, platform, { nodeSelector, policyVersion, after: home }, root);
  const rayCluster = config.ray.create
    ? new RayCluster(
        "ray-cluster",
        { name: config.ray.name, namespace, spec: rayClusterSpec(config, roles) },
        within([...operator, ...guards, account, ...plugin]),
      )
    : undefined;
  if (config.quota.enabled) {
    new RayClusterQuota(
      "ray-cluster-quota",
      { namespace, count: config.quota.rayClusters },
      within([...operator, ...(rayCluster === undefined ? [] : [rayCluster])]),
    );
  }

  const { tableService, orphanCleanup } = config;
  const service =
    tableService.enabled && tableService.image !== undefined
      ? new TableService(
          "table-service",
          {
            ...tableService,
            image: tableService.image,
            namespace,
            accountName: tableServiceAccount,
            accountAnnotations: platform.tableServiceAccountAnnotations,
            settings: tableService,
            platformExposure: platform.exposure,
            database: platform.database,
            staticTokens: secrets.staticTokens,
            nodeSelector,
            protect: config.protect,
          },
          within(guards),
        )
      : undefined;
  const cleanupImage = orphanCleanup.image ?? tableService.image;
  if (orphanCleanup.enabled && cleanupImage !== undefined) {
    new OrphanCleanup(
      "orphan-cleanup",
      { ...orphanCleanup, namespace, image: cleanupImage, nodeSelector },
      within(guards),
    );
  }

  const parameters = clientParameters(config, platform.client, roles);
  return {
    namespace,
    clientParameters: parameters,
    clientSnippet: clientSnippet(parameters),
    tableServiceUrl: service?.url,
    tableServiceAddress: service?.address,
    rayAddress: rayCluster?.address,
  };
}

/** Gives every workload one parent, and through it the one explicit provider. */
class WorkloadsRoot extends pulumi.ComponentResource {
  constructor(name: string, opts: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Workloads", name, {}, opts);
    this.registerOutputs({});
  }
}

function createGpuPlugin(config: Config, opts: pulumi.ComponentResourceOptions): GpuPlugin[] {
  if (config.cloud === "gcp" || !installsDevicePlugin(config)) return [];
  const { version, chart, image } = config.devicePlugin;
  return [new GpuPlugin("gpu-plugin", { chart, version, image }, opts)];
}

function policyRequest({ tableService, operator }: Config, platform: Platform) {
  const { issuer, jwksUrl } = tableService.auth;
  const stores = Object.entries(platform.database.storageOptions).flatMap(([option, value]) =>
    storageAddress.test(option) ? [value] : [],
  );
  return {
    tableService: tableService.enabled
      ? {
          selector: tableServiceSelector,
          exposure: tableService.exposure.mode,
          probeSources: platform.exposure.probeSources,
          calls: [issuer, jwksUrl, ...stores].filter((url) => url !== undefined),
        }
      : undefined,
    // GKE runs its add-on's operator outside the cluster.
    operatorNamespace: operator.mode === "addon" ? undefined : operator.namespace,
  };
}
