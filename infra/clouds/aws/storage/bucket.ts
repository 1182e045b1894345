import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Place } from "../identity/policy.ts";
import type { BucketScope } from "../identity/storage-policies.ts";
import type { AwsConfig } from "../schema.ts";
import { privateBucket } from "./private-bucket.ts";

export interface BucketArgs {
  readonly config: AwsConfig["bucket"];
  readonly place: Place;
  readonly protect: boolean;
}

/** The bucket of the Lance tables: created private, encrypted and protected, or an existing one without changes. */
export class Bucket extends pulumi.ComponentResource {
  /** What identities can reach in it. */
  readonly scope: pulumi.Output<BucketScope>;
  readonly bucketName: pulumi.Output<string>;

  constructor(name: string, { config, place, protect }: BucketArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Bucket", name, {}, opts);
    const { name: bucketName, prefix, encryption } = config;
    const ownKey =
      config.create && encryption === "aws:kms" && config.kmsKeyArn === undefined
        ? new aws.kms.Key(
            `${name}-key`,
            {
              description: `Lance tables in ${bucketName}`,
              enableKeyRotation: true,
              deletionWindowInDays: protect ? 30 : 7,
            },
            // A retained bucket is unreadable without its key.
            { parent: this, protect, retainOnDelete: protect },
          )
        : undefined;
    const kmsKeyArn = ownKey?.arn ?? config.kmsKeyArn;
    this.bucketName = config.create
      ? this.create(name, { config, place, protect }, kmsKeyArn)
      : pulumi.output(bucketName);
    this.scope = pulumi
      .output(kmsKeyArn)
      .apply((arn): BucketScope => ({ bucket: bucketName, prefix, ...(arn === undefined ? {} : { kmsKeyArn: arn }) }));
    this.registerOutputs({ bucketName: this.bucketName });
  }

  private create(
    name: string,
    { config, place, protect }: BucketArgs,
    kmsKeyArn: pulumi.Input<string> | undefined,
  ): pulumi.Output<string> {
    const { bucket, options: child } = privateBucket(
      name,
      {
        bucketName: config.name,
        place,
        encryption: config.encryption,
        kmsKeyArn,
        forceDestroy: config.forceDestroy,
        protect,
      },
      this,
    );
    const versioning = new aws.s3.BucketVersioning(
      name,
      { bucket: bucket.bucket, versioningConfiguration: { status: config.versioning ? "Enabled" : "Suspended" } },
      child,
    );
    new aws.s3.BucketLifecycleConfiguration(
      name,
      {
        bucket: bucket.bucket,
        rules: [
          {
            id: "abandoned-uploads",
            status: "Enabled",
            filter: {},
            abortIncompleteMultipartUpload: { daysAfterInitiation: 7 },
          },
          {
            id: "noncurrent",
            status: "Enabled",
            filter: {},
            noncurrentVersionExpiration: { noncurrentDays: config.noncurrentDays },
            expiration: { expiredObjectDeleteMarker: true },
          },
        ],
      },
      { ...child, dependsOn: [versioning] },
    );
    return bucket.bucket;
  }
}
