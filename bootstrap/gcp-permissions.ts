/** What the identities of the workflows may do in a Google Cloud project. */

import { type Environment, issuer } from "./github.ts";

/** The roles of the deployer on the project. They include to grant roles, so that it is as powerful as an owner. */
export const deployerRoles = [
  "roles/artifactregistry.admin",
  "roles/cloudkms.admin",
  "roles/compute.networkAdmin",
  "roles/compute.securityAdmin",
  "roles/container.admin",
  "roles/dns.admin",
  "roles/iam.serviceAccountAdmin",
  "roles/iam.serviceAccountUser",
  "roles/resourcemanager.projectIamAdmin",
  "roles/secretmanager.admin",
  "roles/serviceusage.serviceUsageAdmin",
  "roles/storage.admin",
] as const;

/** The roles of previews and drift on the project. `roles/viewer` would also read the objects of buckets. */
export const readerRoles = ["roles/artifactregistry.reader", "roles/compute.viewer", "roles/container.viewer"] as const;

/** What a refresh reads beside the readers' roles, by the type of the resource. */
export const readerPermissions: Readonly<Record<string, readonly string[]>> = {
  "gcp:dns/recordSet:RecordSet": ["dns.managedZones.get", "dns.resourceRecordSets.get", "dns.resourceRecordSets.list"],
  "gcp:kms/cryptoKey:CryptoKey": ["cloudkms.cryptoKeys.get"],
  "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": ["cloudkms.cryptoKeys.getIamPolicy"],
  "gcp:kms/keyRing:KeyRing": ["cloudkms.keyRings.get"],
  "gcp:projects/iAMAuditConfig:IAMAuditConfig": ["resourcemanager.projects.getIamPolicy"],
  "gcp:projects/iAMMember:IAMMember": ["resourcemanager.projects.get", "resourcemanager.projects.getIamPolicy"],
  "gcp:projects/service:Service": ["serviceusage.services.get", "serviceusage.services.list"],
  "gcp:secretmanager/secret:Secret": ["secretmanager.secrets.get"],
  "gcp:secretmanager/secretIamMember:SecretIamMember": ["secretmanager.secrets.getIamPolicy"],
  "gcp:serviceaccount/account:Account": ["iam.serviceAccounts.get"],
  "gcp:serviceaccount/iAMMember:IAMMember": ["iam.serviceAccounts.getIamPolicy"],
  "gcp:storage/bucket:Bucket": ["storage.buckets.get"],
  "gcp:storage/bucketIAMMember:BucketIAMMember": ["storage.buckets.getIamPolicy"],
  "gcp:storage/managedFolder:ManagedFolder": ["storage.managedFolders.get"],
  "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": ["storage.managedFolders.getIamPolicy"],
};

/** Helm keeps its releases in Secrets, which a refresh reads. */
export const secretsPermissions = ["container.secrets.get", "container.secrets.list"] as const;

/**
 * The condition of the identity provider: a token of one of the environments. Tokens of deployments and of the drift check are
 * of jobs on `main`.
 */
export function tokenCondition(environments: readonly Environment[]): string {
  const among = (chosen: readonly Environment[]) =>
    `assertion.sub in [${chosen.map(({ subject }) => `'${subject}'`).join(", ")}]`;
  const isPreview = ({ purpose }: Environment) => purpose === "preview";
  return [
    among(environments.filter(isPreview)),
    `(assertion.ref == 'refs/heads/main' && ${among(environments.filter((one) => !isPreview(one)))})`,
  ].join(" || ");
}

export const oidc = { issuerUri: issuer };

/** The IAM member that is a token's bearer. */
export const bearer = (pool: string, { subject }: Pick<Environment, "subject">): string =>
  `principal://iam.googleapis.com/${pool}/subject/${subject}`;
