/**
 * Changes of resources whose own inputs stay the same, caused by a change of another resource. The engine discovers these
 * during an update; the offline plan derives them from tables. Pure.
 */

import { outline, type ResourceDiff } from "./changes.ts";
import { leaves, withoutIndexes } from "./leaves.ts";
import type { PlanEntry } from "./plan.ts";
import { replacementSource } from "./replacements.ts";

/**
 * Types that carry the default tags or labels of their provider, by the output that holds them. A change of the defaults
 * updates all of them. A test compares this list with the SDKs.
 */
export const inheriting: Readonly<Record<"tagsAll" | "effectiveLabels", readonly string[]>> = {
  tagsAll: [
    "aws:acm/certificate:Certificate",
    "aws:amp/ruleGroupNamespace:RuleGroupNamespace",
    "aws:amp/workspace:Workspace",
    "aws:cloudtrail/trail:Trail",
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:ec2/eip:Eip",
    "aws:ec2/flowLog:FlowLog",
    "aws:ec2/internetGateway:InternetGateway",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/natGateway:NatGateway",
    "aws:ec2/routeTable:RouteTable",
    "aws:ec2/securityGroup:SecurityGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/vpc:Vpc",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:ec2/vpcEndpointService:VpcEndpointService",
    "aws:ecr/repository:Repository",
    "aws:eks/accessEntry:AccessEntry",
    "aws:eks/addon:Addon",
    "aws:eks/cluster:Cluster",
    "aws:eks/nodeGroup:NodeGroup",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
    "aws:iam/policy:Policy",
    "aws:iam/role:Role",
    "aws:kms/key:Key",
    "aws:s3/bucket:Bucket",
    "aws:secretsmanager/secret:Secret",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:wafv2/webAcl:WebAcl",
  ],
  effectiveLabels: [
    "gcp:artifactregistry/repository:Repository",
    "gcp:compute/address:Address",
    "gcp:compute/globalAddress:GlobalAddress",
    "gcp:compute/securityPolicy:SecurityPolicy",
    "gcp:container/cluster:Cluster",
    "gcp:kms/cryptoKey:CryptoKey",
    "gcp:secretmanager/secret:Secret",
    "gcp:storage/bucket:Bucket",
  ],
};

const inheritedBy: ReadonlyMap<string, string> = new Map(
  Object.entries(inheriting).flatMap(([output, types]) => types.map((type) => [type, output] as const)),
);

interface Renewal {
  /** The input whose change has the effect; default: any. */
  readonly by?: string;
  /** The input of other resources that takes the output; default: any. */
  readonly of?: string;
}

/** Types whose update changes an output: a launch template gets its next version, an image another digest. */
const renewed: Readonly<Record<string, Renewal>> = {
  "aws:ec2/launchTemplate:LaunchTemplate": {},
  "docker-build:index:Image": {},
  // The kubeconfig names the host of the control plane, which is another one with a DNS endpoint.
  "gcp:container/cluster:Cluster": { by: "controlPlaneEndpointsConfig", of: "kubeconfig" },
};

const nodeGroup = "aws:eks/nodeGroup:NodeGroup";
const nodePool = "gcp:container/nodePool:NodePool";
const rayCluster = "kubernetes:ray.io/v1:RayCluster";

const below = (path: string, properties: readonly string[]): boolean =>
  properties.some((property) => path === property || path.startsWith(`${property}.`));

/**
 * Inputs of nodes that GKE changes in place. Any other change of `nodeConfig` or of the version recreates the nodes. Source:
 * `UpdateNodePoolRequest` in GKE's API; a test compares the list with its text in Google's client library.
 */
const keepingNodes = ["labels", "taints", "tags", "resourceLabels", "resourceManagerTags"].map(
  (property) => `nodeConfig.${property}`,
);

const podFields = ["tolerations", "schedulingGates"].map((field) => `template.spec.${field}`);
/**
 * Inputs of a RayCluster whose change does not recreate it. Source: GenerateHashWithoutReplicasAndWorkersToDelete in KubeRay
 * 1.6.1, ray-operator/controllers/ray/utils/util.go.
 */
const keepingRay = [
  "spec.upgradeStrategy",
  ...podFields.map((field) => `spec.headGroupSpec.${field}`),
  ...["replicas", "minReplicas", "maxReplicas", "scaleStrategy.workersToDelete", ...podFields].map(
    (field) => `spec.workerGroupSpecs.${field}`,
  ),
];

interface Disruption {
  /** The operation, as a verb and its object. */
  readonly action: string;
  readonly warning: string;
  /** Whether a change of the input has the effect. */
  readonly by: (path: string) => boolean;
}

