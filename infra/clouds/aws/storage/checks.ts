import { checkBucketName } from "../../../config/checks/bucket-name.ts";
import { checkRegion } from "../../../config/checks/regions.ts";
import { errorIf, type Finding } from "../../../config/report.ts";
import { historyBucket } from "../../../model/history.ts";
import { accessLogsBucket } from "../exposure/exposure.ts";
import { partitionOf } from "../identity/arn.ts";
import { auditLogsBucket } from "../identity/storage-policies.ts";
import { awsRegions } from "../regions.ts";
import type { AwsConfig } from "../schema.ts";

/** Source: docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
export const reservedBucketNames = [/^(xn--|sthree-|amzn-s3-demo-)/, /(-s3alias|--ol-s3|--x-s3|--table-s3)$/];

/** What S3 would refuse of the tables' bucket, its copy and its logs. */
export const checkBuckets = (config: AwsConfig): Finding[] => [
  ...checkBucketName(config.bucket.name, reservedBucketNames),
  ...checkLogs(config),
  ...checkReplica(config),
];

/** S3's maximum. */
const longestBucketName = 63;

function checkLogs({ bucket, ray, tableService: { enabled, exposure } }: AwsConfig): Finding[] {
  const { name, auditAccess } = bucket;
  const longest = (key: string, used: boolean, nameOf: (tables: string) => string) =>
    errorIf(
      used && nameOf(name).length > longestBucketName,
      [key, true],
      `the bucket ${nameOf(name)} would have a name of ${nameOf(name).length} characters, and S3 allows ${longestBucketName}`,
      `write a bucket.name of at most ${longestBucketName - nameOf("").length} characters, or ${key.split(".").at(-1)}: false`,
    );
  return [
    ...longest(
      "tableService.exposure.accessLogs",
      enabled && exposure.mode === "public" && exposure.accessLogs,
      accessLogsBucket,
    ),
    ...longest("bucket.auditAccess", auditAccess, auditLogsBucket),
    ...longest("ray.history.enabled", ray.history.enabled, historyBucket),
  ];
}

function checkReplica({ region, bucket: { create, name, replica, versioning } }: AwsConfig): Finding[] {
  if (replica === undefined) return [];
  return [
    ...errorIf(
      !create,
      "bucket.replica",
      "the stack does not change an existing bucket",
      "leave it out, and replicate the bucket where it is created",
    ),
    ...errorIf(
      !versioning,
      "bucket.versioning",
      "S3 copies objects of versioned buckets only",
      "write bucket.versioning: true, or leave out bucket.replica",
    ),
    ...errorIf(
      replica.region === region || replica.name === name,
      "bucket.replica",
      "the copy is another bucket in another region",
      `write another name, and a region other than ${region}`,
    ),
    ...errorIf(
      partitionOf(replica.region) !== partitionOf(region),
      "bucket.replica.region",
      `it is not in the partition ${partitionOf(region)}`,
      "write a region of the same partition",
    ),
    ...checkRegion(replica.region, awsRegions, "bucket.replica.region"),
    ...checkBucketName(replica.name, reservedBucketNames, "bucket.replica.name"),
  ];
}
