import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { Role, trustServiceAccount } from "../identity/role.ts";
import { Addon } from "./addon.ts";

export interface BlockStorageArgs {
  readonly clusterName: pulumi.Input<string>;
  readonly partition: string;
  readonly version: string;
  readonly oidcProviderArn: pulumi.Output<string>;
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** The EBS CSI driver with its own identity, and an encrypted default storage class. */
export class BlockStorage extends pulumi.ComponentResource {
  constructor(name: string, args: BlockStorageArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:BlockStorage", name, {}, opts);
    const role = new Role(
      `${name}-role`,
      {
        description: "EBS CSI driver",
        trust: trustServiceAccount(args.oidcProviderArn, "kube-system", "ebs-csi-controller-sa"),
        managedPolicies: { driver: `arn:${args.partition}:iam::aws:policy/AmazonEBSCSIDriverPolicyV2` },
      },
      { parent: this },
    );
    const addon = new Addon(
      `${name}-driver`,
      {
        clusterName: args.clusterName,
        addon: "aws-ebs-csi-driver",
        version: args.version,
        serviceAccountRoleArn: role.arn,
        settings: { controller: { nodeSelector: args.nodeSelector } },
      },
      { parent: this, dependsOn: [role] },
    );
    new kubernetes.storage.v1.StorageClass(
      `${name}-gp3`,
      {
        metadata: { name: "gp3", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
        provisioner: "ebs.csi.aws.com",
        parameters: { type: "gp3", encrypted: "true" },
        volumeBindingMode: "WaitForFirstConsumer",
        allowVolumeExpansion: true,
      },
      { parent: this, dependsOn: [addon] },
    );
  }
}
