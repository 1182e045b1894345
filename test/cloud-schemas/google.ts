/**
 * Google Cloud's resources of a plan against the discovery documents of Google's own APIs: that each field exists where the
 * API has it, has its type, and holds one of its enumeration's values.
 */
import type { PlannedResource } from "../../infra/offline-plan/capture.ts";
import { mask, type Plain } from "../../infra/offline-plan/values.ts";

/** What is used of a JSON schema of a discovery document. */
export interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly enum?: readonly string[];
  readonly pattern?: string;
}

/** By API and version, such as `container.v1`: the document's schemas. */
export type Discovery = Readonly<Record<string, Readonly<Record<string, Schema>>>>;

interface Row {
  readonly api: string;
  readonly schema: string;
  /**
   * By the place in Pulumi's inputs (lists are no step of it): the place in the API, beginning at the same parent; null leaves
   * the field out, for the reason beside it. A place that ends with `!` is one object where Pulumi has a list of one.
   */
  readonly names?: Readonly<Record<string, string | null>>;
  /** What no renaming does. */
  readonly change?: (inputs: Fields) => Fields;
}

// Part of the address of the call, not of its body.
const address = { project: null } as const;
// Terraform's own switches.
const terraform = { forceDestroy: null, deletionProtection: null, removeDefaultNodePool: null } as const;

const nodeConfig = (place: string): Record<string, string> => ({
  [`${place}.guestAccelerators`]: "accelerators",
  [`${place}.guestAccelerators.count`]: "acceleratorCount",
  [`${place}.guestAccelerators.type`]: "acceleratorType",
});

const byId = (list: Plain): Fields =>
  Object.fromEntries((Array.isArray(list) ? list : []).map((item) => [String((item as Fields).id), item]));

