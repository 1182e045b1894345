import * as pulumi from "@pulumi/pulumi";
import { historyBucket, historyServer } from "../../model/history.ts";
import type { HistoryPlace } from "../cloud.ts";
import { historyPolicy } from "./identity/cluster-policies.ts";
import type { Place } from "./identity/policy.ts";
import { Role, trustServiceAccount } from "./identity/role.ts";
import type { AwsConfig } from "./schema.ts";
import { logBucket } from "./storage/private-bucket.ts";

export interface HistoryArgs {
  readonly place: Place;
  readonly config: AwsConfig;
  readonly oidcProviderArn: pulumi.Output<string>;
}

/** The bucket of the history of RayClusters, and the identity of the server that reads it. Ray's pods write with their own. */
export class History extends pulumi.ComponentResource {
  readonly at: HistoryPlace;

  constructor(name: string, { place, config, oidcProviderArn }: HistoryArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:aws:History", name, {}, opts);
    const tables = config.bucket.name;
    const bucketName = historyBucket(tables);
    logBucket(name, { place, bucketName, retentionDays: config.ray.history.days, protect: config.protect }, this);
    const role = new Role(
      `${name}-server`,
      {
        description: `History server of ${place.cluster}`,
        trust: trustServiceAccount(oidcProviderArn, config.namespace, historyServer),
        policies: { history: JSON.stringify(historyPolicy(place, tables, "read")) },
      },
      { parent: this },
    );
    this.at = {
      store: { STORAGE_BACKEND: "s3", S3_BUCKET: bucketName, S3_REGION: place.region, AWS_REGION: place.region },
      serverAnnotations: { "eks.amazonaws.com/role-arn": role.arn },
    };
    this.registerOutputs({});
  }
}
