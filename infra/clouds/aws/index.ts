import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { SecretValues } from "../../config/load.ts";
import { withOwnTags } from "../../config/shared.ts";
import { connect } from "../../kubernetes/connect.ts";
import { usesCatalog } from "../../model/catalog.ts";
import { throughCache } from "../../model/image-name.ts";
import { buildsServiceImage, servicePlatform } from "../../model/service-image.ts";
import { eksAddons } from "../../versions.ts";
import type { Cloud } from "../cloud.ts";
import { imageBuilder } from "../service-image.ts";
import { Budget } from "./budget.ts";
import { Addon } from "./cluster/addon.ts";
import { Autoscaler } from "./cluster/autoscaler.ts";
import { BlockStorage } from "./cluster/block-storage.ts";
import { Cluster, execKubeconfig } from "./cluster/cluster.ts";
import { awsDecisions } from "./decisions.ts";
import { EndpointService, WebFirewall } from "./exposure/attachments.ts";
import { HostCertificate, HostRecord } from "./exposure/dns.ts";
import { exposureOf, LoadBalancer } from "./exposure/load-balancer.ts";
import { History } from "./history.ts";
import { Access } from "./identity/access.ts";
import { partitionOf } from "./identity/arn.ts";
import { clientCredentials } from "./identity/client-credentials.ts";
import { clientRoleArn } from "./identity/cluster-policies.ts";
import { Identities, vendingSeconds } from "./identity/identities.ts";
import type { Place } from "./identity/policy.ts";
import { governed } from "./identity/role.ts";
import { auditLogsBucket } from "./identity/storage-policies.ts";
import { DockerHubCache } from "./images/docker-hub-cache.ts";
import { cachedRepositories } from "./images/docker-hub-names.ts";
import { ServiceImage } from "./images/service-image.ts";
import { ManagedPrometheus } from "./managed-prometheus.ts";
import { FlowLogs } from "./network/flow-logs.ts";
import { AdoptedNetwork, type ClusterNetwork, Network } from "./network/network.ts";
import { groupPriorities } from "./nodes/node-group-settings.ts";
import { Nodes } from "./nodes/nodes.ts";
import { PodLogs } from "./pod-logs.ts";
import type { AwsConfig } from "./schema.ts";
import { AuditTrail } from "./storage/access-logs.ts";
import { Bucket } from "./storage/bucket.ts";
import { clientGroup } from "./verify.ts";

