import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { flowLogsPolicy } from "../identity/cluster-policies.ts";
import { type Place, serviceTrust } from "../identity/policy.ts";
import { Role } from "../identity/role.ts";

export interface FlowLogsArgs {
  readonly vpcId: pulumi.Input<string>;
  readonly place: Place;
  readonly retentionDays: number;
  readonly kmsKeyArn: string | undefined;
}

/** A record of every connection in the VPC, in a log group of CloudWatch. */
export class FlowLogs extends pulumi.ComponentResource {
  constructor(
    name: string,
    { vpcId, place, retentionDays, kmsKeyArn }: FlowLogsArgs,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("lakehead:aws:FlowLogs", name, {}, opts);
    const group = new aws.cloudwatch.LogGroup(
      name,
      {
        name: flowLogsGroup(place.cluster),
        retentionInDays: retentionDays,
        ...(kmsKeyArn === undefined ? {} : { kmsKeyId: kmsKeyArn }),
      },
      { parent: this },
    );
    const role = new Role(
      `${name}-role`,
      {
        description: `Flow logs of ${place.cluster}`,
        trust: serviceTrust("vpc-flow-logs.amazonaws.com"),
        policies: { write: JSON.stringify(flowLogsPolicy(place, flowLogsGroup(place.cluster))) },
      },
      { parent: this },
    );
    new aws.ec2.FlowLog(
      name,
      {
        vpcId,
        trafficType: "ALL",
        logDestinationType: "cloud-watch-logs",
        logDestination: group.arn,
        iamRoleArn: role.arn,
        maxAggregationInterval: 600,
        tags: { Name: `${place.cluster}-flow-logs` },
      },
      { parent: this, dependsOn: [role] },
    );
  }
}

const flowLogsGroup = (cluster: string): string => `/aws/vpc/${cluster}/flow-logs`;
