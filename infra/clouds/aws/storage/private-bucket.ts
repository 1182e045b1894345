import * as aws from "@pulumi/aws";
import type * as pulumi from "@pulumi/pulumi";
import { type Place, policy, type Statement } from "../identity/policy.ts";
import { tlsOnly } from "../identity/storage-policies.ts";

export interface PrivateBucketArgs {
  readonly bucketName: string;
  readonly place: Place;
  readonly encryption: "AES256" | "aws:kms";
  readonly kmsKeyArn?: pulumi.Input<string> | undefined;
  readonly forceDestroy: boolean;
  readonly protect: boolean;
  /** What the bucket's policy grants, beside that everything needs TLS. */
  readonly grants?: readonly Statement[];
}

export interface PrivateBucket {
  readonly bucket: aws.s3.Bucket;
  readonly policy: aws.s3.BucketPolicy;
  /** Options of further settings of the bucket. */
  readonly options: pulumi.ResourceOptions;
}

/** A bucket without public access and ACLs, encrypted, over TLS only. */
export function privateBucket(
  name: string,
  { bucketName, place, encryption, kmsKeyArn, forceDestroy, protect, grants = [] }: PrivateBucketArgs,
  parent: pulumi.Resource,
): PrivateBucket {
  // A retained bucket keeps its security settings.
  const options = { parent, retainOnDelete: protect };
  const bucket = new aws.s3.Bucket(name, { bucket: bucketName, forceDestroy }, { ...options, protect });
  new aws.s3.BucketServerSideEncryptionConfiguration(
    name,
    {
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
    { bucket: bucket.bucket, rule: { objectOwnership: "BucketOwnerEnforced" } },
    options,
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
    options,
  );
  const bucketPolicy = new aws.s3.BucketPolicy(
    name,
    { bucket: bucket.bucket, policy: JSON.stringify(policy(tlsOnly(place, bucketName), ...grants)) },
    { ...options, dependsOn: [block] },
  );
  return { bucket, policy: bucketPolicy, options };
}
