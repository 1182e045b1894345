import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";

export interface AddonArgs {
  readonly clusterName: pulumi.Input<string>;
  readonly addon: string;
  readonly version: string;
  readonly serviceAccountRoleArn?: pulumi.Input<string>;
  /** The add-on's own settings, by its schema. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Keep the software in the cluster when the add-on is deleted. */
  readonly preserve?: boolean;
}

/** An EKS add-on at an exact version. It overwrites changes that others made to its objects. */
export class Addon extends pulumi.ComponentResource {
  constructor(name: string, args: AddonArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Addon", name, {}, opts);
    new aws.eks.Addon(
      name,
      {
        clusterName: args.clusterName,
        addonName: args.addon,
        addonVersion: args.version,
        resolveConflictsOnCreate: "OVERWRITE",
        resolveConflictsOnUpdate: "OVERWRITE",
        ...(args.serviceAccountRoleArn === undefined ? {} : { serviceAccountRoleArn: args.serviceAccountRoleArn }),
        ...(args.settings === undefined ? {} : { configurationValues: JSON.stringify(args.settings) }),
        ...(args.preserve === undefined ? {} : { preserve: args.preserve }),
      },
      { parent: this },
    );
  }
}
