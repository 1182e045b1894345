import * as pulumi from "@pulumi/pulumi";
import { type ClusterNetwork, s3Endpoint } from "./network.ts";
import type { AwsConfig } from "./schema.ts";

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
