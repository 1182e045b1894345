import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type Place, policy } from "./iam/policy.ts";
import { type BucketScope, tlsOnly } from "./iam/storage.ts";
import type { AwsConfig } from "./schema.ts";

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
    // A retained bucket keeps its security settings.
    const child = { parent: this, retainOnDelete: protect };
    const bucket = new aws.s3.Bucket(
      name,
      { bucket: config.name, forceDestroy: config.forceDestroy },
      { ...child, protect },
    );
    const versioning = new aws.s3.BucketVersioning(
      name,
      { bucket: bucket.bucket, versioningConfiguration: { status: config.versioning ? "Enabled" : "Suspended" } },
      child,
    );
    new aws.s3.BucketServerSideEncryptionConfiguration(
      name,
      {
        bucket: bucket.bucket,
        rules: [
          {
            bucketKeyEnabled: kmsKeyArn !== undefined,
            applyServerSideEncryptionByDefault: {
              sseAlgorithm: config.encryption,
              ...(kmsKeyArn === undefined ? {} : { kmsMasterKeyId: kmsKeyArn }),
            },
          },
        ],
      },
      child,
    );
    new aws.s3.BucketOwnershipControls(
      name,
      { bucket: bucket.bucket, rule: { objectOwnership: "BucketOwnerEnforced" } },
      child,
    );
    const block = new aws.s3.BucketPublicAccessBlock(
      name,
      {
        bucket: bucket.bucket,
        blockPublicAcls: true,
        blockPublicPolicy: true,
        ignorePublicAcls: true,
        restrictPublicBuckets: true,
      },
      child,
    );
    new aws.s3.BucketPolicy(
      name,
      { bucket: bucket.bucket, policy: JSON.stringify(policy(tlsOnly(place, config.name))) },
      { ...child, dependsOn: [block] },
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
