import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { AwsConfig } from "../schema.ts";
import { interfaceEndpointServices, layOutSubnets, natZone } from "./subnets.ts";

/** A network as the cluster uses it, created or adopted. */
export interface ClusterNetwork {
  readonly vpcId: pulumi.Input<string>;
  readonly cidr: string;
  /** Subnets of the nodes; `zone` is the zone's letter, unknown in an adopted network. */
  readonly privateSubnets: readonly { readonly id: pulumi.Input<string>; readonly zone: string | undefined }[];
  readonly publicSubnetIds: readonly pulumi.Input<string>[];
  /** What nodes need to reach AWS and the internet; it outlives them, so that they can deregister. */
  readonly egress: readonly pulumi.Resource[];
}

export type CreatedNetwork = Extract<AwsConfig["network"], { mode: "create" }>;

export interface NetworkArgs {
  readonly region: string;
  readonly clusterName: string;
  readonly network: CreatedNetwork;
  /** Services of AWS that only some stacks call, for a VPC without NAT. */
  readonly services?: readonly string[];
  readonly protect: boolean;
}

/** A VPC with a public and a private subnet in each zone, NAT as configured, and S3 reached without NAT. */
export class Network extends pulumi.ComponentResource implements ClusterNetwork {
  readonly vpcId: pulumi.Output<string>;
  readonly cidr: string;
  readonly privateSubnets: ClusterNetwork["privateSubnets"];
  readonly publicSubnetIds: readonly pulumi.Output<string>[];
  readonly egress: readonly pulumi.Resource[];

  constructor(name: string, args: NetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Network", name, {}, opts);
    const { region, clusterName, network } = args;
    const child = { parent: this };
    const tagged = (suffix: string) => ({ Name: `${clusterName}-${suffix}` });
    const subnets = layOutSubnets(network.cidr, network.zones);

    const vpc = new aws.ec2.Vpc(
      name,
      { cidrBlock: network.cidr, enableDnsHostnames: true, enableDnsSupport: true, tags: tagged("vpc") },
      { ...child, protect: args.protect },
    );
    // Adopting the default security group without a rule removes its rules.
    new aws.ec2.DefaultSecurityGroup(`${name}-default`, { vpcId: vpc.id, tags: tagged("default-unused") }, child);
    const internet = new aws.ec2.InternetGateway(
      `${name}-internet`,
      { vpcId: vpc.id, tags: tagged("internet") },
      child,
    );

    const publicTable = new aws.ec2.RouteTable(`${name}-public`, { vpcId: vpc.id, tags: tagged("public") }, child);
    const publicRoute = new aws.ec2.Route(
      `${name}-public-internet`,
      { routeTableId: publicTable.id, destinationCidrBlock: "0.0.0.0/0", gatewayId: internet.id },
      child,
    );
    const publicSubnets = new Map<string, aws.ec2.Subnet>();
    const egress: pulumi.Resource[] = [publicRoute];
    for (const { zone, public: cidrBlock } of subnets) {
      const subnet = new aws.ec2.Subnet(
        `${name}-public-${zone}`,
        {
          vpcId: vpc.id,
          cidrBlock,
          availabilityZone: `${region}${zone}`,
          tags: { ...tagged(`public-${zone}`), "kubernetes.io/role/elb": "1" },
        },
        child,
      );
      publicSubnets.set(zone, subnet);
      egress.push(
        new aws.ec2.RouteTableAssociation(
          `${name}-public-${zone}`,
          { subnetId: subnet.id, routeTableId: publicTable.id },
          child,
        ),
      );
    }

    const gateways = new Map<string, aws.ec2.NatGateway>();
    for (const zone of new Set(network.zones.map((own) => natZone(network.nat, own, network.zones)))) {
      const subnet = zone === undefined ? undefined : publicSubnets.get(zone);
      if (zone === undefined || subnet === undefined) continue;
      const address = new aws.ec2.Eip(`${name}-nat-${zone}`, { domain: "vpc", tags: tagged(`nat-${zone}`) }, child);
      const gateway = new aws.ec2.NatGateway(
        `${name}-nat-${zone}`,
        { subnetId: subnet.id, allocationId: address.id, tags: tagged(`nat-${zone}`) },
        // On destroy the gateway goes before its route to the internet.
        { ...child, dependsOn: [publicRoute] },
      );
      gateways.set(zone, gateway);
      egress.push(gateway);
    }

    const privateTables: aws.ec2.RouteTable[] = [];
    this.privateSubnets = subnets.map(({ zone, private: cidrBlock }) => {
      const subnet = new aws.ec2.Subnet(
        `${name}-private-${zone}`,
        {
          vpcId: vpc.id,
          cidrBlock,
          availabilityZone: `${region}${zone}`,
          tags: { ...tagged(`private-${zone}`), "kubernetes.io/role/internal-elb": "1" },
        },
        child,
      );
      const table = new aws.ec2.RouteTable(
        `${name}-private-${zone}`,
        { vpcId: vpc.id, tags: tagged(`private-${zone}`) },
        child,
      );
      privateTables.push(table);
      egress.push(
        new aws.ec2.RouteTableAssociation(
          `${name}-private-${zone}`,
          { subnetId: subnet.id, routeTableId: table.id },
          child,
        ),
      );
      const gateway = gateways.get(natZone(network.nat, zone, network.zones) ?? "");
      if (gateway !== undefined) {
        egress.push(
          new aws.ec2.Route(
            `${name}-private-${zone}-nat`,
            { routeTableId: table.id, destinationCidrBlock: "0.0.0.0/0", natGatewayId: gateway.id },
            child,
          ),
        );
      }
      return { id: subnet.id, zone };
    });

    egress.push(
      s3Endpoint(`${name}-s3`, { region, vpcId: vpc.id, routeTableIds: privateTables.map(({ id }) => id) }, child),
    );
    if (network.nat === "none") {
      const subnetIds = this.privateSubnets.map(({ id }) => id);
      const services = [...interfaceEndpointServices, ...(args.services ?? [])];
      egress.push(
        ...interfaceEndpoints(name, { region, vpcId: vpc.id, cidr: network.cidr, subnetIds, services }, child),
      );
    }

    this.vpcId = vpc.id;
    this.cidr = network.cidr;
    this.publicSubnetIds = [...publicSubnets.values()].map(({ id }) => id);
    this.egress = egress;
    this.registerOutputs({ vpcId: this.vpcId });
  }
}

