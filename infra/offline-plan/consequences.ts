/**
 * Changes of resources whose own inputs stay the same, caused by a change of another resource. The engine discovers these
 * during an update; the offline plan derives them from tables. Pure.
 */

import { outline, type ResourceDiff } from "./changes.ts";
import type { PlanEntry } from "./plan.ts";
import { replacementSource } from "./replacements.ts";

/**
 * Types that carry the default tags or labels of their provider, by the output that holds them. A change of the defaults
 * updates all of them. A test compares this list with the SDKs.
 */
export const inheriting: Readonly<Record<"tagsAll" | "effectiveLabels", readonly string[]>> = {
  tagsAll: [
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:ec2/eip:Eip",
    "aws:ec2/internetGateway:InternetGateway",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/natGateway:NatGateway",
    "aws:ec2/routeTable:RouteTable",
    "aws:ec2/securityGroup:SecurityGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/vpc:Vpc",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
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
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
  ],
  effectiveLabels: [
    "gcp:compute/address:Address",
    "gcp:compute/globalAddress:GlobalAddress",
    "gcp:container/cluster:Cluster",
    "gcp:kms/cryptoKey:CryptoKey",
    "gcp:storage/bucket:Bucket",
  ],
};

const inheritedBy: ReadonlyMap<string, string> = new Map(
  Object.entries(inheriting).flatMap(([output, types]) => types.map((type) => [type, output] as const)),
);

/** Types whose every update changes an output: a launch template gets its next version. */
const renewed: ReadonlySet<string> = new Set(["aws:ec2/launchTemplate:LaunchTemplate"]);

const nodeGroup = "aws:eks/nodeGroup:NodeGroup";

const under = (properties: readonly string[], paths: readonly string[]): boolean =>
  paths.some((path) => properties.includes(/^\w*/.exec(path)?.[0] ?? path));

/**
 * Whether an update of these inputs replaces a group's nodes one after another, as EKS does for another version of
 * Kubernetes or of the launch template.
 */
export const rollsNodes = (type: string, paths: readonly string[]): boolean =>
  type === nodeGroup && under(["launchTemplate", "version", "releaseVersion"], paths);

const volumeClaim = "kubernetes:core/v1:PersistentVolumeClaim";

/** Effects of an update in the cloud that neither its inputs nor the engine show. */
function warnings({ op, type, changes, follows }: ResourceDiff): string[] {
  if (op !== "change") return [];
  if (type === volumeClaim && changes.some(({ path }) => path.startsWith("spec.resources.")))
    return ["a volume can only grow, and only where its StorageClass has `allowVolumeExpansion`; otherwise `up` fails"];
  if (type !== nodeGroup) return [];
  const effective = changes.filter(({ ignored }) => !ignored);
  const paths = [...effective.map(({ path }) => path), ...(follows === undefined ? [] : [follows.property])];
  const raised = effective.some(
    ({ path, before, after }) => path === "scalingConfig.minSize" && Number(after) > Number(before),
  );
  return [
    ...(rollsNodes(type, paths) ? ["replaces the group's nodes one after another; jobs on them end"] : []),
    ...(under(["scalingConfig"], paths)
      ? ["sets the group's size to the recorded one: run `pulumi up --refresh`, or running workers are stopped"]
      : []),
    ...(raised ? ["AWS refuses a minimum above the current number of nodes: raise the number of nodes first"] : []),
  ];
}

const updates = ({ op, changes, follows }: ResourceDiff): boolean =>
  op === "change" &&
  (follows !== undefined || changes.some(({ path, ignored }) => !ignored && !path.startsWith("options.")));

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
    const found = warnings(diff);
    return found.length === 0 ? diff : { ...diff, warnings: found };
  });
}

interface Consequence {
  readonly op: "change" | "replace";
  readonly property: string;
  readonly from: string;
}

/** A replaced resource gets another id. A resource that takes it by an input that forces replacement is replaced too. */
function replacedBy(
  { type, references }: PlanEntry,
  diffs: ReadonlyMap<string, ResourceDiff>,
): Consequence | undefined {
  for (const [property, ids] of Object.entries(references)) {
    const from = ids.find((id) => diffs.get(id)?.op === "replace");
    if (from !== undefined && replacementSource(type, property) !== undefined) return { op: "replace", property, from };
  }
  return undefined;
}

function updatedBy(
  { type, references, options }: PlanEntry,
  diffs: ReadonlyMap<string, ResourceDiff>,
): Consequence | undefined {
  for (const [property, ids] of Object.entries(references)) {
    const from = ids.find((id) => {
      const diff = diffs.get(id);
      return diff !== undefined && renewed.has(diff.type) && updates(diff);
    });
    if (from !== undefined) return { op: "change", property, from };
  }
  const output = inheritedBy.get(type);
  if (output === undefined) return undefined;
  const provider = [...diffs.values()].find(
    (diff) => diff.type === `pulumi:providers:${type.split(":")[0]}` && diff.name === options.provider,
  );
  const defaults = provider?.changes.some(({ path }) => /^default(Tags|Labels)\b/.test(path)) ?? false;
  return provider !== undefined && defaults ? { op: "change", property: output, from: provider.id } : undefined;
}
