import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { installsKueue, kueuePorts } from "../../../model/queue.ts";
import type { Network } from "../network.ts";
import { nodeTag } from "../nodes/node-pool.ts";
import type { GcpConfig } from "../schema.ts";

export interface ClusterArgs {
  readonly config: GcpConfig;
  readonly network: Network;
  readonly nodeEmail: pulumi.Input<string>;
  /** Cloud KMS key of Kubernetes secrets; undefined: Google's own encryption only. */
  readonly secretsKeyName: pulumi.Input<string> | undefined;
}

/** A regional GKE Standard cluster with private nodes and workload identity, without node pools. */
export class Cluster extends pulumi.ComponentResource {
  readonly resource: gcp.container.Cluster;
  readonly clusterName: pulumi.Output<string>;
  /** Host and certificate authority. A DNS name has none here, because a public authority signed its certificate. */
  readonly endpoint: pulumi.Output<{ readonly host: string; readonly certificate: string | undefined }>;

  constructor(name: string, args: ClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Cluster", name, {}, opts);
    const { config } = args;
    this.resource = new gcp.container.Cluster(name, clusterInputs(args), {
      parent: this,
      protect: config.protect,
      // Both describe GKE's default pool, which is removed at once.
      ignoreChanges: ["initialNodeCount", "nodeConfig"],
      // Two clusters cannot have the same range of the control plane in one network.
      deleteBeforeReplace: true,
      customTimeouts: { create: "45m", update: "60m", delete: "45m" },
    });
    if (installsKueue(config))
      // GKE opens ports 443 and 10250 of its nodes alone to the control plane.
      new gcp.compute.Firewall(
        `${name}-kueue`,
        {
          project: config.project,
          network: args.network.network,
          direction: "INGRESS",
          sourceRanges: [config.network.controlPlaneCidr],
          targetTags: [nodeTag(config.clusterName)],
          allows: [{ protocol: "tcp", ports: Object.values(kueuePorts).map(String) }],
        },
        { parent: this },
      );
    this.clusterName = this.resource.name;
    this.endpoint = config.endpoint.dns
      ? this.resource.controlPlaneEndpointsConfig.apply((endpoints) => ({
          host: endpoints?.dnsEndpointConfig?.endpoint ?? "",
          certificate: undefined,
        }))
      : pulumi
          .all([this.resource.endpoint, this.resource.masterAuth])
          .apply(([host, auth]) => ({ host, certificate: auth?.clusterCaCertificate }));
    this.registerOutputs({ clusterName: this.clusterName });
  }
}

function clusterInputs({ config, network, nodeEmail, secretsKeyName }: ClusterArgs): gcp.container.ClusterArgs {
  const { publicCidrs, dns } = config.endpoint;
  return {
    project: config.project,
    name: config.clusterName,
    location: config.region,
    description: "Ray for the Lance feature-engineering runtime, and the table service (made by lakehead)",
    deletionProtection: config.protect,

    releaseChannel: { channel: config.releaseChannel },
    // A minimum: the channel upgrades the control plane.
    minMasterVersion: config.kubernetesVersion,
    // Upgrades evict the Ray head, so they run at weekends.
    maintenancePolicy: {
      recurringWindow: {
        startTime: "2026-01-03T00:00:00Z",
        endTime: "2026-01-03T08:00:00Z",
        recurrence: "FREQ=WEEKLY;BYDAY=SA,SU",
      },
    },

    networkingMode: "VPC_NATIVE",
    network: network.network,
    subnetwork: network.subnetwork,
    ipAllocationPolicy: {
      clusterSecondaryRangeName: network.podRange,
      servicesSecondaryRangeName: network.serviceRange,
    },
    // Enforces network policies, which the classic data path does not.
    datapathProvider: "ADVANCED_DATAPATH",
    enableL4IlbSubsetting: true,
    privateClusterConfig: {
      enablePrivateNodes: true,
      enablePrivateEndpoint: publicCidrs.length === 0,
      masterIpv4CidrBlock: config.network.controlPlaneCidr,
    },
    masterAuthorizedNetworksConfig: {
      cidrBlocks: publicCidrs.map((cidrBlock) => ({ cidrBlock })),
      gcpPublicCidrsAccessEnabled: false,
    },
    controlPlaneEndpointsConfig: { dnsEndpointConfig: { allowExternalTraffic: dns } },

    removeDefaultNodePool: true,
    initialNodeCount: 1,
    nodeConfig: {
      serviceAccount: nodeEmail,
      oauthScopes: ["https://www.googleapis.com/auth/cloud-platform"],
      shieldedInstanceConfig: { enableSecureBoot: true, enableIntegrityMonitoring: true },
    },
    enableShieldedNodes: true,
    databaseEncryption:
      secretsKeyName === undefined ? { state: "DECRYPTED" } : { state: "ENCRYPTED", keyName: secretsKeyName },
    workloadIdentityConfig: { workloadPool: `${config.project}.svc.id.goog` },
    masterAuth: { clientCertificateConfig: { issueClientCertificate: false } },
    rbacBindingConfig: {
      enableInsecureBindingSystemAuthenticated: false,
      enableInsecureBindingSystemUnauthenticated: false,
    },
    securityPostureConfig: { mode: "BASIC" },

    addonsConfig: {
      httpLoadBalancing: { disabled: false },
      horizontalPodAutoscaling: { disabled: false },
      gcePersistentDiskCsiDriverConfig: { enabled: true },
      dnsCacheConfig: { enabled: true },
      // The add-on and the Helm chart are two operators, and two conflict.
      rayOperatorConfigs: [{ enabled: config.operator.mode === "addon" }],
    },
    loggingConfig: { enableComponents: ["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER"] },
    monitoringConfig: {
      enableComponents: ["SYSTEM_COMPONENTS", ...(exportsGpuMetrics(config) ? ["DCGM"] : [])],
      managedPrometheus: { enabled: true },
    },
    costManagementConfig: { enabled: true },
  };
}

/** GKE's own dcgm-exporter, whose metrics go to Google's store alone. */
const exportsGpuMetrics = ({ monitoring, nodes }: GcpConfig): boolean =>
  monitoring.mode === "managed" && monitoring.gpuMetrics.enabled && nodes.gpu.enabled;