const disruptions: Readonly<Record<string, Disruption>> = {
  // EKS replaces the nodes for another version of Kubernetes or of the launch template.
  [nodeGroup]: {
    action: "replaces every node of a node group, which ends the jobs on them",
    warning: "replaces the group's nodes one after another; jobs on them end",
    by: (path) => below(path, ["launchTemplate", "version", "releaseVersion"]),
  },
  [nodePool]: {
    action: "replaces every node of a node group, which ends the jobs on them",
    warning: "replaces the pool's nodes one after another; jobs on them end",
    by: (path) => below(path, ["version", "nodeConfig"]) && !below(path, keepingNodes),
  },
  // The stacks set `upgradeStrategy: Recreate`.
  [rayCluster]: {
    action: "recreates a Ray cluster, which ends its jobs",
    warning: "recreates the Ray cluster: running jobs end",
    by: (path) => below(path, ["spec"]) && !below(path, keepingRay),
  },
};

/** What an update of these inputs ends, though the resource itself stays; undefined where it ends nothing. */
export function disruption(type: string, paths: readonly string[]): Omit<Disruption, "by"> | undefined {
  const found = disruptions[type];
  return found !== undefined && paths.some((path) => found.by(withoutIndexes(path))) ? found : undefined;
}

const subnetwork = "gcp:compute/subnetwork:Subnetwork";
const volumeClaim = "kubernetes:core/v1:PersistentVolumeClaim";

/** Effects of an update in the cloud that neither its inputs nor the engine show. */
function warnings({ op, type, changes, follows }: ResourceDiff): string[] {
  if (op === "replace" && type === subnetwork)
    return [
      "Google creates the new one first, and refuses ranges that overlap the old one's: give nodeCidr, podCidr and serviceCidr " +
        "free ranges, or destroy the stack first",
    ];
  if (op !== "change") return [];
  const ranges = changes.some(({ path }) => type === subnetwork && /^secondaryIpRanges\b.*ipCidrRange$/.test(path));
  const effective = changes.filter(({ ignored }) => !ignored);
  const paths = [...effective.map(({ path }) => path), ...(follows === undefined ? [] : [follows.property])];
  const disrupts = disruption(type, paths);
  const scaled = type === nodeGroup && paths.some((path) => below(path, ["scalingConfig"]));
  const raised = effective.some(
    ({ path, before, after }) => path === "scalingConfig.minSize" && Number(after) > Number(before),
  );
  return [
    ...(disrupts === undefined ? [] : [disrupts.warning]),
    ...(type === volumeClaim && paths.some((path) => below(path, ["spec.resources"]))
      ? ["a volume can only grow, and only where its StorageClass has `allowVolumeExpansion`; otherwise `up` fails"]
      : []),
    ...(ranges
      ? [
          "Google refuses another range while a cluster uses it: destroy the cluster first, or leave podCidr and serviceCidr",
        ]
      : []),
    ...(scaled
      ? ["sets the group's size to the recorded one: run `pulumi up --refresh`, or running workers are stopped"]
      : []),
    ...(scaled && raised
      ? ["AWS refuses a minimum above the current number of nodes: raise the number of nodes first"]
      : []),
  ];
}

const updates = ({ op, changes, follows }: ResourceDiff): boolean =>
  op === "change" &&
  (follows !== undefined || changes.some(({ path, ignored }) => !ignored && !path.startsWith("options.")));

function renews(diff: ResourceDiff, property: string): boolean {
  const renewal = renewed[diff.type];
  if (renewal === undefined || !updates(diff) || (renewal.of ?? property) !== property) return false;
  const { by } = renewal;
  return by === undefined || diff.changes.some(({ path, ignored }) => !ignored && below(withoutIndexes(path), [by]));
}

/** The given differences and those that follow from them. */
export function withConsequences(entries: readonly PlanEntry[], resources: readonly ResourceDiff[]): ResourceDiff[] {
  const diffs = new Map(resources.map((diff) => [diff.id, diff]));
  const mark = (entry: PlanEntry, op: "change" | "replace", property: string, from: string): void => {
    diffs.set(entry.id, { ...outline(entry), changes: [], ...diffs.get(entry.id), op, follows: { property, from } });
  };
  for (let grew = true; grew; ) {
    grew = false;
    for (const entry of entries) {
      const known = diffs.get(entry.id);
      if (known?.op === "add" || known?.op === "replace") continue;
      const found = replacedBy(entry, diffs) ?? (known?.follows === undefined ? updatedBy(entry, diffs) : undefined);
      if (found === undefined) continue;
      mark(entry, found.op, found.property, found.from);
      grew = true;
    }
  }
  return [...diffs.values()].map((diff) => {
    const found = [...warnings(diff), ...keptBy(diff, entries, diffs)];
    return found.length === 0 ? diff : { ...diff, warnings: found };
  });
}

