import { readFileSync } from "node:fs";

/**
 * Inputs whose change makes a provider delete the resource and create another one, for the types that the stacks use. The
 * offline plan cannot ask the provider. A type that is not listed is never marked. Some inputs force a replacement in one
 * direction only; they are listed, because a missing warning is worse than one too many.
 *
 * What the providers' schemas mark is in force-new/. A test compares the rest of the AWS and Google entries with other
 * documents (test/support/infra). Kubernetes: `forceNewProperties` in pulumi-kubernetes, provider/pkg/provider/diff.go.
 */

const terraformAws = "the AWS provider replaces on this input";
const terraformGcp = "the Google provider replaces on this input";
const kubernetes = "Kubernetes does not allow this field to change";
const identity = "the provider has another identity, and every resource on it is replaced";

type Table = Readonly<Record<string, readonly string[]>>;

/** Nested inputs by their path, without indexes; a block that is marked is represented by the marked inputs in it. */
const markedBy = (provider: "aws" | "google"): Table =>
  JSON.parse(readFileSync(new URL(`force-new/${provider}.json`, import.meta.url), "utf8")).types;

export const marked: Table = { ...markedBy("aws"), ...markedBy("google") };

/** Inputs that other documents name, and whole blocks of which the schemas mark a part. */
const unmarked: Table = {
  "aws:cloudtrail/trail:Trail": ["name"],
  "aws:ec2/internetGateway:InternetGateway": [],
  "aws:ec2/vpcEndpointService:VpcEndpointService": [],
  "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": ["upstreamRepositoryPrefix"],
  "aws:eks/addon:Addon": ["namespaceConfig"],
  "aws:eks/cluster:Cluster": ["bootstrapSelfManagedAddons", "encryptionConfig", "outpostConfig"],
  "aws:route53/record:Record": ["type"],
  "aws:s3/bucketReplicationConfig:BucketReplicationConfig": ["bucket"],
  "aws:secretsmanager/secretVersion:SecretVersion": ["secretStringWoVersion"],
  "aws:wafv2/webAcl:WebAcl": ["name", "namePrefix", "scope"],
  "aws:wafv2/webAclAssociation:WebAclAssociation": ["resourceArn", "webAclArn"],
  "gcp:compute/network:Network": ["params"],
  "gcp:compute/serviceAttachment:ServiceAttachment": ["domainNames", "name", "region"],
  "gcp:compute/subnetwork:Subnetwork": ["params"],
  "gcp:container/cluster:Cluster": [
    "confidentialNodes",
    "ipAllocationPolicy",
    "nodeConfig",
    "tpuConfig",
    "userManagedKeysConfig",
  ],
  "gcp:container/nodePool:NodePool": [
    "networkConfig.additionalNodeNetworkConfigs",
    "networkConfig.additionalPodNetworkConfigs",
    "nodeConfig.confidentialNodes",
    "nodeConfig.ephemeralStorageConfig",
    "nodeConfig.ephemeralStorageLocalSsdConfig",
    "nodeConfig.guestAccelerators",
    "nodeConfig.hostMaintenancePolicy",
    "nodeConfig.localNvmeSsdBlockConfig",
    "nodeConfig.reservationAffinity",
    "nodeConfig.secondaryBootDisks",
    "nodeConfig.shieldedInstanceConfig",
    "nodeConfig.soleTenantConfig",
    "placementPolicy",
    "queuedProvisioning",
  ],
  "gcp:projects/iAMAuditConfig:IAMAuditConfig": [],
  "gcp:projects/serviceIdentity:ServiceIdentity": ["service"],
  "gcp:storage/bucket:Bucket": ["customPlacementConfig", "hierarchicalNamespace"],
};

