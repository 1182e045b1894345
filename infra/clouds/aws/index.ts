import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type AwsConfig, roleOptions } from "../../config/load.ts";
import { connect } from "../../kubernetes/connect.ts";
import { clientGroup } from "../../model/names.ts";
import { systemNodeSelector } from "../../model/roles.ts";
import { eksAddons } from "../../versions.ts";
import type { Platform } from "../index.ts";
import { Access } from "./access.ts";
import { Addon } from "./addon.ts";
import { AdoptedNetwork } from "./adopted-network.ts";
import { Autoscaler } from "./autoscaler.ts";
import { BlockStorage } from "./block-storage.ts";
import { Bucket } from "./bucket.ts";
import { Cluster } from "./cluster.ts";
import { partitionOf } from "./iam/arn.ts";
import type { Place } from "./iam/policy.ts";
import { Identities } from "./identities.ts";
import { execKubeconfig } from "./kubeconfig.ts";
import { exposureOf, LoadBalancer } from "./load-balancer.ts";
import { type ClusterNetwork, Network } from "./network.ts";
import { Nodes } from "./nodes.ts";

/** Amazon EKS, from the network up to what workloads need to know. */
export function createAwsPlatform(config: AwsConfig): Platform {
  const { region, clusterName: cluster, protect } = config;
  const place: Place = { partition: partitionOf(region), region, account: config.account, cluster };
  const roles = roleOptions(config);
  const nodeSelector = systemNodeSelector(roles);
  const tags = { ...config.tags, project: pulumi.getProject(), stack: pulumi.getStack(), "managed-by": "pulumi" };
  const cloud = new aws.Provider("aws", { region, allowedAccountIds: [config.account], defaultTags: { tags } });
  const inAws = { providers: [cloud] };

  const network: ClusterNetwork =
    config.network.mode === "create"
      ? new Network("network", { region, clusterName: cluster, network: config.network, protect }, inAws)
      : new AdoptedNetwork("network", { region, network: config.network }, inAws);
  const eks = new Cluster("cluster", { config, partition: place.partition, network }, inAws);
  const { clusterName, oidcProviderArn } = eks;
  const bucket = new Bucket("tables", { config: config.bucket, place, protect }, inAws);
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
  const nodes = new Nodes("nodes", { config, roles, partition: place.partition, cluster: eks, network, tags }, inAws);
  const system = nodes.of("system");
  // Objects go before the deployer's way in does, and what has finalizers while there are nodes to run them. On the
  // way up, a new access entry takes seconds to count everywhere, which the wait for nodes covers.
  const { provider, crdProvider } = connect(
    "kubernetes",
    { kubeconfig, clusterIdentifier: eks.arn },
    { dependsOn: [deployer, ...eks.reach, ...system] },
  );
  const inBoth = { providers: [cloud, provider] };
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
  // They look AWS up by name as soon as they start, and need nothing else of the base.
  const withNames = { ...inBoth, dependsOn: [...system, dns] };
  const { kubernetesVersion } = config;
  const autoscaler = new Autoscaler(
    "autoscaler",
    { place, config: config.autoscaler, kubernetesVersion, oidcProviderArn, nodeSelector },
    withNames,
  );
  const { exposure } = config.tableService;
  const balancer =
    config.tableService.enabled && exposure.mode !== "cluster"
      ? new LoadBalancer(
          "load-balancer",
          {
            place,
            config: config.loadBalancerController,
            exposure,
            network,
            clusterSecurityGroupId: eks.securityGroupId,
            oidcProviderArn,
            nodeSelector,
          },
          withNames,
        )
      : undefined;

  const ready = (...own: pulumi.Resource[]) => [...system, ...base, identities, ...own];
  const roleArn = (arn: pulumi.Input<string>) => ({ "eks.amazonaws.com/role-arn": arn });
  const { prefix } = config.bucket;
  return {
    provider,
    crdProvider,
    kubeconfig,
    clusterName,
    runtimeAccountAnnotations: roleArn(identities.runtime.arn),
    tableServiceAccountAnnotations: identities.tableService === undefined ? {} : roleArn(identities.tableService.arn),
    database: {
      uri: pulumi.interpolate`s3://${bucket.bucketName}${prefix === "" ? "" : `/${prefix}`}`,
      storageOptions: { region },
    },
    client: { configMethod: "EKS_AUTH", region, roleName: config.client.roleName },
    clientSubject: config.client.access === "least-privilege" ? { kind: "Group", name: clientGroup } : undefined,
    ready: {
      system: ready(),
      "ray-head": ready(...nodes.of("ray-head")),
      "ray-worker-cpu": ready(...nodes.of("ray-worker-cpu"), autoscaler),
      "ray-worker-gpu": ready(...nodes.of("ray-worker-gpu"), autoscaler),
    },
    exposure: exposureOf(network, balancer),
    outputs: {
      region,
      bucket: bucket.bucketName,
      vpcId: network.vpcId,
      oidcProviderArn,
      clientRoleArn: identities.client.arn,
      runtimeRoleArn: identities.runtime.arn,
    },
  };

  function access(name: string, principalArn: string, policy: string): Access {
    return new Access(name, { clusterName, principalArn, policy: { partition: place.partition, name: policy } }, inAws);
  }
}
