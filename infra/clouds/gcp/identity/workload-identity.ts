import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { Bucket } from "../storage/bucket.ts";
import { BucketAccess, type TableAccess } from "../storage/bucket-access.ts";

export interface WorkloadIdentityArgs {
  readonly project: string;
  /** Id of the Google service account to create. */
  readonly accountId: string;
  readonly displayName: string;
  /** The Kubernetes service account that acts as it. */
  readonly namespace: string;
  readonly kubernetesAccount: string;
  readonly bucket: Bucket;
  /** To the tables; undefined: none. */
  readonly access: TableAccess | undefined;
  /** Managed folders of the bucket, where it reaches only these. */
  readonly folders?: readonly pulumi.Input<string>[] | undefined;
  /** Whether it can describe the cluster, which the runtime does. */
  readonly clusterViewer: boolean;
  /** The project's first cluster with workload identity creates the identity pool. */
  readonly cluster: pulumi.Resource;
}

/** A Google service account that one Kubernetes service account acts as. */
export class WorkloadIdentity extends pulumi.ComponentResource {
  readonly email: pulumi.Output<string>;
  /** The annotation that binds the Kubernetes service account to it; the runtime's client requires it. */
  readonly annotations: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: WorkloadIdentityArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:WorkloadIdentity", name, {}, opts);
    const parent = { parent: this };
    const account = new gcp.serviceaccount.Account(
      name,
      { project: args.project, accountId: args.accountId, displayName: args.displayName },
      parent,
    );
    const member = pulumi.interpolate`serviceAccount:${account.email}`;
    new gcp.serviceaccount.IAMMember(
      `${name}-user`,
      {
        serviceAccountId: account.name,
        role: "roles/iam.workloadIdentityUser",
        member: workloadMember(args),
      },
      { parent: this, dependsOn: [args.cluster] },
    );
    if (args.access !== undefined) {
      new BucketAccess(
        `${name}-bucket`,
        { bucket: args.bucket, member, access: args.access, folders: args.folders },
        parent,
      );
    }
    if (args.clusterViewer) {
      new gcp.projects.IAMMember(
        `${name}-cluster-viewer`,
        { project: args.project, role: "roles/container.clusterViewer", member },
        parent,
      );
    }
    this.email = account.email;
    this.annotations = { "iam.gke.io/gcp-service-account": account.email };
    this.registerOutputs({ email: this.email });
  }
}

/** `serviceAccount:PROJECT.svc.id.goog[NAMESPACE/ACCOUNT]` */
export function workloadMember(
  args: Pick<WorkloadIdentityArgs, "project" | "namespace" | "kubernetesAccount">,
): string {
  return `serviceAccount:${args.project}.svc.id.goog[${args.namespace}/${args.kubernetesAccount}]`;
}
