/** Google Cloud's resources of a plan as Terraform's JSON, for scanners that read no other form. */
import type { PlannedResource } from "../../infra/offline-plan/capture.ts";
import { mask, type Plain } from "../../infra/offline-plan/values.ts";

export interface TerraformFile {
  readonly resource: Readonly<Record<string, Readonly<Record<string, Record<string, Plain>>>>>;
}

const snake = (name: string): string =>
  name
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase();

/** Types whose Terraform name is not `google_<module>_<name>`. */
const types: Readonly<Record<string, string>> = {
  "gcp:artifactregistry/repository:Repository": "google_artifact_registry_repository",
  "gcp:projects/iAMMember:IAMMember": "google_project_iam_member",
  "gcp:projects/service:Service": "google_project_service",
  "gcp:projects/serviceIdentity:ServiceIdentity": "google_project_service_identity",
  "gcp:secretmanager/secret:Secret": "google_secret_manager_secret",
  "gcp:secretmanager/secretIamMember:SecretIamMember": "google_secret_manager_secret_iam_member",
  "gcp:secretmanager/secretVersion:SecretVersion": "google_secret_manager_secret_version",
  "gcp:serviceaccount/account:Account": "google_service_account",
  "gcp:serviceaccount/iAMMember:IAMMember": "google_service_account_iam_member",
};

/** Blocks that Terraform names in the singular. Pulumi makes lists of them, and names those in the plural. */
const blocks: ReadonlySet<string> = new Set([
  ...[
    "allows",
    "denies",
    "rules",
    "lifecycleRules",
    "cleanupPolicies",
    "secondaryIpRanges",
    "cidrBlocks",
    "subnetworks",
  ],
  ...["taints", "guestAccelerators"],
]);

const singular = (name: string): string => (blocks.has(name) ? name.replace(/ies$/, "y").replace(/s$/, "") : name);

const body = (value: Plain): Plain =>
  Array.isArray(value)
    ? value.map(body)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [snake(singular(key)), body(inner)]))
      : value;

export function toTerraform(resources: readonly PlannedResource[]): TerraformFile {
  const file: Record<string, Record<string, Record<string, Plain>>> = {};
  for (const { type, name, inputs, protect } of resources) {
    if (!type.startsWith("gcp:")) continue;
    const [, module = "", kind = ""] = /^gcp:(\w+)\/(\w+):/.exec(type) ?? [];
    const terraformType = types[type] ?? `google_${snake(module)}_${snake(kind)}`;
    const own = file[terraformType] ?? {};
    own[name] = {
      ...Object.fromEntries(Object.entries(inputs).map(([key, value]) => [snake(singular(key)), body(mask(value))])),
      // Pulumi's option is Terraform's of another name.
      ...(protect ? { lifecycle: { prevent_destroy: true } } : {}),
    };
    file[terraformType] = own;
  }
  return { resource: file };
}
