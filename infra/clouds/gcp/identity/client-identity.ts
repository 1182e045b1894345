import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { Bucket } from "../storage/bucket.ts";
import { BucketAccess, type TableAccess } from "../storage/bucket-access.ts";

export interface ClientIdentityArgs {
  readonly project: string;
  readonly accountId: string;
  /** IAM members that may act as the client. */
  readonly members: readonly string[];
  readonly bucket: Bucket;
  /** To the tables; undefined: none. */
  readonly access: TableAccess | undefined;
}

/** The Google service account that the runtime's client acts as, outside the cluster. */
export class ClientIdentity extends pulumi.ComponentResource {
  readonly email: pulumi.Output<string>;

  constructor(name: string, args: ClientIdentityArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:ClientIdentity", name, {}, opts);
    const parent = { parent: this };
    const account = new gcp.serviceaccount.Account(
      name,
      { project: args.project, accountId: args.accountId, displayName: "Client of the feature-engineering runtime" },
      parent,
    );
    const member = pulumi.interpolate`serviceAccount:${account.email}`;
    // On this account: the same role on the project would give access to every account in it.
    for (const person of args.members) {
      new gcp.serviceaccount.IAMMember(
        `${name}-${person}`,
        { serviceAccountId: account.name, role: "roles/iam.serviceAccountTokenCreator", member: person },
        parent,
      );
    }
    new gcp.projects.IAMMember(
      `${name}-cluster-viewer`,
      { project: args.project, role: "roles/container.clusterViewer", member },
      parent,
    );
    if (args.access !== undefined) {
      new BucketAccess(`${name}-bucket`, { bucket: args.bucket, member, access: args.access }, parent);
    }
    this.email = account.email;
    this.registerOutputs({ email: this.email });
  }
}
