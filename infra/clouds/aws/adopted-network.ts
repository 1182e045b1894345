import * as pulumi from "@pulumi/pulumi";
import { type ClusterNetwork, s3Endpoint } from "./network.ts";
import type { AwsConfig } from "./schema.ts";

export interface AdoptedNetworkArgs {
  readonly region: string;
  readonly network: Extract<AwsConfig["network"], { mode: "adopt" }>;
}

/** A VPC that exists. Nothing in it is changed; where route tables are named they get a gateway endpoint for S3. */
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
