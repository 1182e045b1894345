/** What the engine refuses to delete, what it leaves behind, and nothing else. */

import type { Capture } from "../../../../infra/offline-plan/capture.ts";
import { describe, ofType } from "../../../support/infra/graph.ts";

/** Holds data, or carries the whole platform: protected in a stack that is configured so. */
export const meant = [
  "aws:amp/workspace:Workspace",
  "aws:ec2/vpc:Vpc",
  "aws:eks/cluster:Cluster",
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
  "aws:kms/key:Key",
  "aws:s3/bucket:Bucket",
  "gcp:compute/network:Network",
  "gcp:compute/subnetwork:Subnetwork",
  "gcp:container/cluster:Cluster",
  "gcp:kms/cryptoKey:CryptoKey",
  "gcp:storage/bucket:Bucket",
  "kubernetes:core/v1:PersistentVolumeClaim",
];

/** Stays on destroy: RayClusters of others would go with the definitions, and the tables with their bucket. */
const kept = ["kubernetes:yaml/v2:ConfigGroup", "aws:s3/bucket:Bucket", "gcp:storage/bucket:Bucket"];

/** Stays with a bucket that stays: what keeps it readable, private and versioned. */
const keptWithBucket = (type: string, name: string): boolean =>
  type.startsWith("aws:s3/bucket") || (type === "aws:kms/key:Key" && name === "tables-key");

/** `protect` is inherited through `parent`: a node group under a protected cluster could not be deleted. */
export function strayMarks({ resources }: Capture): string[] {
  return resources
    .filter(({ kind }) => kind !== "component")
    .flatMap((resource) => [
      ...(resource.protect && !meant.includes(resource.type) ? [`${describe(resource)} is protected`] : []),
      ...(resource.retainOnDelete && !kept.includes(resource.type) && !keptWithBucket(resource.type, resource.name)
        ? [`${describe(resource)} is kept`]
        : []),
    ]);
}

export function unprotected({ resources }: Capture): string[] {
  return ofType(resources, ...meant)
    .filter(({ protect }) => !protect)
    .map((resource) => `${describe(resource)} is not protected`);
}

export function notRetained({ resources }: Capture): string[] {
  return ofType(resources, "kubernetes:yaml/v2:ConfigGroup")
    .filter(({ retainOnDelete }) => !retainOnDelete)
    .map((resource) => `${describe(resource)} would be deleted`);
}

/** Cloud-side protection beside the engine's own, which `--ignore-protect` goes around. */
export function cloudProtection({ resources }: Capture): string[] {
  return [
    ...ofType(resources, "aws:eks/cluster:Cluster", "gcp:container/cluster:Cluster")
      .filter(({ protect, inputs }) => inputs.deletionProtection !== protect)
      .map((resource) => `${describe(resource)}: deletionProtection is not ${resource.protect}`),
    ...ofType(resources, "aws:s3/bucket:Bucket", "gcp:storage/bucket:Bucket")
      .filter(({ inputs, protect }) => protect && inputs.forceDestroy === true)
      .map((resource) => `${describe(resource)} would be deleted with all objects in it`),
  ];
}