const rows: Readonly<Record<string, Row>> = {
  // The repository's id and place are part of the address of the call.
  "gcp:artifactregistry/repository:Repository": {
    api: "artifactregistry.v1",
    schema: "Repository",
    names: { ...address, location: null, repositoryId: null },
    change: ({ cleanupPolicies, ...inputs }) => ({
      ...inputs,
      ...(cleanupPolicies === undefined ? {} : { cleanupPolicies: byId(cleanupPolicies) }),
    }),
  },
  "gcp:dns/recordSet:RecordSet": {
    api: "dns.v1",
    schema: "ResourceRecordSet",
    names: { ...address, managedZone: null },
  },
  "gcp:compute/firewall:Firewall": {
    api: "compute.v1",
    schema: "Firewall",
    names: {
      ...address,
      allows: "allowed",
      "allows.protocol": "IPProtocol",
      denies: "denied",
      "denies.protocol": "IPProtocol",
    },
  },
  "gcp:compute/address:Address": { api: "compute.v1", schema: "Address", names: address },
  "gcp:compute/serviceAttachment:ServiceAttachment": {
    api: "compute.v1",
    schema: "ServiceAttachment",
    names: { ...address, consumerAcceptLists: "consumerAcceptLists" },
  },
  "gcp:compute/securityPolicy:SecurityPolicy": {
    api: "compute.v1",
    schema: "SecurityPolicy",
    names: {
      ...address,
      "rules.match.config.srcIpRanges": "srcIpRanges",
    },
  },
  "gcp:compute/globalAddress:GlobalAddress": { api: "compute.v1", schema: "Address", names: address },
  "gcp:compute/network:Network": {
    api: "compute.v1",
    schema: "Network",
    names: { ...address, routingMode: "routingConfig.routingMode" },
  },
  "gcp:compute/router:Router": { api: "compute.v1", schema: "Router", names: address },
  "gcp:compute/routerNat:RouterNat": {
    api: "compute.v1",
    schema: "RouterNat",
    names: { ...address, region: null, router: null, "subnetworks.sourceIpRangesToNats": "sourceIpRangesToNat" },
  },
  "gcp:compute/sSLPolicy:SSLPolicy": { api: "compute.v1", schema: "SslPolicy", names: address },
  "gcp:compute/subnetwork:Subnetwork": { api: "compute.v1", schema: "Subnetwork", names: address },
  "gcp:container/cluster:Cluster": {
    api: "container.v1",
    schema: "Cluster",
    names: {
      ...address,
      ...terraform,
      // The provider's word for whether addresses are aliases, which ipAllocationPolicy says to the API.
      networkingMode: null,
      minMasterVersion: "initialClusterVersion",
      datapathProvider: "networkConfig.datapathProvider",
      enableL4IlbSubsetting: "networkConfig.enableL4ilbSubsetting",
      enableShieldedNodes: "shieldedNodes.enabled",
      "addonsConfig.rayOperatorConfigs": "rayOperatorConfig!",
      "loggingConfig.enableComponents": "componentConfig.enableComponents",
      "monitoringConfig.enableComponents": "componentConfig.enableComponents",
      "monitoringConfig.managedPrometheus": "managedPrometheusConfig",
      "maintenancePolicy.recurringWindow": "window.recurringWindow",
      "maintenancePolicy.recurringWindow.startTime": "window.startTime",
      "maintenancePolicy.recurringWindow.endTime": "window.endTime",
      "databaseEncryption.keyName": "keyName",
      ...nodeConfig("nodeConfig"),
    },
  },
  "gcp:container/nodePool:NodePool": {
    api: "container.v1",
    schema: "NodePool",
    names: {
      ...address,
      cluster: null,
      location: null,
      nodeLocations: "locations",
      // The default pool's count, in a call of its own.
      nodeCount: null,
      nodeConfig: "config",
      ...nodeConfig("nodeConfig"),
    },
  },
  "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": {
    api: "iam.v1",
    schema: "WorkloadIdentityPool",
    names: { ...address, workloadIdentityPoolId: null },
  },
  "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": {
    api: "iam.v1",
    schema: "WorkloadIdentityPoolProvider",
    names: { ...address, workloadIdentityPoolId: null, workloadIdentityPoolProviderId: null },
  },
  "gcp:projects/iAMAuditConfig:IAMAuditConfig": {
    api: "cloudresourcemanager.v1",
    schema: "AuditConfig",
    names: address,
  },
  "gcp:projects/iAMCustomRole:IAMCustomRole": {
    api: "iam.v1",
    schema: "CreateRoleRequest",
    names: { ...address, title: "role.title", permissions: "role.includedPermissions" },
  },
  // Location and key ring are part of the address of the call.
  "gcp:kms/keyRing:KeyRing": { api: "cloudkms.v1", schema: "KeyRing", names: { ...address, location: null } },
  "gcp:kms/cryptoKey:CryptoKey": { api: "cloudkms.v1", schema: "CryptoKey", names: { ...address, keyRing: null } },
  "gcp:secretmanager/secret:Secret": {
    api: "secretmanager.v1",
    schema: "Secret",
    names: { ...address, ...terraform, secretId: null, "replication.auto": "automatic" },
  },
  "gcp:serviceaccount/account:Account": {
    api: "iam.v1",
    schema: "CreateServiceAccountRequest",
    names: { ...address, displayName: "serviceAccount.displayName", description: "serviceAccount.description" },
  },
  "gcp:storage/bucket:Bucket": {
    api: "storage.v1",
    schema: "Bucket",
    names: {
      ...address,
      ...terraform,
      lifecycleRules: "lifecycle.rule",
      // The provider's three-valued form of the API's `isLive`.
      "lifecycleRules.condition.withState": null,
      publicAccessPrevention: "iamConfiguration.publicAccessPrevention",
      uniformBucketLevelAccess: "iamConfiguration.uniformBucketLevelAccess.enabled",
      "encryption.defaultKmsKeyName": "defaultKmsKeyName",
    },
  },
  "gcp:storage/managedFolder:ManagedFolder": { api: "storage.v1", schema: "ManagedFolder", names: terraform },
};

/** Types that have no body of their own in an API, each with its reason. */
export const untranslated: Readonly<Record<string, string>> = {
  "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": "one member of a binding",
  "gcp:projects/serviceIdentity:ServiceIdentity": "asks for Google's own account, with an API's name",
  "gcp:projects/iAMMember:IAMMember":
    "one member of a binding: a role and a principal, which discovery documents do not list",
  "gcp:projects/service:Service": "an API's name, which discovery documents do not list",
  "gcp:secretmanager/secretIamMember:SecretIamMember": "one member of a binding",
  "gcp:secretmanager/secretVersion:SecretVersion": "a secret's value, in base64 on its way",
  "gcp:serviceaccount/iAMMember:IAMMember": "one member of a binding",
  "gcp:storage/bucketIAMMember:BucketIAMMember": "one member of a binding",
  "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": "one member of a binding",
};

