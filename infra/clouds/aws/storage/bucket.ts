import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type Place, policy, serviceTrust } from "../identity/policy.ts";
import { Role } from "../identity/role.ts";
import { type BucketScope, replication } from "../identity/storage-policies.ts";
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

  constructor(name: string, args: BucketArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:Bucket", name, {}, opts);
    const { config } = args;
    const { name: bucketName, prefix } = config;
    const kmsKeyArn =
      config.create && config.kmsKeyArn === undefined
        ? ownKey(name, `Lance tables in ${bucketName}`, args, this)
        : config.kmsKeyArn;
    this.bucketName = config.create ? this.#create(name, args, kmsKeyArn) : pulumi.output(bucketName);
    this.scope = pulumi
      .output(kmsKeyArn)
      .apply((arn): BucketScope => ({ bucket: bucketName, prefix, ...(arn === undefined ? {} : { kmsKeyArn: arn }) }));
    this.registerOutputs({ bucketName: this.bucketName });
  }

  #create(name: string, args: BucketArgs, kmsKeyArn: pulumi.Input<string> | undefined): pulumi.Output<string> {
    const { config, place } = args;
    const { bucket, versioning } = tablesBucket(name, { ...args, bucketName: config.name, kmsKeyArn }, this);
    const { replica } = config;
    if (replica !== undefined) {
      const copyName = `${name}-replica`;
      const { region } = replica;
      const copyKey = ownKey(copyName, `Copy of the Lance tables in ${config.name}`, args, this, region);
      const copy = tablesBucket(copyName, { ...args, bucketName: replica.name, region, kmsKeyArn: copyKey }, this);
      const role = new Role(
        `${name}-replication`,
        {
          description: `Copies ${config.name} to ${replica.name}`,
          trust: serviceTrust("s3.amazonaws.com"),
          policies: {
            copy: pulumi
              .all([kmsKeyArn, copyKey])
              .apply(([from, to]) =>
                JSON.stringify(
                  policy(
                    ...replication(
                      place,
                      { bucket: config.name, region: place.region, kmsKeyArn: from },
                      { bucket: replica.name, region, kmsKeyArn: to },
                    ),
                  ),
                ),
              ),
          },
        },
        { parent: this },
      );
      new aws.s3.BucketReplicationConfig(
        name,
        {
          bucket: bucket.bucket,
          role: role.arn,
          rules: [
            {
              id: "tables",
              status: "Enabled",
              filter: {},
              // Otherwise the copy keeps what maintenance deletes.
              deleteMarkerReplication: { status: "Enabled" },
              destination: {
                bucket: copy.bucket.arn,
                ...(copyKey === undefined ? {} : { encryptionConfiguration: { replicaKmsKeyId: copyKey } }),
              },
              ...(copyKey === undefined
                ? {}
                : { sourceSelectionCriteria: { sseKmsEncryptedObjects: { status: "Enabled" } } }),
            },
          ],
        },
        { parent: this, dependsOn: [versioning, copy.versioning, role] },
      );
    }
    return bucket.bucket;
  }
}

/** A key of the stack's own for a bucket that is encrypted by KMS; undefined for others. */
function ownKey(
  name: string,
  description: string,
  { config, protect }: BucketArgs,
  parent: pulumi.Resource,
  region?: string,
): pulumi.Output<string> | undefined {
  return config.encryption === "aws:kms"
    ? new aws.kms.Key(
        `${name}-key`,
        {
          ...(region === undefined ? {} : { region }),
          description,
          enableKeyRotation: true,
          deletionWindowInDays: protect ? 30 : 7,
        },
        // A retained bucket is unreadable without its key.
        { parent, protect, retainOnDelete: protect },
      ).arn
    : undefined;
}

interface TablesBucketArgs extends BucketArgs {
  readonly bucketName: string;
  readonly region?: string;
  readonly kmsKeyArn: pulumi.Input<string> | undefined;
}

/** A private bucket with the retention of the configuration. */
function tablesBucket(
  name: string,
  { config, place, protect, bucketName, region, kmsKeyArn }: TablesBucketArgs,
  parent: pulumi.Resource,
) {
  const { encryption, forceDestroy } = config;
  const {
    bucket,
    elsewhere,
    options: child,
  } = privateBucket(name, { bucketName, place, region, encryption, kmsKeyArn, forceDestroy, protect }, parent);
  const versioning = new aws.s3.BucketVersioning(
    name,
    {
      ...elsewhere,
      bucket: bucket.bucket,
      versioningConfiguration: { status: config.versioning ? "Enabled" : "Suspended" },
    },
    child,
  );
  new aws.s3.BucketLifecycleConfiguration(
    name,
    {
      ...elsewhere,
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
  return { bucket, versioning };
}
