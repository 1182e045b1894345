/**
 * What a change of one resource does to others whose own inputs stay the same. Pure. The engine finds out while it runs;
 * a plan has to know.
 */

import type { ResourceDiff } from "./diff.ts";
import type { PlanEntry } from "./plan.ts";
import { replacementSource } from "./replacements.ts";

/**
 * Types that carry the default tags or labels of their provider, by the output that holds them. A change of the defaults
 * updates every one of them. A test holds this list against the SDKs.
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

/** Types of which every update gives an output another value: a launch template gets its next version. */
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

/** What an update does in the cloud that neither its inputs nor the engine show, in words for whoever runs it. */
function warnings({ op, type, changes, follows }: ResourceDiff): string[] {
  if (op !== "change" || type !== nodeGroup) return [];
  const effective = changes.filter(({ ignored }) => !ignored);
  const paths = [...effective.map(({ path }) => path), ...(follows === undefined ? [] : [follows.property])];
  const raised = effective.some(
    ({ path, before, after }) => path === "scalingConfig.minSize" && Number(after) > Number(before),
  );
  return [
    ...(rollsNodes(type, paths) ? ["its nodes are replaced one after another, and the jobs on them end"] : []),
    ...(under(["scalingConfig"], paths)
      ? ["its size is set to what the state says, so `up` needs --refresh: without it, workers that run are stopped"]
      : []),
    ...(raised ? ["AWS refuses it while the group has fewer nodes: README, Upgrading, On AWS"] : []),
  ];
}

const updates = ({ op, changes, follows }: ResourceDiff): boolean =>
  op === "change" &&
  (follows !== undefined || changes.some(({ path, ignored }) => !ignored && !path.startsWith("options.")));

/** The same differences, and those that follow from them, once and for all. */
export function withConsequences(
  entries: readonly PlanEntry[],
  resources: readonly ResourceDiff[],
  outline: (entry: PlanEntry) => Omit<ResourceDiff, "op" | "changes">,
): ResourceDiff[] {
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

/** A replaced resource comes back with another id. Whoever takes it through an input that forces replacement follows. */
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