type Fields = Record<string, Plain>;
const isFields = (value: Plain): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const put = (target: Fields, place: string, value: Plain): void => {
  const [head = "", ...rest] = place.split(".");
  const inner = target[head];
  if (rest.length > 0) {
    const next: Fields = inner !== undefined && isFields(inner) ? inner : {};
    target[head] = next;
    put(next, rest.join("."), value);
  } else if (inner !== undefined && isFields(inner) && isFields(value)) Object.assign(inner, value);
  else target[head] = value;
};

function rename(value: Plain, names: Readonly<Record<string, string | null>>, place: string): Plain {
  if (Array.isArray(value)) return value.map((item) => rename(item, names, place));
  if (!isFields(value)) return value;
  const result: Fields = {};
  for (const [key, inner] of Object.entries(value)) {
    const at = place === "" ? key : `${place}.${key}`;
    const name = at in names ? names[at] : key;
    if (name === null || name === undefined) continue;
    const renamed = rename(inner, names, at);
    if (name.endsWith("!")) put(result, name.slice(0, -1), Array.isArray(renamed) ? (renamed[0] ?? null) : renamed);
    else if (name === key)
      // A key of the user's, such as a label, may hold dots.
      result[key] = renamed;
    else put(result, name, renamed);
  }
  return result;
}

const fits: Readonly<Record<string, (value: Plain) => boolean>> = {
  // Discovery documents write 64-bit integers as text, and the provider some booleans.
  string: (value) => typeof value === "string" || typeof value === "number",
  integer: (value) => Number.isInteger(Number(value)),
  number: (value) => Number.isFinite(Number(value)),
  boolean: (value) => typeof value === "boolean" || /^(true|false)$/i.test(String(value)),
};

function* judge(
  value: Plain,
  schema: Schema,
  schemas: Readonly<Record<string, Schema>>,
  place: string,
): Generator<string> {
  if (value === null) return;
  if (schema.$ref !== undefined) {
    yield* judge(value, schemas[schema.$ref] ?? {}, schemas, place);
    return;
  }
  if (schema.type === "array") {
    if (!Array.isArray(value)) yield `${place} is no list`;
    else
      for (const [index, item] of value.entries())
        yield* judge(item, schema.items ?? {}, schemas, `${place}[${index}]`);
  } else if (schema.type === "object") {
    if (!isFields(value)) yield `${place} is no object`;
    else
      for (const [key, inner] of Object.entries(value)) {
        const next = schema.properties?.[key] ?? schema.additionalProperties;
        if (next === undefined) yield `${place}.${key} is no field of the API`;
        else yield* judge(inner, next, schemas, `${place}.${key}`);
      }
  } else if (schema.type !== undefined && fits[schema.type]?.(value) === false)
    yield `${place} is ${JSON.stringify(value)}, which is no ${schema.type}`;
  else if (schema.enum !== undefined && !schema.enum.includes(String(value)))
    yield `${place} is ${JSON.stringify(value)}: one of ${schema.enum.join(", ")}`;
  else if (schema.pattern !== undefined && !new RegExp(`^(?:${schema.pattern})$`).test(String(value)))
    yield `${place} is ${JSON.stringify(value)}: it must match ${schema.pattern}`;
}

export interface Judged {
  /** Resources that were held against a document. */
  readonly judged: number;
  readonly faults: readonly string[];
}

/** Every resource of Google Cloud against its API. A type that no table knows is a fault: it must be added here. */
export function judgeGoogle(resources: readonly PlannedResource[], discovery: Discovery): Judged {
  const faults: string[] = [];
  let judged = 0;
  for (const { type, name, kind, inputs } of resources) {
    if (!type.startsWith("gcp:") || kind !== "custom" || type in untranslated) continue;
    const row = rows[type];
    const schemas = discovery[row?.api ?? ""];
    const schema = schemas?.[row?.schema ?? ""];
    if (row === undefined || schemas === undefined || schema === undefined) {
      faults.push(`${type}: no row of test/cloud-schemas/google.ts, or no such schema`);
      continue;
    }
    judged++;
    const { change = (same: Fields) => same } = row;
    const body = change(mask(inputs) as Fields);
    faults.push(...judge(rename(body, row.names ?? {}, ""), schema, schemas, `${type} ${name}`));
  }
  return { judged, faults };
}
