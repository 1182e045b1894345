import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Place } from "../identity/policy.ts";
import { accessLogDelivery } from "../identity/storage-policies.ts";
import { privateBucket } from "./private-bucket.ts";

export interface AccessLogsArgs {
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

  constructor(name: string, args: AccessLogsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:AccessLogs", name, {}, opts);
    const { place, bucketName, retentionDays, protect } = args;
    const { bucket, policy, options } = privateBucket(
      name,
      {
        bucketName,
        place,
        encryption: "AES256",
        // Logs arrive until the last moment, and would stop the destroy of a stack without protection.
        forceDestroy: !protect,
        protect,
        grants: [accessLogDelivery(place, bucketName)],
      },
      this,
    );
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
    this.bucketName = policy.bucket;
    this.registerOutputs({ bucketName: this.bucketName });
  }
}
