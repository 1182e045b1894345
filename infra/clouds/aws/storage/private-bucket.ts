import * as aws from "@pulumi/aws";
import type * as pulumi from "@pulumi/pulumi";
import { type Place, policy, type Statement } from "../identity/policy.ts";
import { tlsOnly } from "../identity/storage-policies.ts";

export interface PrivateBucketArgs {
  readonly bucketName: string;
  readonly place: Place;
  /** Another region than the provider's. */
  readonly region?: string | undefined;
  readonly encryption: "AES256" | "aws:kms";
  readonly kmsKeyArn?: pulumi.Input<string> | undefined;
  readonly forceDestroy: boolean;
  readonly protect: boolean;
  /** What the bucket's policy grants, beside that everything needs TLS. */
  readonly grants?: readonly Statement[];
}

export interface PrivateBucket {
  /** The region, for further settings, where it is not the provider's. */
  readonly elsewhere: { readonly region?: string };
  readonly bucket: aws.s3.Bucket;
  readonly policy: aws.s3.BucketPolicy;
  /** Options of further settings of the bucket. */
  readonly options: pulumi.ResourceOptions;
}

/** A bucket without public access and ACLs, encrypted, over TLS only. */
export function privateBucket(
  name: string,
  { bucketName, place, region, encryption, kmsKeyArn, forceDestroy, protect, grants = [] }: PrivateBucketArgs,
  parent: pulumi.Resource,
): PrivateBucket {
  // A retained bucket keeps its security settings.
  const options = { parent, retainOnDelete: protect };
  const elsewhere = region === undefined ? {} : { region };
  const bucket = new aws.s3.Bucket(name, { ...elsewhere, bucket: bucketName, forceDestroy }, { ...options, protect });
  new aws.s3.BucketServerSideEncryptionConfiguration(
    name,
    {
      ...elsewhere,
      bucket: bucket.bucket,
      rules: [
        {
          bucketKeyEnabled: kmsKeyArn !== undefined,
          applyServerSideEncryptionByDefault: {
            sseAlgorithm: encryption,
            ...(kmsKeyArn === undefined ? {} : { kmsMasterKeyId: kmsKeyArn }),
          },
        },
      ],
    },
    options,
  );
  new aws.s3.BucketOwnershipControls(
    name,
    { ...elsewhere, bucket: bucket.bucket, rule: { objectOwnership: "BucketOwnerEnforced" } },
    options,
  );
  const block = new aws.s3.BucketPublicAccessBlock(
    name,
    {
      ...elsewhere,
      bucket: bucket.bucket,
      blockPublicAcls: true,
      blockPublicPolicy: true,
      ignorePublicAcls: true,
      restrictPublicBuckets: true,
    },
    options,
  );
  const bucketPolicy = new aws.s3.BucketPolicy(
    name,
    { ...elsewhere, bucket: bucket.bucket, policy: JSON.stringify(policy(tlsOnly(place, bucketName), ...grants)) },
    { ...options, dependsOn: [block] },
  );
  return { elsewhere, bucket, policy: bucketPolicy, options };
}

export interface LogBucketArgs extends Omit<PrivateBucketArgs, "encryption" | "kmsKeyArn" | "forceDestroy" | "region"> {
  /** Days until a log file is deleted. */
  readonly retentionDays: number;
}

/** A private bucket in which a service of AWS writes logs, with S3's own keys. Returns its name, once the service can write. */
export function logBucket(
  name: string,
  { retentionDays, ...args }: LogBucketArgs,
  parent: pulumi.Resource,
): pulumi.Output<string> {
  // Logs arrive until the last moment, and would stop the destroy of a stack without protection.
  const settings = { ...args, encryption: "AES256", forceDestroy: !args.protect } as const;
  const { bucket, policy: bucketPolicy, options } = privateBucket(name, settings, parent);
  new aws.s3.BucketLifecycleConfiguration(
    name,
    {
      bucket: bucket.bucket,
      rules: [
        {
          id: "expired-logs",
          status: "Enabled",
          filter: {},
          expiration: { days: retentionDays },
          abortIncompleteMultipartUpload: { daysAfterInitiation: 7 },
        },
      ],
    },
    options,
  );
  return bucketPolicy.bucket;
}
