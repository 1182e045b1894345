import { dnsSuffixOf } from "./arn.ts";
import type { Place, Statement } from "./policy.ts";

export interface BucketScope {
  readonly bucket: string;
  /** Path in the bucket; empty for all of it. */
  readonly prefix: string;
  /** Set with SSE-KMS. */
  readonly kmsKeyArn?: string;
}

/**
 * Read, write and delete of the tables, and nothing outside the prefix. What the runtime's documents write as
 * `s3:HeadObject` is no action: HeadObject is authorised by `s3:GetObject`. S3 answers 404 rather than 403 for a key
 * that is not there only to who may list it, which the condition on `s3:prefix` allows for keys below the prefix
 * (S3 evaluates it with the requested key; ceph/ceph#68577 describes the behaviour).
 */
export function tableStorage(place: Place, { bucket, prefix, kmsKeyArn }: BucketScope): Statement[] {
  const bucketArn = `arn:${place.partition}:s3:::${bucket}`;
  return [
    {
      Sid: "ListTables",
      Effect: "Allow",
      Action: ["s3:ListBucket"],
      Resource: [bucketArn],
      ...(prefix === "" ? {} : { Condition: { StringLike: { "s3:prefix": [prefix, `${prefix}/*`] } } }),
    },
    {
      Sid: "LocateBucket",
      Effect: "Allow",
      Action: ["s3:GetBucketLocation"],
      Resource: [bucketArn],
    },
    {
      Sid: "ReadWriteTables",
      Effect: "Allow",
      Action: [
        "s3:GetObject",
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:AbortMultipartUpload",
        "s3:ListMultipartUploadParts",
      ],
      Resource: [`${bucketArn}/${prefix === "" ? "" : `${prefix}/`}*`],
    },
    ...(kmsKeyArn === undefined
      ? []
      : [
          {
            Sid: "UseKey",
            Effect: "Allow",
            Action: ["kms:Decrypt", "kms:GenerateDataKey"],
            Resource: [kmsKeyArn],
            Condition: { StringEquals: { "kms:ViaService": `s3.${place.region}.${dnsSuffixOf(place.region)}` } },
          } as const,
        ]),
  ];
}

/** Refuses plain HTTP to the bucket, whoever asks. */
export function tlsOnly(place: Place, bucket: string): Statement {
  const bucketArn = `arn:${place.partition}:s3:::${bucket}`;
  return {
    Sid: "TlsOnly",
    Effect: "Deny",
    Action: ["s3:*"],
    Principal: "*",
    Resource: [bucketArn, `${bucketArn}/*`],
    Condition: { Bool: { "aws:SecureTransport": "false" } },
  };
}
