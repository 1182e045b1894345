import { dnsSuffixOf } from "./arn.ts";
import type { Place, Statement } from "./policy.ts";

export interface BucketScope {
  readonly bucket: string;
  /** Path in the bucket; empty for the whole bucket. */
  readonly prefix: string;
  /** Set with SSE-KMS. */
  readonly kmsKeyArn?: string;
}

/**
 * What an identity may do with the objects of the tables: everything, read all and write those of tags, read all, or read all but the
 * service's own records and add files of columns that Functions compute.
 */
export type TableAccess = "read-write" | "read-and-tag" | "read" | "compute";

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
  /** Folders below the prefix, of which it is then only these. */
  folders: readonly string[] = [],
): Statement[] {
  const bucketArn = `arn:${place.partition}:s3:::${bucket}`;
  const within = (path: string) => (prefix === "" ? path : `${prefix}/${path}`);
  const places = folders.length === 0 ? [prefix] : folders.map(within);
  const tables = places.map((path) => `${bucketArn}/${path === "" ? "" : `${path}/`}*`);
  return [
    {
      Sid: "ListTables",
      Effect: "Allow",
      Action: ["s3:ListBucket"],
      Resource: [bucketArn],
      ...(places.includes("")
        ? {}
        : { Condition: { StringLike: { "s3:prefix": places.flatMap((path) => [path, `${path}/*`]) } } }),
    },
    {
      Sid: "LocateBucket",
      Effect: "Allow",
      Action: ["s3:GetBucketLocation"],
      Resource: [bucketArn],
    },
    ...objectAccess(tables, access, `${bucketArn}/${within("_lakehead/*")}`),
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

function objectAccess(tables: readonly string[], access: TableAccess, records: string): Statement[] {
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
          Resource: tables,
        },
      ];
    case "read":
      return [{ Sid: "ReadTables", Effect: "Allow", Action: ["s3:GetObject"], Resource: tables }];
    case "compute":
      return [
        { Sid: "ReadTables", Effect: "Allow", Action: ["s3:GetObject"], Resource: tables },
        {
          Sid: "AddColumnFiles",
          Effect: "Allow",
          Action: ["s3:PutObject", "s3:AbortMultipartUpload"],
          // As the runner of Functions names them; `*` of a policy matches slashes, too.
          Resource: tables.map((each) => `${each}data/fn-*`),
        },
        { Sid: "NoRecords", Effect: "Deny", Action: ["s3:GetObject", "s3:PutObject"], Resource: [records] },
      ];
    case "read-and-tag":
      return [
        { Sid: "ReadTables", Effect: "Allow", Action: ["s3:GetObject"], Resource: tables },
        {
          Sid: "WriteTags",
          Effect: "Allow",
          Action: ["s3:PutObject", "s3:DeleteObject"],
          // A tag is one object below the table's folder; `*` of a policy matches slashes, too.
          Resource: tables.map((each) => `${each}/_refs/tags/*`),
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
