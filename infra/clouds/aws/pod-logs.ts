import * as aws from "@pulumi/aws";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { chartInputs } from "../../kubernetes/chart.ts";
import { fluentBit } from "../../versions.ts";
import { writeLogsPolicy } from "./identity/cluster-policies.ts";
import type { Place } from "./identity/policy.ts";
import { Role, trustServiceAccount } from "./identity/role.ts";
import type { AwsConfig } from "./schema.ts";

export interface PodLogsArgs {
  readonly place: Place;
  readonly config: AwsConfig;
  readonly oidcProviderArn: pulumi.Output<string>;
}

const namespace = "kube-system";
const account = "aws-for-fluent-bit";
const groupOf = (cluster: string): string => `/aws/eks/${cluster}/pods`;

/** The output of every pod in a log group of CloudWatch, which keeps it when the pod is gone. */
export class PodLogs extends pulumi.ComponentResource {
  readonly logGroup: pulumi.Output<string>;

  constructor(name: string, { place, config, oidcProviderArn }: PodLogsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:PodLogs", name, {}, opts);
    const { podLogs, logRetentionDays, logKmsKeyArn } = config;
    const group = new aws.cloudwatch.LogGroup(
      name,
      {
        name: groupOf(place.cluster),
        retentionInDays: podLogs.retentionDays ?? logRetentionDays,
        ...(logKmsKeyArn === undefined ? {} : { kmsKeyId: logKmsKeyArn }),
      },
      { parent: this },
    );
    const role = new Role(
      `${name}-role`,
      {
        description: `Fluent Bit of ${place.cluster}`,
        trust: trustServiceAccount(oidcProviderArn, namespace, account),
        policies: { write: JSON.stringify(writeLogsPolicy(place, groupOf(place.cluster))) },
      },
      { parent: this },
    );
    new kubernetes.helm.v3.Release(
      name,
      {
        ...chartInputs(podLogs.chart, fluentBit.version),
        name: account,
        namespace,
        atomic: true,
        values: {
          image: { repository: podLogs.image },
          serviceAccount: { name: account, annotations: { "eks.amazonaws.com/role-arn": role.arn } },
          cloudWatchLogs: {
            region: place.region,
            logGroupName: group.name,
            // The stack made the group, with its retention: the agent may not create any.
            autoCreateGroup: false,
            logStreamPrefix: "node-",
            // Searches find a pod by its name when nothing else of it is left.
            logStreamTemplate: "$kubernetes['namespace_name'].$kubernetes['pod_name'].$kubernetes['container_name']",
          },
          tolerations: [{ operator: "Exists" }],
        },
      },
      { parent: this, dependsOn: [role] },
    );
    this.logGroup = group.name;
    this.registerOutputs({ logGroup: this.logGroup });
  }
}