/** In addition to the name and namespace of every object. */
const objects: Table = {
  "kubernetes:apps/v1:DaemonSet": ["spec.selector"],
  "kubernetes:apps/v1:Deployment": ["spec.selector"],
  "kubernetes:apps/v1:StatefulSet": [
    "spec.podManagementPolicy",
    "spec.revisionHistoryLimit",
    "spec.selector",
    "spec.serviceName",
    "spec.volumeClaimTemplates",
  ],
  "kubernetes:batch/v1:Job": ["spec.completions", "spec.parallelism", "spec.selector", "spec.template"],
  "kubernetes:core/v1:ConfigMap": ["data", "binaryData"],
  "kubernetes:core/v1:PersistentVolumeClaim": [
    "spec.accessModes",
    "spec.selector",
    "spec.storageClassName",
    "spec.volumeName",
  ],
  "kubernetes:core/v1:ResourceQuota": ["spec.scopes"],
  "kubernetes:core/v1:Secret": ["data", "stringData", "type"],
  "kubernetes:core/v1:Service": ["spec.clusterIP"],
  "kubernetes:helm.sh/v3:Release": ["name", "namespace"],
  "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ["roleRef"],
  "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ["roleRef"],
  "kubernetes:storage.k8s.io/v1:StorageClass": ["parameters", "provisioner"],
};

/**
 * Inputs that identify what a provider acts on. Source: DiffConfig in pulumi-kubernetes, provider/pkg/provider/provider.go. An
 * identifier that is added or removed replaces nothing.
 */
const providers: Table = {
  "pulumi:providers:kubernetes": ["clusterIdentifier", "renderYamlToDirectory"],
};

/** Paths of inputs by type. */
export const tables: Table = Object.fromEntries(
  [...new Set([...Object.keys(marked), ...Object.keys(unmarked)])].map((type) => [
    type,
    [...(marked[type] ?? []), ...(unmarked[type] ?? [])],
  ]),
);

/** A test requires that every type of the stacks is among them. */
export const knownTypes: ReadonlySet<string> = new Set(Object.keys(tables));

const covers = (properties: readonly string[] | undefined, path: string): boolean =>
  properties?.some(
    (property) => path === property || path.startsWith(`${property}.`) || path.startsWith(`${property}[`),
  ) ?? false;

/**
 * Inputs that the provider computes where the program leaves them out: removing one changes nothing. Source: Optional and
 * Computed in the provider's schemas.
 */
const computedWithout: Table = {
  "gcp:container/nodePool:NodePool": ["nodeLocations"],
};

/** Whether the removal of an input leaves the resource as it is. */
export const keepsWithout = (type: string, property: string): boolean =>
  computedWithout[type]?.includes(property) ?? false;

/** Ranges of IPv4 addresses that may grow in place. Source: expandIpCidrRange in Google's Compute Engine API. */
const growing: Readonly<Record<string, string>> = { "gcp:compute/subnetwork:Subnetwork": "ipCidrRange" };

/** Whether the provider changes the range in place, because the new one contains the old one. */
export function growsInPlace(type: string, path: string, before: unknown, after: unknown): boolean {
  if (growing[type] !== path) return false;
  const [old, now] = [before, after].map((range) => {
    const [address = "", prefix = ""] = String(range).split("/");
    return { bits: address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0), prefix: Number(prefix) };
  });
  if (old === undefined || now === undefined || !(now.prefix <= old.prefix)) return false;
  const size = 2 ** (32 - now.prefix);
  return Math.floor(old.bits / size) === Math.floor(now.bits / size);
}

/**
 * Why a change of this input likely replaces the resource; undefined where it does not.
 *
 * @param path - The input's path without list indexes, such as `nodeConfig.spot`.
 * @param changed - Whether the input has a value before and after.
 */
export function replacementSource(type: string, path: string, changed = true): string | undefined {
  if (covers(providers[type], path)) return changed ? identity : undefined;
  if (type.startsWith("aws:")) return covers(tables[type], path) || path === "region" ? terraformAws : undefined;
  if (type.startsWith("gcp:")) return covers(tables[type], path) || path === "project" ? terraformGcp : undefined;
  if (!type.startsWith("kubernetes:")) return undefined;
  return covers(objects[type], path) || covers(["metadata.name", "metadata.namespace"], path) ? kubernetes : undefined;
}
