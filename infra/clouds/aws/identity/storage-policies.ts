import { dnsSuffixOf } from "./arn.ts";
import type { Place, Statement } from "./policy.ts";

export interface BucketScope {
  readonly bucket: string;
  /** Path in the bucket; empty for the whole bucket. */
  readonly prefix: string;
  /** Set with SSE-KMS. */
  readonly kmsKeyArn?: string;
}

/** What an identity may do with the objects of the tables: everything, read all and write those of tags, or read all. */
export type TableAccess = "read-write" | "read-and-tag" | "read";

/**
 * Access to the tables, and to nothing outside the prefix. The runtime's documentation lists
 * `s3:HeadObject`, which is no action: `s3:GetObject` authorizes HeadObject. For a missing key S3 returns 404 instead of
 * 403 only to a principal that can list it. The condition on `s3:prefix` allows that for keys below the prefix, as S3
 * evaluates it with the requested key (ceph/ceph#68577 describes the behaviour).
 */
export function tableStorage(
  place: Place,
  { bucket, prefix, kmsKeyArn }: BucketScope,
  access: TableAccess,
): Statement[] {
  const bucketArn = `arn:${place.partition}:s3:::${bucket}`;
  const tables = `${bucketArn}/${prefix === "" ? "" : `${prefix}/`}*`;
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
    ...objectAccess(tables, access),
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

function objectAccess(tables: string, access: TableAccess): Statement[] {
  switch (access) {
    case "read-write":
      return [
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
          Resource: [tables],
        },
      ];
    case "read":
      return [{ Sid: "ReadTables", Effect: "Allow", Action: ["s3:GetObject"], Resource: [tables] }];
    case "read-and-tag":
      return [
        { Sid: "ReadTables", Effect: "Allow", Action: ["s3:GetObject"], Resource: [tables] },
        {
          Sid: "WriteTags",
          Effect: "Allow",
          Action: ["s3:PutObject", "s3:DeleteObject"],
          // A tag is one object below the table's folder; `*` of a policy matches slashes, too.
          Resource: [`${tables}/_refs/tags/*`],
        },
      ];
  }
}

/** Denies plain HTTP to the bucket for every principal. */
export function tlsOnly(place: Pick<Place, "partition">, bucket: string): Statement {
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

/**
 * Load balancers of the account write their access logs. The principal is the same in every region. Source:
 * docs.aws.amazon.com/elasticloadbalancing/latest/application/enable-access-logging.html
 */
export function accessLogDelivery({ partition, account }: Place, bucket: string): Statement {
  return {
    Sid: "AccessLogs",
    Effect: "Allow",
    Action: ["s3:PutObject"],
    Principal: { Service: "logdelivery.elasticloadbalancing.amazonaws.com" },
    Resource: [`arn:${partition}:s3:::${bucket}/AWSLogs/${account}/*`],
  };
}