/** An Amazon EKS cluster with its network, identities and bucket. */
export function createAws(config: AwsConfig, secrets: SecretValues<"dockerHubToken">): Cloud {
  const { region, clusterName: cluster, protect } = config;
  const place: Place = { partition: partitionOf(region), region, account: config.account, cluster };
  const model = awsDecisions.clusterModel(config);
  const nodeSelector = model.systemNodeSelector;
  const own = { project: pulumi.getProject(), stack: pulumi.getStack(), "managed-by": "pulumi" };
  const tags = withOwnTags(config.tags, own);
  const awsProvider = new aws.Provider("aws", { region, allowedAccountIds: [config.account], defaultTags: { tags } });
  const transforms = governed(config.iam);
  const inAws = { providers: [awsProvider], transforms };

  const network: ClusterNetwork =
    config.network.mode === "create"
      ? new Network(
          "network",
          {
            region,
            clusterName: cluster,
            network: config.network,
            services: config.monitoring.mode === "managed" ? ["aps-workspaces"] : [],
            protect,
          },
          inAws,
        )
      : new AdoptedNetwork("network", { region, network: config.network }, inAws);
  if (config.network.mode === "create" && config.network.flowLogs) {
    new FlowLogs(
      "flow-logs",
      { vpcId: network.vpcId, place, retentionDays: config.logRetentionDays, kmsKeyArn: config.logKmsKeyArn },
      inAws,
    );
  }
  const eks = new Cluster("cluster", { config, place, network }, inAws);
  const { clusterName, oidcProviderArn } = eks;
  const bucket = new Bucket("tables", { config: config.bucket, place, protect }, inAws);
  if (config.bucket.auditAccess) {
    const bucketName = auditLogsBucket(config.bucket.name);
    const { logRetentionDays: retentionDays } = config;
    new AuditTrail("audit-trail", { place, bucketName, retentionDays, protect, tables: bucket.scope }, inAws);
  }
  const identities = new Identities(
    "identities",
    { config, place, clusterName, oidcProviderArn, scope: bucket.scope },
    inAws,
  );

  const deployer = access("deployer", config.deployerArn, "AmazonEKSClusterAdminPolicy");
  const tail = (arn: string) => arn.split(":").slice(4).join("-");
  for (const arn of config.viewerArns) access(`viewer-${tail(arn)}`, arn, "AmazonEKSViewPolicy");
  for (const arn of config.auditorArns) access(`auditor-${tail(arn)}`, arn, "AmazonEKSAdminViewPolicy");
  const kubeconfig = pulumi.secret(
    pulumi
      .all([clusterName, eks.endpoint, eks.certificateAuthority])
      .apply(([name, endpoint, certificateAuthority]) =>
        execKubeconfig({ name, region, endpoint, certificateAuthority }),
      ),
  );
  const nodes = new Nodes("nodes", { config, model, partition: place.partition, cluster: eks, network, tags }, inAws);
  const system = nodes.of("system");
  // On destroy, Kubernetes objects go before the deployer's access entry and before the nodes that run finalizers. On
  // creation, a new access entry takes seconds to become effective, less than the nodes do.
  const { provider, crdProvider } = connect(
    "kubernetes",
    { kubeconfig, clusterIdentifier: eks.arn },
    { dependsOn: [deployer, ...eks.reach, ...system] },
  );
  const inBoth = { providers: [awsProvider, provider], transforms };
  const onSystem = { ...inBoth, dependsOn: system };
  const pinned = eksAddons[config.kubernetesVersion];
  const { addons } = config;
  const dns = new Addon(
    "coredns",
    { clusterName, addon: "coredns", version: addons.coredns ?? pinned?.coredns ?? "", settings: { nodeSelector } },
    onSystem,
  );
  const base = [
    dns,
    new Addon(
      "metrics-server",
      {
        clusterName,
        addon: "metrics-server",
        version: addons.metricsServer ?? pinned?.metricsServer ?? "",
        settings: { nodeSelector },
      },
      onSystem,
    ),
    new BlockStorage(
      "block-storage",
      {
        clusterName,
        partition: place.partition,
        version: addons.ebsCsi ?? pinned?.ebsCsi ?? "",
        oidcProviderArn,
        nodeSelector,
      },
      onSystem,
    ),
  ];
  // Both resolve AWS endpoints by name at their start, and need no other add-on.
  const withNames = { ...inBoth, dependsOn: [...system, dns] };
  const { kubernetesVersion } = config;
  const autoscaler = new Autoscaler(
    "autoscaler",
    {
      place,
      config: config.autoscaler,
      kubernetesVersion,
      oidcProviderArn,
      nodeSelector,
      priorities: groupPriorities(model),
    },
    withNames,
  );
  const serviceImage = buildsServiceImage(config)
    ? new ServiceImage(
        "service-image",
        { place, platform: servicePlatform(model) },
        { providers: [awsProvider, imageBuilder()], transforms },
      )
    : undefined;
  if (config.budget !== undefined) new Budget("budget", { clusterName: cluster, settings: config.budget, tags }, inAws);
  const podLogs = config.podLogs.enabled
    ? new PodLogs("pod-logs", { place, config, oidcProviderArn }, onSystem)
    : undefined;
  const history = config.ray.history.enabled
    ? new History("ray-history", { place, config, oidcProviderArn }, inAws)
    : undefined;
  const { dockerHub, tableService, monitoring } = config;
  const managed =
    monitoring.mode === "managed"
      ? new ManagedPrometheus(
          "metrics",
          {
            place,
            config,
            settings: monitoring,
            oidcProviderArn,
            gpu: model.devicePlugin !== undefined && monitoring.gpuMetrics.enabled,
          },
          inAws,
        )
      : undefined;
  const cache =
    dockerHub.cache && dockerHub.username !== undefined && secrets.dockerHubToken !== undefined
      ? new DockerHubCache(
          "docker-hub",
          {
            clusterName: cluster,
            username: dockerHub.username,
            token: secrets.dockerHubToken,
            repositories: cachedRepositories(config),
          },
          inAws,
        )
      : undefined;
  const { exposure } = tableService;
  const host = tableService.enabled && exposure.mode === "public" ? exposure : undefined;
  const zone = host?.zone === undefined ? undefined : { host: host.host, zoneId: host.zone };
  const internal = exposure.mode === "internal" ? exposure : undefined;
  const certificateArn =
    internal?.certificateArn ??
    host?.certificateArn ??
    (zone === undefined ? undefined : new HostCertificate("host", zone, inAws).arn);
  const balancer =
    tableService.enabled && exposure.mode !== "cluster"
      ? new LoadBalancer(
          "load-balancer",
          {
            place,
            config: config.loadBalancerController,
            exposure,
            certificateArn,
            protect,
            writes: tableService.writes,
            tablesBucket: config.bucket.name,
            retentionDays: config.logRetentionDays,
            network,
            clusterSecurityGroupId: eks.securityGroupId,
            oidcProviderArn,
            crdProvider,
            nodeSelector,
          },
          withNames,
        )
      : undefined;

  const ready = (...own: pulumi.Resource[]) => [
    ...system,
    ...base,
    identities,
    ...[cache, history].filter((one) => one !== undefined),
    ...own,
  ];
  const roleArn = (arn: pulumi.Input<string>) => ({ "eks.amazonaws.com/role-arn": arn });
  const { prefix } = config.bucket;
  return {
    cluster: model,
    provider,
    crdProvider,
    kubeconfig,
    clusterName,
    runtimeAccountAnnotations: roleArn(identities.runtime.arn),
    tableServiceImage: serviceImage?.image ?? cached(tableService.image),
    tableServiceAccountAnnotations: identities.tableService === undefined ? {} : roleArn(identities.tableService.arn),
    vending:
      identities.vending &&
      pulumi
        .all([identities.vending.arn, bucket.scope])
        // The session of a pod's own token is not chained to another role, whose sessions last one hour at most.
        .apply(([role, { kmsKeyArn }]) => ({
          mode: "web-identity" as const,
          roleArn: role,
          kmsKeyArn,
          seconds: vendingSeconds(config),
        })),
    catalogIssuer: usesCatalog(config) ? eks.issuer : undefined,
    maintenanceAccountAnnotations: identities.maintenance === undefined ? {} : roleArn(identities.maintenance.arn),
    functions: {
      workerAnnotations: identities.functions === undefined ? {} : roleArn(identities.functions.worker.arn),
      runnerAnnotations: identities.functions === undefined ? {} : roleArn(identities.functions.runner.arn),
      metadataServer: false,
      // Without a way to the internet, STS and others have addresses in the network.
      privateServices: config.network.mode === "create" && config.network.nat === "none" ? [config.network.cidr] : [],
    },
    database: {
      uri: pulumi.interpolate`s3://${bucket.bucketName}${prefix === "" ? "" : `/${prefix}`}`,
      storageOptions: { region },
    },
    history: history?.at,
    managedMetrics: managed?.metrics,
    client: {
      configMethod: "EKS_AUTH",
      region,
      // The client takes a name without a path, or an ARN.
      roleName: config.iam.path === "/" ? config.client.roleName : clientRoleArn(place, config),
      extra: "aws",
      // Not of the bucket's output, so that the offline plan shows the program.
      database: {
        uri: `s3://${config.bucket.name}${prefix === "" ? "" : `/${prefix}`}`,
        storageOptions: { region },
        secretStorageOptions: false,
      },
    },
    clientCredentials: clientCredentials(place, config, pulumi.getStack()),
    clientSubject: config.client.access === "least-privilege" ? { kind: "Group", name: clientGroup } : undefined,
    ready: {
      system: ready(),
      "ray-head": ready(...nodes.of("ray-head")),
      "ray-worker-cpu": ready(...nodes.of("ray-worker-cpu"), autoscaler),
      "ray-worker-gpu": ready(...nodes.of("ray-worker-gpu"), autoscaler),
    },
    exposure: exposureOf(network, balancer, internal?.certificateArn === undefined ? undefined : internal.host),
    useBalancer: (address) => {
      if (zone !== undefined) new HostRecord("host-record", { ...zone, region, address }, inAws);
      if (host?.waf !== undefined)
        new WebFirewall("web-firewall", { region, address, clusterName: cluster, settings: host.waf }, inAws);
      return internal?.privateLink === undefined
        ? {}
        : new EndpointService(
            "endpoint-service",
            { region, address, settings: internal.privateLink, host: internal.host },
            inAws,
          ).outputs;
    },
    outputs: {
      region,
      bucket: bucket.bucketName,
      vpcId: network.vpcId,
      oidcProviderArn,
      clientRoleArn: identities.client.arn,
      runtimeRoleArn: identities.runtime.arn,
      ...(managed === undefined ? {} : { prometheusEndpoint: managed.endpoint }),
      ...(podLogs === undefined ? {} : { podLogGroup: podLogs.logGroup }),
    },
  };

  function cached(image: string | undefined): string | undefined {
    return image === undefined ? undefined : throughCache(image, model.dockerHubCache);
  }

  function access(name: string, principalArn: string, policy: string): Access {
    return new Access(name, { clusterName, principalArn, policy: { partition: place.partition, name: policy } }, inAws);
  }
}
