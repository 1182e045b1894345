import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { historyBucket, historyServer } from "../../model/history.ts";
import type { HistoryPlace } from "../cloud.ts";
import { WorkloadIdentity, type WorkloadIdentityArgs } from "./identity/workload-identity.ts";
import type { GcpConfig } from "./schema.ts";

export interface HistoryArgs {
  readonly config: GcpConfig;
  readonly identity: Pick<WorkloadIdentityArgs, "project" | "namespace" | "bucket" | "cluster">;
  /** Email of the Google service account of Ray's pods, which write. */
  readonly writer: pulumi.Output<string>;
}

/**
 * The bucket of the history of RayClusters, and the identity of the server that reads it. KubeRay's server lists the bucket without a
 * prefix, so no folder of the tables' bucket will do.
 */
export class History extends pulumi.ComponentResource {
  readonly at: HistoryPlace;

  constructor(name: string, { config, identity, writer }: HistoryArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:History", name, {}, opts);
    const parent = { parent: this };
    const { project, protect } = config;
    const bucketName = historyBucket(config.bucket.name);
    const bucket = new gcp.storage.Bucket(
      name,
      {
        project,
        name: bucketName,
        location: config.region,
        uniformBucketLevelAccess: true,
        publicAccessPrevention: "enforced",
        lifecycleRules: [{ action: { type: "Delete" }, condition: { age: config.ray.history.days } }],
        // Collectors write until the last moment, and would stop the destroy of a stack without protection.
        forceDestroy: !protect,
      },
      { parent: this, protect, retainOnDelete: protect },
    );
    const server = new WorkloadIdentity(
      `${name}-server`,
      {
        ...identity,
        accountId: config.historyAccountId,
        displayName: "History server of RayClusters",
        kubernetesAccount: historyServer,
        access: undefined,
        clusterViewer: false,
      },
      parent,
    );
    const grants = {
      write: ["roles/storage.objectUser", writer],
      read: ["roles/storage.objectViewer", server.email],
    } as const;
    for (const [grant, [role, email]] of Object.entries(grants))
      new gcp.storage.BucketIAMMember(
        `${name}-${grant}`,
        { bucket: bucket.name, role, member: pulumi.interpolate`serviceAccount:${email}` },
        parent,
      );
    this.at = {
      store: { STORAGE_BACKEND: "gcs", GCS_BUCKET: bucketName },
      serverAnnotations: server.annotations,
    };
    this.registerOutputs({});
  }
}
