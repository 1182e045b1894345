import * as aws from "@pulumi/aws";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { chartInputs } from "../../../kubernetes/chart.ts";
import { fileBelow, retainedDefinitions } from "../../../kubernetes/definitions.ts";
import { loadBalancerController } from "../../../versions.ts";
import type { Annotations, Exposure } from "../../cloud.ts";
import { loadBalancerControllerPolicy } from "../identity/load-balancer-policy.ts";
import type { Place } from "../identity/policy.ts";
import { Role, trustServiceAccount } from "../identity/role.ts";
import type { ClusterNetwork } from "../network/network.ts";
import type { AwsConfig } from "../schema.ts";
import { AccessLogs } from "../storage/access-logs.ts";
import {
  accessLogsBucket,
  balancedPorts,
  internalAnnotations,
  listenerPort,
  publicAnnotations,
  publicAttributes,
} from "./exposure.ts";

export interface LoadBalancerArgs {
  readonly place: Place;
  readonly config: AwsConfig["loadBalancerController"];
  readonly exposure: Exclude<AwsConfig["tableService"]["exposure"], { mode: "cluster" }>;
  /** Of the host, with the exposure `public`; an internal one has its own. */
  readonly certificateArn: pulumi.Input<string> | undefined;
  readonly protect: boolean;
  /** Whether the service serves writes. */
  readonly writes: boolean;
  /** Name of the tables' bucket, from which that of the access logs is made. */
  readonly tablesBucket: string;
  /** Days that access logs are kept. */
  readonly retentionDays: number;
  readonly network: ClusterNetwork;
  readonly clusterSecurityGroupId: pulumi.Output<string>;
  readonly oidcProviderArn: pulumi.Output<string>;
  /** Owns the controller's custom resource definitions. */
  readonly crdProvider: pulumi.ProviderResource;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

const namespace = "kube-system";
const account = "aws-load-balancer-controller";

/** URLs or paths of the definitions in the chart of this version. */
export const definitionFiles = (base: string): string[] =>
  ["crds", "gateway-crds"].map((file) =>
    fileBelow(base, `v${loadBalancerController.version}/helm/aws-load-balancer-controller/crds/${file}.yaml`),
  );

/**
 * The controller that creates the table service's load balancer, and the load balancer's security group. The stack owns
 * the group: a group that the controller left behind would block the deletion of the VPC.
 */
export class LoadBalancer extends pulumi.ComponentResource {
  /** Annotations of the Service or the Ingress, depending on the exposure. */
  readonly annotations: Annotations;

  constructor(name: string, args: LoadBalancerArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:LoadBalancer", name, {}, opts);
    const { place, config, exposure, network, protect } = args;
    const settings = { protect, writes: args.writes };
    const child = { parent: this };

    const group = new aws.ec2.SecurityGroup(
      name,
      {
        vpcId: network.vpcId,
        description: `Load balancer of the table service in ${place.cluster}`,
        tags: { Name: `${place.cluster}-table-service` },
      },
      child,
    );
    const port = listenerPort(exposure.mode === "public" || exposure.certificateArn !== undefined);
    const rules: pulumi.Resource[] = exposure.allowedCidrs.map(
      (cidrIpv4) =>
        new aws.vpc.SecurityGroupIngressRule(
          `${name}-from-${cidrIpv4}`,
          {
            securityGroupId: group.id,
            description: "Callers of the table service",
            cidrIpv4,
            ipProtocol: "tcp",
            fromPort: port,
            toPort: port,
          },
          child,
        ),
    );
    for (const target of balancedPorts) {
      const description = `Load balancer to port ${target} of the pods of the table service`;
      const toPods = { description, ipProtocol: "tcp", fromPort: target, toPort: target };
      rules.push(
        new aws.vpc.SecurityGroupEgressRule(
          `${name}-to-pods-${target}`,
          { securityGroupId: group.id, referencedSecurityGroupId: args.clusterSecurityGroupId, ...toPods },
          child,
        ),
        new aws.vpc.SecurityGroupIngressRule(
          `${name}-into-pods-${target}`,
          { securityGroupId: args.clusterSecurityGroupId, referencedSecurityGroupId: group.id, ...toPods },
          child,
        ),
      );
    }

    const role = new Role(
      `${name}-controller-role`,
      {
        description: `Load balancer controller of ${place.cluster}`,
        trust: trustServiceAccount(args.oidcProviderArn, namespace, account),
        policies: { balance: JSON.stringify(loadBalancerControllerPolicy(place)) },
      },
      child,
    );
    const definitions = retainedDefinitions(
      `${name}-definitions`,
      { files: definitionFiles(config.crds) },
      { parent: this, provider: args.crdProvider },
    );
    new kubernetes.helm.v3.Release(
      `${name}-controller`,
      {
        name: account,
        namespace,
        ...chartInputs(config.chart, loadBalancerController.version),
        skipCrds: true,
        atomic: true,
        values: {
          clusterName: place.cluster,
          region: place.region,
          vpcId: network.vpcId,
          image: { repository: config.image, tag: `v${loadBalancerController.version}` },
          serviceAccount: {
            create: true,
            name: account,
            annotations: { "eks.amazonaws.com/role-arn": role.arn },
          },
          enableShield: false,
          enableWaf: false,
          enableWafv2: false,
          enableBackendSecurityGroup: false,
          // Its webhook would block the creation of every Service while the controller is down.
          enableServiceMutatorWebhook: false,
          nodeSelector: args.nodeSelector,
        },
      },
      // Each rendering of the chart creates a certificate, and the provider hashes the rendered chart: every `up` would
      // be an upgrade (pulumi-kubernetes#2649).
      { parent: this, dependsOn: [role, definitions, ...rules], ignoreChanges: ["checksum"] },
    );

    const subnets = pulumi.all(subnetsOf(exposure.mode, network)).apply((ids) => ids.join(","));
    const logs =
      exposure.mode === "public" && exposure.accessLogs
        ? new AccessLogs(
            `${name}-access-logs`,
            {
              place,
              bucketName: accessLogsBucket(args.tablesBucket),
              retentionDays: args.retentionDays,
              protect,
            },
            child,
          )
        : undefined;
    const attributes = pulumi.output(logs?.bucketName).apply((bucket) => publicAttributes(settings, bucket));
    const ids = { securityGroup: group.id, subnets };
    this.annotations =
      exposure.mode === "public"
        ? publicAnnotations(ids, pulumi.output(args.certificateArn ?? ""), attributes)
        : internalAnnotations(ids, settings, exposure.certificateArn, exposure.privateLink !== undefined);
  }
}

function subnetsOf(mode: "internal" | "public", network: ClusterNetwork): pulumi.Input<string>[] {
  return mode === "public" ? [...network.publicSubnetIds] : network.privateSubnets.map(({ id }) => id);
}

/** The cloud's exposure. Without a load balancer the table service is reachable only inside the cluster. */
export function exposureOf(
  network: ClusterNetwork,
  balancer: LoadBalancer | undefined,
  tlsHost: string | undefined,
): Exposure {
  const annotations = balancer?.annotations ?? {};
  return {
    internal: {
      annotations,
      loadBalancerClass: "service.k8s.aws/nlb",
      ...(tlsHost === undefined ? {} : { tlsHost }),
    },
    public: { ingressClass: "alb", annotations },
    probeSources: [network.cidr],
    dependsOn: balancer === undefined ? [] : [balancer],
  };
}