interface S3EndpointArgs {
  readonly region: string;
  readonly vpcId: pulumi.Input<string>;
  readonly routeTableIds: readonly pulumi.Input<string>[];
}

/** Table data goes to S3 without the NAT gateways, which charge by the gigabyte. */
export function s3Endpoint(
  name: string,
  { region, vpcId, routeTableIds }: S3EndpointArgs,
  opts: pulumi.CustomResourceOptions,
): aws.ec2.VpcEndpoint {
  return new aws.ec2.VpcEndpoint(
    name,
    {
      vpcId,
      serviceName: `com.amazonaws.${region}.s3`,
      vpcEndpointType: "Gateway",
      routeTableIds: [...routeTableIds],
    },
    opts,
  );
}

interface InterfaceEndpointArgs {
  readonly region: string;
  readonly vpcId: pulumi.Input<string>;
  readonly cidr: string;
  readonly subnetIds: readonly pulumi.Input<string>[];
  readonly services: readonly string[];
}

function interfaceEndpoints(
  name: string,
  { region, vpcId, cidr, subnetIds, services }: InterfaceEndpointArgs,
  opts: pulumi.CustomResourceOptions,
): pulumi.Resource[] {
  const group = new aws.ec2.SecurityGroup(
    `${name}-endpoints`,
    {
      vpcId,
      description: "AWS interface endpoints, reached from inside the VPC",
      ingress: [{ protocol: "tcp", fromPort: 443, toPort: 443, cidrBlocks: [cidr] }],
    },
    opts,
  );
  return services.map(
    (service) =>
      new aws.ec2.VpcEndpoint(
        `${name}-${service.replace(".", "-")}`,
        {
          vpcId,
          serviceName: `com.amazonaws.${region}.${service}`,
          vpcEndpointType: "Interface",
          privateDnsEnabled: true,
          subnetIds: [...subnetIds],
          securityGroupIds: [group.id],
        },
        opts,
      ),
  );
}

export interface AdoptedNetworkArgs {
  readonly region: string;
  readonly network: Extract<AwsConfig["network"], { mode: "adopt" }>;
}

/** An existing VPC. The only change to it is an S3 gateway endpoint on the configured route tables. */
export class AdoptedNetwork extends pulumi.ComponentResource implements ClusterNetwork {
  readonly vpcId: string;
  readonly cidr: string;
  readonly privateSubnets: ClusterNetwork["privateSubnets"];
  readonly publicSubnetIds: readonly string[];
  readonly egress: readonly pulumi.Resource[];

  constructor(name: string, { region, network }: AdoptedNetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:AdoptedNetwork", name, {}, opts);
    const { vpcId, privateRouteTableIds: routeTableIds } = network;
    this.vpcId = vpcId;
    this.cidr = network.cidr;
    this.privateSubnets = network.privateSubnetIds.map((id) => ({ id, zone: undefined }));
    this.publicSubnetIds = network.publicSubnetIds;
    this.egress =
      routeTableIds.length === 0 ? [] : [s3Endpoint(`${name}-s3`, { region, vpcId, routeTableIds }, { parent: this })];
    this.registerOutputs({ vpcId: this.vpcId });
  }
}
