import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";

export interface AccessArgs {
  readonly clusterName: pulumi.Input<string>;
  readonly principalArn: pulumi.Input<string>;
  /** An EKS access policy at cluster scope, such as AmazonEKSViewPolicy. */
  readonly policy?: { readonly partition: string; readonly name: string };
  /** Kubernetes groups, whose permissions RBAC decides. */
  readonly groups?: readonly string[];
}

/** One IAM principal's access to the cluster: an access entry of type STANDARD, and its policy or groups. */
export class Access extends pulumi.ComponentResource {
  constructor(name: string, args: AccessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Access", name, {}, opts);
    const entry = new aws.eks.AccessEntry(
      name,
      {
        clusterName: args.clusterName,
        principalArn: args.principalArn,
        type: "STANDARD",
        ...(args.groups === undefined ? {} : { kubernetesGroups: [...args.groups] }),
      },
      { parent: this },
    );
    if (args.policy !== undefined) {
      new aws.eks.AccessPolicyAssociation(
        name,
        {
          clusterName: args.clusterName,
          principalArn: entry.principalArn,
          policyArn: `arn:${args.policy.partition}:eks::aws:cluster-access-policy/${args.policy.name}`,
          accessScope: { type: "cluster" },
        },
        { parent: this },
      );
    }
  }
}
