import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { controlPlaneLogs, controlPlanePolicy } from "../identity/cluster-policies.ts";
import { type Place, serviceTrust } from "../identity/policy.ts";
import { Role } from "../identity/role.ts";
import type { ClusterNetwork } from "../network/network.ts";
import { serviceCidr } from "../network/subnets.ts";
import type { AwsConfig } from "../schema.ts";

export interface ClusterArgs {
  readonly config: AwsConfig;
  readonly place: Place;
  readonly network: ClusterNetwork;
}

/** The EKS control plane with its key, its logs and its OIDC provider. Only access entries give access. */
export class Cluster extends pulumi.ComponentResource {
  readonly clusterName: pulumi.Output<string>;
  readonly arn: pulumi.Output<string>;
  readonly endpoint: pulumi.Output<string>;
  readonly certificateAuthority: pulumi.Output<string>;
  /** The security group that EKS adds to the control plane's interfaces and to every node. */
  readonly securityGroupId: pulumi.Output<string>;
  /** Of the tokens of its service accounts. */
  readonly issuer: pulumi.Output<string>;
  readonly oidcProviderArn: pulumi.Output<string>;
  /** Rules that admit a deployer inside the VPC to the Kubernetes API; EKS's own group admits only nodes. */
  readonly reach: readonly pulumi.Resource[];

  constructor(name: string, { config, place, network }: ClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Cluster", name, {}, opts);
    const { clusterName, protect, endpoint } = config;
    const child = { parent: this };
    const guarded = { parent: this, protect };

    const key = new aws.kms.Key(
      `${name}-secrets`,
      {
        description: `Kubernetes secrets of ${clusterName}`,
        enableKeyRotation: true,
        deletionWindowInDays: protect ? 30 : 7,
      },
      guarded,
    );
    new aws.kms.Alias(`${name}-secrets`, { name: `alias/eks/${clusterName}`, targetKeyId: key.keyId }, child);
    // Before the cluster: EKS would create it without a retention limit.
    const logs = new aws.cloudwatch.LogGroup(
      `${name}-logs`,
      {
        name: controlPlaneLogs(clusterName),
        retentionInDays: config.logRetentionDays,
        ...(config.logKmsKeyArn === undefined ? {} : { kmsKeyId: config.logKmsKeyArn }),
      },
      child,
    );
    const role = new Role(
      `${name}-control-plane`,
      {
        description: `Control plane of ${clusterName}`,
        trust: serviceTrust("eks.amazonaws.com"),
        policies: { logs: JSON.stringify(controlPlanePolicy(place)) },
        managedPolicies: { cluster: `arn:${place.partition}:iam::aws:policy/AmazonEKSClusterPolicy` },
      },
      child,
    );

    const cluster = new aws.eks.Cluster(
      name,
      {
        name: clusterName,
        version: config.kubernetesVersion,
        roleArn: role.arn,
        accessConfig: { authenticationMode: "API", bootstrapClusterCreatorAdminPermissions: false },
        bootstrapSelfManagedAddons: false,
        deletionProtection: protect,
        upgradePolicy: { supportType: "STANDARD" },
        enabledClusterLogTypes: ["api", "audit", "authenticator", "controllerManager", "scheduler"],
        encryptionConfig: { resources: ["secrets"], provider: { keyArn: key.arn } },
        kubernetesNetworkConfig: { ipFamily: "ipv4", serviceIpv4Cidr: serviceCidr(network.cidr) },
        vpcConfig: {
          subnetIds: network.privateSubnets.map(({ id }) => id),
          endpointPrivateAccess: true,
          endpointPublicAccess: endpoint.publicCidrs.length > 0,
          ...(endpoint.publicCidrs.length > 0 ? { publicAccessCidrs: [...endpoint.publicCidrs] } : {}),
        },
      },
      // EKS accepts no subnet in an additional zone after creation; node groups use any subnet of the VPC.
      { ...guarded, dependsOn: [role, logs], ignoreChanges: ["vpcConfig.subnetIds"] },
    );
    this.issuer = cluster.identities.apply((identities) => identities[0]?.oidcs?.[0]?.issuer ?? "");
    const oidc = new aws.iam.OpenIdConnectProvider(
      `${name}-oidc`,
      {
        url: this.issuer,
        clientIdLists: ["sts.amazonaws.com"],
      },
      guarded,
    );

    this.reach = (endpoint.privateCidrs ?? [network.cidr]).map(
      (cidrIpv4) =>
        new aws.vpc.SecurityGroupIngressRule(
          `${name}-api-from-${cidrIpv4}`,
          {
            securityGroupId: cluster.vpcConfig.clusterSecurityGroupId,
            description: "Kubernetes API",
            cidrIpv4,
            ipProtocol: "tcp",
            fromPort: 443,
            toPort: 443,
          },
          child,
        ),
    );

    this.clusterName = cluster.name;
    this.arn = cluster.arn;
    this.endpoint = cluster.endpoint;
    this.certificateAuthority = cluster.certificateAuthority.data;
    this.securityGroupId = cluster.vpcConfig.clusterSecurityGroupId;
    this.oidcProviderArn = oidc.arn;
    this.registerOutputs({ arn: this.arn });
  }
}

/** The facts of an EKS cluster in its kubeconfig. */
export interface KubeconfigFacts {
  readonly name: string;
  readonly region: string;
  readonly endpoint: string;
  /** Base64, as EKS returns it. */
  readonly certificateAuthority: string;
}

/** A kubeconfig without credentials: it gets each token from the AWS CLI. */
export function execKubeconfig({ name, region, endpoint, certificateAuthority }: KubeconfigFacts): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: endpoint, "certificate-authority-data": certificateAuthority } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
    users: [
      {
        name,
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "aws",
            args: ["eks", "get-token", "--cluster-name", name, "--region", region, "--output", "json"],
            interactiveMode: "Never",
          },
        },
      },
    ],
  });
}
