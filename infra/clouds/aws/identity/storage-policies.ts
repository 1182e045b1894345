import { dnsSuffixOf } from "./arn.ts";
import { allow, type Place, type Statement } from "./policy.ts";

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
    allow("LocateBucket", ["s3:GetBucketLocation"], [bucketArn]),
    ...objectAccess(tables, access, `${bucketArn}/${within("_lakehead/*")}`),
    ...(kmsKeyArn === undefined
      ? []
      : [
          allow("UseKey", ["kms:Decrypt", "kms:GenerateDataKey"], [kmsKeyArn], {
            StringEquals: { "kms:ViaService": `s3.${place.region}.${dnsSuffixOf(place.region)}` },
          }),
        ]),
  ];
}

function objectAccess(tables: readonly string[], access: TableAccess, records: string): Statement[] {
  switch (access) {
    case "read-write":
      return [
        allow(
          "ReadWriteTables",
          ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
          tables,
        ),
      ];
    case "read":
      return [allow("ReadTables", ["s3:GetObject"], tables)];
    case "compute":
      return [
        allow("ReadTables", ["s3:GetObject"], tables),
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
        allow("ReadTables", ["s3:GetObject"], tables),
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

/** Name of the bucket of the trail, from that of the tables' bucket. */
export const auditLogsBucket = (tables: string): string => `${tables}-audit-logs`;

/**
 * One trail of CloudTrail writes its files. Source:
 * docs.aws.amazon.com/awscloudtrail/latest/userguide/create-s3-bucket-policy-for-cloudtrail.html
 */
export function trailDelivery({ partition, region, account }: Place, bucket: string, trail: string): Statement[] {
  const bucketArn = `arn:${partition}:s3:::${bucket}`;
  const source = { "aws:SourceArn": `arn:${partition}:cloudtrail:${region}:${account}:trail/${trail}` };
  const Principal = { Service: "cloudtrail.amazonaws.com" };
  return [
    {
      Sid: "CheckTrail",
      Effect: "Allow",
      Action: ["s3:GetBucketAcl"],
      Principal,
      Resource: [bucketArn],
      Condition: { StringEquals: source },
    },
    {
      Sid: "WriteTrail",
      Effect: "Allow",
      Action: ["s3:PutObject"],
      Principal,
      Resource: [`${bucketArn}/AWSLogs/${account}/*`],
      Condition: { StringEquals: { ...source, "s3:x-amz-acl": "bucket-owner-full-control" } },
    },
  ];
}

export interface Copy {
  readonly bucket: string;
  readonly region: string;
  readonly kmsKeyArn?: string | undefined;
}

/** S3 copies objects from one bucket to the other. Source: docs.aws.amazon.com/AmazonS3/latest/userguide/setting-repl-config-perm-overview.html */
export function replication({ partition }: Pick<Place, "partition">, from: Copy, to: Copy): Statement[] {
  const arn = ({ bucket }: Copy) => `arn:${partition}:s3:::${bucket}`;
  const useKey = (sid: string, action: string, { kmsKeyArn, region }: Copy): Statement[] =>
    kmsKeyArn === undefined
      ? []
      : [
          allow(sid, [action], [kmsKeyArn], {
            StringEquals: { "kms:ViaService": `s3.${region}.${dnsSuffixOf(region)}` },
          }),
        ];
  return [
    allow("ReadSettings", ["s3:GetReplicationConfiguration", "s3:ListBucket"], [arn(from)]),
    allow(
      "ReadVersions",
      ["s3:GetObjectVersionAcl", "s3:GetObjectVersionForReplication", "s3:GetObjectVersionTagging"],
      [`${arn(from)}/*`],
    ),
    allow("WriteCopies", ["s3:ReplicateDelete", "s3:ReplicateObject", "s3:ReplicateTags"], [`${arn(to)}/*`]),
    ...useKey("ReadWithKey", "kms:Decrypt", from),
    ...useKey("WriteWithKey", "kms:Encrypt", to),
  ];
}
