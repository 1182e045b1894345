import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { GcpConfig } from "../schema.ts";

export interface BucketArgs {
  readonly project: string;
  readonly region: string;
  readonly bucket: GcpConfig["bucket"];
  readonly protect: boolean;
}

/** The bucket of the Lance tables, created or existing, with a managed folder when the tables have a prefix. */
export class Bucket extends pulumi.ComponentResource {
  readonly bucketName: pulumi.Output<string>;
  /** The managed folder, on which roles are granted; undefined without a prefix. */
  readonly folder: pulumi.Output<string> | undefined;
  /** `gs://bucket/prefix` */
  readonly uri: pulumi.Output<string>;
  readonly #tables: { readonly name: string; readonly prefix: string };

  constructor(name: string, args: BucketArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Bucket", name, {}, opts);
    const { bucket } = args;
    this.#tables = { name, prefix: bucket.prefix };
    this.bucketName = bucket.create
      ? new gcp.storage.Bucket(name, bucketInputs(args), {
          parent: this,
          protect: args.protect,
          // The command line can override protection; the tables survive that.
          retainOnDelete: args.protect,
        }).name
      : pulumi.output(bucket.name);
    this.folder = bucket.prefix === "" ? undefined : this.managedFolder(`${name}-folder`, bucket.prefix);
    if (bucket.auditAccess)
      new gcp.projects.IAMAuditConfig(
        `${name}-audit`,
        {
          project: args.project,
          service: "storage.googleapis.com",
          auditLogConfigs: [{ logType: "DATA_READ" }, { logType: "DATA_WRITE" }],
        },
        { parent: this },
      );
    this.uri = pulumi.interpolate`gs://${this.bucketName}${bucket.prefix === "" ? "" : `/${bucket.prefix}`}`;
    this.registerOutputs({ bucketName: this.bucketName, uri: this.uri });
  }

  /** A managed folder below the tables' prefix. */
  folderOfTables(path: string): pulumi.Output<string> {
    const { name, prefix } = this.#tables;
    return this.managedFolder(`${name}-folder-${path}`, prefix === "" ? path : `${prefix}/${path}`);
  }

  private managedFolder(name: string, path: string): pulumi.Output<string> {
    return new gcp.storage.ManagedFolder(
      name,
      // A destroy deletes the folder's policies and keeps its objects under the same names.
      { bucket: this.bucketName, name: `${path}/`, forceDestroy: true },
      { parent: this },
    ).name;
  }
}

function bucketInputs({ project, region, bucket }: BucketArgs): gcp.storage.BucketArgs {
  const { dualRegion } = bucket;
  return {
    project,
    name: bucket.name,
    ...(dualRegion === undefined
      ? { location: region }
      : {
          location: dualRegion.location,
          customPlacementConfig: { dataLocations: [region, dualRegion.secondRegion].map((one) => one.toUpperCase()) },
          rpo: dualRegion.turbo ? "ASYNC_TURBO" : "DEFAULT",
        }),
    storageClass: "STANDARD",
    uniformBucketLevelAccess: true,
    publicAccessPrevention: "enforced",
    versioning: { enabled: bucket.versioning },
    lifecycleRules: [
      {
        action: { type: "Delete" },
        condition: { daysSinceNoncurrentTime: bucket.noncurrentDays, withState: "ARCHIVED" },
      },
      { action: { type: "AbortIncompleteMultipartUpload" }, condition: { age: 7 } },
    ],
    ...(bucket.kmsKeyName === undefined ? {} : { encryption: { defaultKmsKeyName: bucket.kmsKeyName } }),
    forceDestroy: bucket.forceDestroy,
  };
}
