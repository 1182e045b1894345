/** Pages of those who use the service, which need npm alone. Blocks of Python need Python 3; those of the catalog and of backups need MinIO. */
export const servicePages: readonly string[] = [
  "README.md",
  "docs/api.md",
  "docs/writes.md",
  "docs/blobs.md",
  "docs/plan-doctor.md",
  "docs/maintenance.md",
  "docs/catalog.md",
  "docs/jobs.md",
  "docs/functions.md",
  "docs/backups.md",
];

/** Pages of those who deploy. Blocks of Pulumi's CLI need the engine that `npm run build:e2e` builds. */
export const deploymentPages: readonly string[] = [
  "docs/bootstrap.md",
  "docs/deploy-aws.md",
  "docs/deploy-gcp.md",
  "docs/deploy-existing-cluster.md",
  "docs/geneva.md",
  "docs/destroy.md",
];

/** What a reader follows from nothing to the first job: the sections that hold the steps, by page. */
export const paths: Readonly<Record<string, readonly (readonly [page: string, section: string])[]>> = {
  "an AWS account": [
    ["docs/bootstrap.md", "Steps"],
    ["docs/deploy-aws.md", "Steps"],
    ["docs/geneva.md", "Connect the client"],
  ],
  "a Google Cloud project": [
    ["docs/bootstrap.md", "Steps"],
    ["docs/deploy-gcp.md", "Steps"],
    ["docs/geneva.md", "Connect the client"],
  ],
  "a cluster that exists": [
    ["docs/deploy-existing-cluster.md", "Steps, on kind"],
    ["docs/geneva.md", "Connect the client"],
  ],
};
