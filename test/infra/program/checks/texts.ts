/**
 * Names, descriptions, tags and labels against the character sets and lengths that the clouds document. A provider or a cloud
 * refuses them in the middle of an update, so a text without a rule is a finding, too.
 */

import type { Capture, PlannedResource } from "../../../../infra/offline-plan/capture.ts";
import { leaves, withoutIndexes } from "../../../../infra/offline-plan/leaves.ts";
import { mask } from "../../../../infra/offline-plan/values.ts";
import { describe } from "../../../support/infra/graph.ts";

interface Rule {
  readonly pattern: RegExp;
  readonly max: number;
  /** Address of the cloud's document. */
  readonly source: string;
}

const api = "docs.aws.amazon.com";
const google = "cloud.google.com";
const rule = (pattern: RegExp, max: number, source: string): Rule => ({ pattern, max, source });

const ec2Text = rule(
  /^[a-zA-Z0-9. _\-:/()#,@[\]+=&;{}!$*]*$/,
  255,
  `${api}/AWSEC2/latest/APIReference/API_CreateSecurityGroup.html`,
);
const ruleText = rule(
  /^[a-zA-Z0-9. _\-:/()#,@[\]+=&;{}!$*]*$/,
  255,
  `${api}/AWSEC2/latest/APIReference/API_IpRange.html`,
);
const iamText = rule(
  /^[\t\n\r\u0020-\u007e\u00a1-\u00ff]*$/,
  1000,
  `${api}/IAM/latest/APIReference/API_CreateRole.html`,
);
const iamPolicy = rule(/^[\w+=,.@-]+$/, 128, `${api}/IAM/latest/APIReference/API_PutRolePolicy.html`);
const awsBucket = rule(
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  63,
  `${api}/AmazonS3/latest/userguide/bucketnamingrules.html`,
);
const host = rule(
  /^(\*\.|_[a-z0-9]+\.)?([a-z0-9-]{1,63}\.)+[a-z0-9-]{1,63}\.?$/,
  255,
  `${api}/Route53/latest/DeveloperGuide/DomainNameFormat.html`,
);
const firewall = `${api}/waf/latest/APIReference/API_CreateWebACL.html`;
const firewallName = rule(/^[\w-]+$/, 128, firewall);
const metricName = rule(
  /^(?!All$|Default_Action$)[\w#:./-]+$/,
  128,
  `${api}/waf/latest/APIReference/API_VisibilityConfig.html`,
);
const compute = rule(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 63, `${google}/compute/docs/naming-resources`);
const computeText = rule(/^[^\r\n]*$/, 2048, `${google}/compute/docs/reference/rest/v1/networks`);
const gkeName = rule(
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  40,
  `${google}/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters`,
);
const kmsName = rule(/^[a-zA-Z0-9_-]+$/, 63, `${google}/kms/docs/reference/rest/v1/projects.locations.keyRings/create`);
const poolText = rule(
  /^[^\r\n]*$/,
  32,
  `${google}/iam/docs/reference/rest/v1/projects.locations.workloadIdentityPools`,
);
const googleBucket = rule(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/, 63, `${google}/storage/docs/buckets#naming`);

/** By type and path of the input; "+" is the name that Pulumi makes where the program gives none, its own with eight characters more. */
export const rules: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  "aws:amp/ruleGroupNamespace:RuleGroupNamespace": {
    name: rule(
      /^[0-9A-Za-z][-.0-9A-Z_a-z]*$/,
      64,
      `${api}/prometheus/latest/APIReference/API_CreateRuleGroupsNamespace.html`,
    ),
  },
  "aws:amp/workspace:Workspace": {
    alias: rule(/^[0-9A-Za-z][-.0-9A-Z_a-z]*$/, 100, `${api}/prometheus/latest/APIReference/API_CreateWorkspace.html`),
  },
  "aws:cloudtrail/trail:Trail": {
    name: rule(/^[A-Za-z0-9][\w.-]*[A-Za-z0-9]$/, 128, `${api}/awscloudtrail/latest/APIReference/API_CreateTrail.html`),
    s3BucketName: awsBucket,
    "advancedEventSelectors.name": rule(
      /^[^\r\n]*$/,
      1000,
      `${api}/awscloudtrail/latest/APIReference/API_AdvancedEventSelector.html`,
    ),
  },
  "aws:cloudwatch/logGroup:LogGroup": {
    name: rule(/^[.\-_/#A-Za-z0-9]+$/, 512, `${api}/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html`),
  },
  "aws:ec2/launchTemplate:LaunchTemplate": {
    // The provider adds 26 characters.
    namePrefix: rule(
      /^[a-zA-Z0-9().\-/_]{3,}$/,
      128 - 26,
      `${api}/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html`,
    ),
    description: rule(/^[^\r\n]*$/, 255, `${api}/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html`),
  },
  "aws:ec2/securityGroup:SecurityGroup": { "+": ec2Text, name: ec2Text, description: ec2Text },
  "aws:ecr/repository:Repository": {
    name: rule(
      /^(?:[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*\/)*[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/,
      256,
      `${api}/AmazonECR/latest/APIReference/API_CreateRepository.html`,
    ),
  },
  "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": {
    ecrRepositoryPrefix: rule(
      /^(?:[a-z0-9]+(?:[._-][a-z0-9]+)*\/)*[a-z0-9]+(?:[._-][a-z0-9]+)*$/,
      30,
      `${api}/AmazonECR/latest/APIReference/API_CreatePullThroughCacheRule.html`,
    ),
  },
  "aws:eks/addon:Addon": {
    addonName: rule(/^[a-z0-9-]+$/, 100, `${api}/eks/latest/APIReference/API_CreateAddon.html`),
  },
  "aws:eks/cluster:Cluster": {
    name: rule(/^[0-9A-Za-z][A-Za-z0-9_-]*$/, 100, `${api}/eks/latest/APIReference/API_CreateCluster.html`),
  },
  "aws:eks/nodeGroup:NodeGroup": {
    nodeGroupNamePrefix: rule(
      /^[0-9A-Za-z][A-Za-z0-9_-]*$/,
      63 - 26,
      `${api}/eks/latest/APIReference/API_CreateNodegroup.html`,
    ),
    "launchTemplate.name": rule(
      /^[a-zA-Z0-9().\-/_]{3,}$/,
      128,
      `${api}/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html`,
    ),
  },
  "aws:iam/role:Role": {
    "+": rule(/^[\w+=,.@-]+$/, 64, `${api}/IAM/latest/APIReference/API_CreateRole.html`),
    name: rule(/^[\w+=,.@-]+$/, 64, `${api}/IAM/latest/APIReference/API_CreateRole.html`),
    description: iamText,
  },
  "aws:iam/rolePolicy:RolePolicy": { name: iamPolicy },
  "aws:iam/policy:Policy": { "+": iamPolicy, name: iamPolicy, description: iamText },
  "aws:kms/alias:Alias": {
    name: rule(/^alias\/(?!aws\/)[a-zA-Z0-9/_-]+$/, 256, `${api}/kms/latest/APIReference/API_CreateAlias.html`),
  },
  "aws:kms/key:Key": { description: rule(/^[^\r\n]*$/, 8192, `${api}/kms/latest/APIReference/API_CreateKey.html`) },
  "aws:route53/record:Record": { name: host },
  "aws:s3/bucket:Bucket": { bucket: awsBucket },
  "aws:wafv2/webAcl:WebAcl": {
    name: firewallName,
    description: rule(/^[\w+=:#@/\-,.][\w+=:#@/\-,.\s]+[\w+=:#@/\-,.]$/, 256, firewall),
    "rules.name": firewallName,
    "visibilityConfig.metricName": metricName,
    "rules.visibilityConfig.metricName": metricName,
    "rules.statement.managedRuleGroupStatement.vendorName": firewallName,
    "rules.statement.managedRuleGroupStatement.name": firewallName,
    "rules.statement.managedRuleGroupStatement.ruleActionOverrides.name": firewallName,
  },
  "aws:ec2/vpcEndpointService:VpcEndpointService": { privateDnsName: host },
  "aws:secretsmanager/secret:Secret": {
    name: rule(/^[a-zA-Z0-9/_+=.@-]+$/, 512, `${api}/secretsmanager/latest/apireference/API_CreateSecret.html`),
    description: rule(/^[^\r\n]*$/, 2048, `${api}/secretsmanager/latest/apireference/API_CreateSecret.html`),
  },
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": { description: ruleText },
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": { description: ruleText },
  "gcp:artifactregistry/repository:Repository": {
    repositoryId: rule(
      /^[a-z]([a-z0-9-]*[a-z0-9])?$/,
      63,
      `${google}/artifact-registry/docs/reference/rest/v1/projects.locations.repositories`,
    ),
    description: rule(
      /^[^\r\n]*$/,
      1024,
      `${google}/artifact-registry/docs/reference/rest/v1/projects.locations.repositories`,
    ),
    "remoteRepositoryConfig.description": computeText,
  },
  ...Object.fromEntries(
    [
      ...["address:Address", "firewall:Firewall", "globalAddress:GlobalAddress", "network:Network", "router:Router"],
      ...["routerNat:RouterNat", "sSLPolicy:SSLPolicy", "securityPolicy:SecurityPolicy"],
      "serviceAttachment:ServiceAttachment",
    ].map((type) => [`gcp:compute/${type}`, { "+": compute, name: compute, description: computeText }]),
  ),
  "gcp:compute/subnetwork:Subnetwork": {
    "+": compute,
    name: compute,
    description: computeText,
    "secondaryIpRanges.rangeName": compute,
  },
  "gcp:container/cluster:Cluster": { name: gkeName, description: computeText },
  "gcp:container/nodePool:NodePool": {
    "+": gkeName,
    name: gkeName,
    // The provider adds 26 characters, or 9 to a prefix of more than 14.
    namePrefix: rule(/^[a-z][-a-z0-9]*$/, 40 - 9, gkeName.source),
  },
  "gcp:dns/recordSet:RecordSet": { name: host },
  "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": {
    workloadIdentityPoolId: rule(/^(?!gcp-)[a-z0-9-]{4,}$/, 32, poolText.source),
    displayName: poolText,
  },
  "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": {
    workloadIdentityPoolId: rule(/^(?!gcp-)[a-z0-9-]{4,}$/, 32, poolText.source),
    workloadIdentityPoolProviderId: rule(/^(?!gcp-)[a-z0-9-]{4,}$/, 32, poolText.source),
    displayName: poolText,
  },
  "gcp:kms/cryptoKey:CryptoKey": { "+": kmsName, name: kmsName },
  "gcp:kms/keyRing:KeyRing": { "+": kmsName, name: kmsName },
  "gcp:projects/iAMCustomRole:IAMCustomRole": {
    roleId: rule(/^[a-zA-Z0-9_.]{3,}$/, 64, `${google}/iam/docs/reference/rest/v1/projects.roles/create`),
    title: rule(/^[^\r\n]*$/, 100, `${google}/iam/docs/reference/rest/v1/organizations.roles`),
    description: rule(/^[^\r\n]*$/, 256, `${google}/iam/docs/reference/rest/v1/organizations.roles`),
  },
  "gcp:secretmanager/secret:Secret": {
    secretId: rule(/^[a-zA-Z0-9_-]+$/, 255, `${google}/secret-manager/docs/reference/rest/v1/projects.secrets/create`),
  },
  "gcp:serviceaccount/account:Account": {
    accountId: rule(/^[a-z][-a-z0-9]{4,28}[a-z0-9]$/, 30, `${google}/iam/docs/service-accounts-create`),
    displayName: rule(/^[^\r\n]*$/, 100, `${google}/iam/docs/reference/rest/v1/projects.serviceAccounts`),
    description: rule(/^[^\r\n]*$/, 256, `${google}/iam/docs/reference/rest/v1/projects.serviceAccounts`),
  },
  "gcp:storage/bucket:Bucket": { name: googleBucket },
  ...Object.fromEntries(
    ["bucketIAMMember:BucketIAMMember", "managedFolderIamMember:ManagedFolderIamMember"].map((type) => [
      `gcp:storage/${type}`,
      { "condition.title": rule(/^[^\r\n]+$/, 100, `${google}/iam/docs/conditions-overview`) },
    ]),
  ),
  "gcp:storage/managedFolder:ManagedFolder": {
    name: rule(/^[^\r\n]+\/$/, 1024, `${google}/storage/docs/managed-folders`),
  },
};

/** Descriptions of the rules of a Cloud Armor policy, a list inside of the policy. */
const armorRule = rule(/^[^\r\n]*$/, 64, `${google}/compute/docs/reference/rest/v1/securityPolicies`);

interface Pairs {
  readonly key: Rule;
  readonly value: Rule;
  readonly most: number;
}
const tagSource = `${api}/tag-editor/latest/userguide/best-practices-and-strats.html`;
const labelSource = `${google}/resource-manager/docs/labels-overview`;
const pairs: Readonly<Record<string, Pairs>> = {
  aws: {
    key: rule(/^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]+$/u, 128, tagSource),
    value: rule(/^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u, 256, tagSource),
    most: 50,
  },
  gcp: {
    key: rule(/^[\p{Ll}][\p{Ll}\p{N}_-]*$/u, 63, labelSource),
    value: rule(/^[\p{Ll}\p{N}_-]*$/u, 63, labelSource),
    most: 64,
  },
};

const isName = /(?:^|\.)(?:name|\w*[nN]ame(?:Prefix)?|description|title|displayName|\w*Prefix)$/;
/** What names another resource, or something of the API, and not a new one. */
const foreign =
  /(?:^|\.)(?:autoscalingGroup|cluster|clusterSecondaryRange|device|domain|key|service|servicesSecondaryRange|user)[nN]ame$|^(?:aliases|subnetworks)\.name$/;

const faultsOf = ({ pattern, max, source }: Rule, text: string): string[] => [
  ...(pattern.test(text) ? [] : [`${JSON.stringify(text)} has a character that is not allowed (${source})`]),
  ...(text.length <= max
    ? []
    : [`${JSON.stringify(text)} has ${text.length} characters, ${max} are allowed (${source})`]),
];

function pairFaults(cloud: string, where: string, found: Readonly<Record<string, unknown>>): string[] {
  const limits = pairs[cloud];
  if (limits === undefined) return [];
  const entries = Object.entries(found);
  return [
    ...(entries.length > limits.most ? [`${where}: ${entries.length} of at most ${limits.most}`] : []),
    ...entries.flatMap(([key, value]) =>
      [...faultsOf(limits.key, key), ...(value === "<computed>" ? [] : faultsOf(limits.value, String(value)))].map(
        (fault) => `${where}: ${fault}`,
      ),
    ),
  ];
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** The maps of tags and labels, at any depth, but the labels of Kubernetes' nodes. */
function maps(value: unknown, path = ""): [path: string, map: Record<string, unknown>][] {
  if (Array.isArray(value)) return value.flatMap((item, index) => maps(item, `${path}[${index}]`));
  return Object.entries(record(value)).flatMap(([key, inner]): [string, Record<string, unknown>][] => {
    const here = `${path}${key}`;
    if (!/^(?:tags|labels|resourceLabels|defaultLabels)$/.test(key) || Object.keys(record(inner)).length === 0)
      return maps(inner, `${here}.`);
    return here === "labels" && "nodeGroupNamePrefix" in record(value) ? [] : [[here, record(inner)]];
  });
}

/** Faults of the texts of all cloud resources, and how many were compared. */
export function textFaults({ resources }: Capture): { findings: string[]; compared: number } {
  const findings: string[] = [];
  let compared = 0;
  const hold = (resource: PlannedResource, path: string, known: Rule, text: string): void => {
    compared++;
    findings.push(...faultsOf(known, text).map((fault) => `${describe(resource)} ${path}: ${fault}`));
  };
  for (const resource of resources) {
    const { type, name, inputs, kind } = resource;
    const masked = record(mask(inputs));
    const cloud = type.replace(/^pulumi:providers:/, "").split(":")[0] ?? "";
    if (!(cloud in pairs) || kind === "component") continue;
    for (const [path, map] of maps(masked).filter(([path]) => path !== "nodeConfig.labels"))
      findings.push(...pairFaults(cloud, `${describe(resource)} ${path}`, map));
    if (type.startsWith("pulumi:")) continue;
    const known = rules[type] ?? {};
    const own = known["+"];
    if (own !== undefined && !["name", "namePrefix"].some((path) => path in inputs))
      hold(resource, "name", own, `${name}-1234567`);
    for (const [path, value] of leaves(mask(inputs))) {
      const plain = withoutIndexes(path);
      if (typeof value !== "string" || value.includes("<computed>")) continue;
      const found =
        known[plain] ?? (/SecurityPolicy/.test(type) && plain === "rules.description" ? armorRule : undefined);
      if (found !== undefined) hold(resource, path, found, value);
      else if (isName.test(plain) && !foreign.test(plain) && !/(^|\.)(tags|\w*[lL]abels)\b/.test(plain))
        findings.push(`${describe(resource)} ${path}: no rule says which texts the cloud accepts`);
    }
  }
  return { findings, compared };
}