/**
 * A replaced resource that another one goes on using, because that ignores the input: the cloud refuses to delete it. Said
 * once, on the first of them.
 */
function keptBy(
  { op, id }: ResourceDiff,
  entries: readonly PlanEntry[],
  diffs: ReadonlyMap<string, ResourceDiff>,
): string[] {
  if (op !== "replace") return [];
  return entries.flatMap((entry) =>
    diffs.get(entry.id)?.op === "replace"
      ? []
      : Object.entries(entry.references).flatMap(([property, ids]) =>
          ids.find((other) => diffs.get(other)?.op === "replace") === id &&
          unknownLeaves(entry, property).some((path) => isIgnored(entry, path))
            ? [
                `${entry.name} stays in what is replaced (it ignores changes of ${property}), and the cloud refuses to delete that: ` +
                  "undo the change, or destroy the stack and create it anew",
              ]
            : [],
        ),
  );
}

/** Paths of an input, without indexes, whose values are known only after another resource was created. */
const unknownLeaves = ({ inputs }: PlanEntry, property: string): string[] =>
  leaves(inputs[property] ?? null, property).flatMap(([path, value]) =>
    /<computed|^<secret>$/.test(String(value)) || path.includes("<computed") ? [withoutIndexes(path)] : [],
  );

const isIgnored = ({ options }: PlanEntry, path: string): boolean =>
  Array.isArray(options.ignoreChanges) &&
  below(
    path,
    options.ignoreChanges.map((ignored) => withoutIndexes(String(ignored))),
  );

interface Consequence {
  readonly op: "change" | "replace";
  readonly property: string;
  readonly from: string;
}

/** Inputs that resources take from their provider, and that no resource can change in place. */
const places: Readonly<Record<string, string>> = { aws: "region", gcp: "project" };
/** Services of AWS without regions. */
const isGlobal = (type: string): boolean => type.startsWith("aws:iam/");

/**
 * A replaced resource gets another id. A resource that takes it by an input that forces replacement is replaced too, and so
 * is every resource of a replaced provider, or of one that moves to another region or project.
 */
function replacedBy(
  { type, inputs, options, references }: PlanEntry,
  diffs: ReadonlyMap<string, ResourceDiff>,
): Consequence | undefined {
  const provider = providerOf(type, options.provider, diffs);
  if (provider?.op === "replace") return { op: "replace", property: "options.provider", from: provider.id };
  const place = places[type.split(":")[0] ?? ""];
  if (place !== undefined && !(place in inputs) && !isGlobal(type)) {
    const moved = provider?.changes.some(({ path, before, after }) => path === place && before && after) ?? false;
    if (provider !== undefined && moved) return { op: "replace", property: place, from: provider.id };
  }
  for (const [property, ids] of Object.entries(references)) {
    const from = ids.find((id) => diffs.get(id)?.op === "replace");
    if (from !== undefined && replacementSource(type, property) !== undefined) return { op: "replace", property, from };
  }
  return undefined;
}

function updatedBy(entry: PlanEntry, diffs: ReadonlyMap<string, ResourceDiff>): Consequence | undefined {
  const { type, references, options } = entry;
  for (const [property, ids] of Object.entries(references)) {
    const takes = unknownLeaves(entry, property).some((path) => !isIgnored(entry, path));
    const from = ids.find((id) => {
      const diff = diffs.get(id);
      return diff !== undefined && ((takes && diff.op === "replace") || renews(diff, property));
    });
    if (from !== undefined) return { op: "change", property, from };
  }
  const output = inheritedBy.get(type);
  if (output === undefined) return undefined;
  const provider = providerOf(type, options.provider, diffs);
  const defaults = provider?.changes.some(({ path }) => /^default(Tags|Labels)\b/.test(path)) ?? false;
  return provider !== undefined && defaults ? { op: "change", property: output, from: provider.id } : undefined;
}

/** The change of the explicit provider of a resource. */
function providerOf(type: string, name: unknown, diffs: ReadonlyMap<string, ResourceDiff>): ResourceDiff | undefined {
  const providerType = `pulumi:providers:${type.split(":")[0]}`;
  return name === undefined
    ? undefined
    : [...diffs.values()].find((diff) => diff.type === providerType && diff.name === name);
}
