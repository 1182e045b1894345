import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Place } from "../identity/policy.ts";
import { accessLogDelivery, type BucketScope, trailDelivery } from "../identity/storage-policies.ts";
import { logBucket } from "./private-bucket.ts";

export interface LogsArgs {
  readonly place: Place;
  readonly bucketName: string;
  /** Days until a log file is deleted. */
  readonly retentionDays: number;
  readonly protect: boolean;
}

/** The bucket in which a public load balancer records every request. Elastic Load Balancing writes with S3's own keys only. */
export class AccessLogs extends pulumi.ComponentResource {
  /** Known when load balancers can write to it. */
  readonly bucketName: pulumi.Output<string>;

  constructor(name: string, args: LogsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:AccessLogs", name, {}, opts);
    const grants = [accessLogDelivery(args.place, args.bucketName)];
    this.bucketName = logBucket(name, { ...args, grants }, this);
    this.registerOutputs({ bucketName: this.bucketName });
  }
}

export interface AuditTrailArgs extends LogsArgs {
  readonly tables: pulumi.Output<BucketScope>;
}

/** A trail of CloudTrail that records each request for objects of the tables. */
export class AuditTrail extends pulumi.ComponentResource {
  constructor(name: string, { tables, ...args }: AuditTrailArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:AuditTrail", name, {}, opts);
    const { place, bucketName } = args;
    const trail = `${place.cluster}-tables`;
    const grants = trailDelivery(place, bucketName, trail);
    const objects = tables.apply(
      ({ bucket, prefix }) => `arn:${place.partition}:s3:::${bucket}/${prefix === "" ? "" : `${prefix}/`}`,
    );
    new aws.cloudtrail.Trail(
      name,
      {
        name: trail,
        s3BucketName: logBucket(name, { ...args, grants }, this),
        enableLogFileValidation: true,
        includeGlobalServiceEvents: false,
        isMultiRegionTrail: false,
        advancedEventSelectors: [
          {
            name: "Objects of the tables",
            fieldSelectors: [
              { field: "eventCategory", equals: ["Data"] },
              { field: "resources.type", equals: ["AWS::S3::Object"] },
              { field: "resources.ARN", startsWiths: [objects] },
            ],
          },
        ],
      },
      { parent: this },
    );
  }
}
