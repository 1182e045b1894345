import { createHash } from "node:crypto";
import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";

export interface NodeIdentityArgs {
  readonly project: string;
  readonly clusterName: string;
}

/**
 * What nodes need: to log, to report metrics and to pull images. Pods do not get these roles, because each pod has its
 * own identity and cannot read the node's.
 * Source: cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster#use_least_privilege_sa
 */
export const nodeIamRoles = ["roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader"] as const;

/** The service account of the nodes. Compute Engine's default account could edit the whole project. */
export class NodeIdentity extends pulumi.ComponentResource {
  readonly email: pulumi.Output<string>;
  readonly grants: pulumi.Resource[];

  constructor(name: string, args: NodeIdentityArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:NodeIdentity", name, {}, opts);
    const account = new gcp.serviceaccount.Account(
      name,
      {
        project: args.project,
        accountId: nodeAccountId(args.clusterName),
        displayName: `Nodes of GKE cluster ${args.clusterName}`,
      },
      { parent: this },
    );
    this.email = account.email;
    this.grants = nodeIamRoles.map(
      (role) =>
        new gcp.projects.IAMMember(
          `${name}-${role.replace(/^roles\//, "").replaceAll(".", "-")}`,
          { project: args.project, role, member: pulumi.interpolate`serviceAccount:${account.email}` },
          { parent: this },
        ),
    );
    this.registerOutputs({ email: this.email });
  }
}

/** `<cluster>-nodes`, shortened to the 30 characters of an account id, different for each cluster name. */
export function nodeAccountId(clusterName: string): string {
  const suffix = "-nodes";
  if (clusterName.length + suffix.length <= 30) return `${clusterName}${suffix}`;
  const hash = createHash("sha256").update(clusterName).digest("hex").slice(0, 6);
  return `${clusterName.slice(0, 30 - suffix.length - hash.length - 1)}-${hash}${suffix}`.replace("--", "-");
}
