/**
 * AWS resources of a plan as a CloudFormation template, so that cfn-lint can judge their values: it carries AWS's own schemas
 * (enumerations, patterns, instance types by region). The names on the right are CloudFormation's; what a row does not name
 * becomes its own name with a capital letter.
 */
import type { PlannedResource } from "../../infra/offline-plan/capture.ts";
import { mask, type Plain } from "../../infra/offline-plan/values.ts";

type Fields = { readonly [key: string]: Plain };

interface Row {
  readonly type: string;
  /** Pulumi's name to CloudFormation's, with dots for a nested place; null leaves the property out, for the reason beside it. */
  readonly names?: Readonly<Record<string, string | null>>;
  /** Properties whose keys are data, not names. */
  readonly verbatim?: readonly string[];
  readonly change?: (properties: Record<string, Plain>) => Record<string, Plain>;
}

/** A property of another resource in CloudFormation, whose identity this resource names by `of`. */
interface Companion {
  readonly of: string;
  readonly by: string;
  readonly merge: (owner: Record<string, Plain>, properties: Record<string, Plain>) => void;
}

const list = (value: Plain | undefined): readonly Plain[] => (Array.isArray(value) ? value : []);
const fields = (value: Plain | undefined): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};

// CloudFormation makes such a name itself where none is given, and has no prefix.
const noPrefix = null;

const aliasTarget = (alias: Plain): Plain => {
  const { name = null, zoneId = null, evaluateTargetHealth = null } = fields(alias);
  return { DNSName: name, HostedZoneId: zoneId, EvaluateTargetHealth: evaluateTargetHealth };
};

/** The one name of AWS WAF that a capital letter does not make. */
function withMetrics(value: Plain): Plain {
  if (Array.isArray(value)) return value.map(withMetrics);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key === "cloudwatchMetricsEnabled" ? "cloudWatchMetricsEnabled" : key,
      withMetrics(inner),
    ]),
  );
}

const rows: Readonly<Record<string, Row>> = {
  "aws:acm/certificate:Certificate": { type: "AWS::CertificateManager::Certificate" },
  "aws:amp/ruleGroupNamespace:RuleGroupNamespace": {
    type: "AWS::APS::RuleGroupsNamespace",
    names: { workspaceId: null },
    // CloudFormation names the workspace by its ARN.
    change: ({ workspaceId = null, ...properties }) => ({
      ...properties,
      workspace: `arn:aws:aps:eu-central-1:123456789012:workspace/${String(workspaceId)}`,
    }),
  },
  "aws:amp/workspace:Workspace": { type: "AWS::APS::Workspace" },
  "aws:cloudtrail/trail:Trail": {
    type: "AWS::CloudTrail::Trail",
    names: { name: "TrailName" },
    change: ({ advancedEventSelectors, ...properties }) => ({
      ...properties,
      isLogging: true,
      advancedEventSelectors: list(advancedEventSelectors).map((selector) => ({
        ...fields(selector),
        fieldSelectors: list(fields(selector).fieldSelectors).map((one) => {
          const { startsWiths, ...rest } = fields(one);
          return { ...rest, ...(startsWiths === undefined ? {} : { startsWith: startsWiths }) };
        }),
      })),
    }),
  },
  "aws:cloudwatch/logGroup:LogGroup": { type: "AWS::Logs::LogGroup", names: { name: "LogGroupName" } },
  "aws:ec2/eip:Eip": { type: "AWS::EC2::EIP" },
  "aws:ec2/flowLog:FlowLog": {
    type: "AWS::EC2::FlowLog",
    names: { vpcId: "ResourceId", iamRoleArn: "DeliverLogsPermissionArn" },
    change: (properties) => ({ ...properties, resourceType: "VPC" }),
  },
  // A gateway is attached by an object of its own in CloudFormation.
  "aws:ec2/internetGateway:InternetGateway": { type: "AWS::EC2::InternetGateway", names: { vpcId: null } },
  "aws:ec2/launchTemplate:LaunchTemplate": {
    type: "AWS::EC2::LaunchTemplate",
    names: {
      namePrefix: noPrefix,
      // Terraform's own way to make a new version the default one.
      updateDefaultVersion: null,
      blockDeviceMappings: "LaunchTemplateData.BlockDeviceMappings",
      metadataOptions: "LaunchTemplateData.MetadataOptions",
      tagSpecifications: "LaunchTemplateData.TagSpecifications",
    },
  },
  "aws:ec2/natGateway:NatGateway": { type: "AWS::EC2::NatGateway" },
  "aws:ec2/route:Route": { type: "AWS::EC2::Route" },
  "aws:ec2/routeTable:RouteTable": { type: "AWS::EC2::RouteTable" },
  "aws:ec2/routeTableAssociation:RouteTableAssociation": { type: "AWS::EC2::SubnetRouteTableAssociation" },
  "aws:ec2/securityGroup:SecurityGroup": {
    type: "AWS::EC2::SecurityGroup",
    names: { description: "GroupDescription", name: "GroupName" },
  },
  "aws:ec2/subnet:Subnet": { type: "AWS::EC2::Subnet" },
  "aws:ec2/vpc:Vpc": { type: "AWS::EC2::VPC" },
  "aws:ec2/vpcEndpoint:VpcEndpoint": { type: "AWS::EC2::VPCEndpoint" },
  // Its principals and its private name are objects of their own in CloudFormation.
  "aws:ec2/vpcEndpointService:VpcEndpointService": {
    type: "AWS::EC2::VPCEndpointService",
    names: { allowedPrincipals: null, privateDnsName: null },
  },
  "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": { type: "AWS::ECR::PullThroughCacheRule" },
  "aws:ecr/repository:Repository": {
    type: "AWS::ECR::Repository",
    names: { name: "RepositoryName", forceDelete: "EmptyOnDelete" },
  },
  "aws:eks/accessEntry:AccessEntry": { type: "AWS::EKS::AccessEntry" },
  "aws:eks/addon:Addon": {
    type: "AWS::EKS::Addon",
    names: {
      preserve: "PreserveOnDelete",
      // One property in CloudFormation, for creation and update alike.
      resolveConflictsOnCreate: "ResolveConflicts",
      resolveConflictsOnUpdate: "ResolveConflicts",
    },
  },
  "aws:eks/cluster:Cluster": {
    type: "AWS::EKS::Cluster",
    names: { vpcConfig: "ResourcesVpcConfig", enabledClusterLogTypes: "Logging.ClusterLogging.EnabledTypes" },
    change: (properties) => ({
      ...properties,
      ...(properties.enabledClusterLogTypes === undefined
        ? {}
        : { enabledClusterLogTypes: list(properties.enabledClusterLogTypes).map((type) => ({ type })) }),
      ...(properties.encryptionConfig === undefined ? {} : { encryptionConfig: [properties.encryptionConfig] }),
    }),
  },
  "aws:eks/nodeGroup:NodeGroup": {
    type: "AWS::EKS::Nodegroup",
    names: {
      nodeGroupName: "NodegroupName",
      nodeGroupNamePrefix: noPrefix,
      nodeRoleArn: "NodeRole",
      subnetIds: "Subnets",
    },
    verbatim: ["labels"],
  },
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider": {
    type: "AWS::IAM::OIDCProvider",
    names: { clientIdLists: "ClientIdList", thumbprintLists: "ThumbprintList" },
  },
  "aws:iam/policy:Policy": {
    type: "AWS::IAM::ManagedPolicy",
    names: { name: "ManagedPolicyName", policy: "PolicyDocument" },
  },
  "aws:iam/role:Role": {
    type: "AWS::IAM::Role",
    names: { name: "RoleName", assumeRolePolicy: "AssumeRolePolicyDocument" },
  },
  "aws:iam/rolePolicy:RolePolicy": {
    type: "AWS::IAM::RolePolicy",
    names: { name: "PolicyName", policy: "PolicyDocument", role: "RoleName" },
  },
  "aws:kms/alias:Alias": { type: "AWS::KMS::Alias", names: { name: "AliasName" } },
  "aws:kms/key:Key": {
    type: "AWS::KMS::Key",
    names: { deletionWindowInDays: "PendingWindowInDays", policy: "KeyPolicy" },
  },
  "aws:route53/record:Record": {
    type: "AWS::Route53::RecordSet",
    // Terraform's own switch between two calls.
    names: {
      zoneId: "HostedZoneId",
      records: "ResourceRecords",
      ttl: "TTL",
      aliases: "AliasTarget",
      allowOverwrite: null,
    },
    change: ({ aliases, ttl, ...properties }) => ({
      ...properties,
      ...(ttl === undefined ? {} : { ttl: String(ttl) }),
      ...(aliases === undefined ? {} : { aliases: list(aliases).map(aliasTarget)[0] ?? null }),
    }),
  },
  // How long Secrets Manager keeps a deleted one, which CloudFormation does not say.
  "aws:secretsmanager/secret:Secret": { type: "AWS::SecretsManager::Secret", names: { recoveryWindowInDays: null } },
  // Terraform's own switch to empty the bucket.
  "aws:s3/bucket:Bucket": { type: "AWS::S3::Bucket", names: { bucket: "BucketName", forceDestroy: null } },
  "aws:s3/bucketPolicy:BucketPolicy": { type: "AWS::S3::BucketPolicy", names: { policy: "PolicyDocument" } },
  "aws:wafv2/webAcl:WebAcl": {
    type: "AWS::WAFv2::WebACL",
    change: (properties) => withMetrics(properties) as Record<string, Plain>,
  },
  "aws:wafv2/webAclAssociation:WebAclAssociation": {
    type: "AWS::WAFv2::WebACLAssociation",
    names: { webAclArn: "WebACLArn" },
  },
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": {
    type: "AWS::EC2::SecurityGroupEgress",
    names: {
      securityGroupId: "GroupId",
      cidrIpv4: "CidrIp",
      referencedSecurityGroupId: "DestinationSecurityGroupId",
      prefixListId: "DestinationPrefixListId",
    },
  },
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": {
    type: "AWS::EC2::SecurityGroupIngress",
    names: {
      securityGroupId: "GroupId",
      cidrIpv4: "CidrIp",
      referencedSecurityGroupId: "SourceSecurityGroupId",
      prefixListId: "SourcePrefixListId",
    },
  },
};

const append = (owner: Record<string, Plain>, name: string, value: Plain): void => {
  owner[name] = [...list(owner[name]), value];
};

const companions: Readonly<Record<string, Companion>> = {
  "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": {
    of: "aws:eks/accessEntry:AccessEntry",
    by: "principalArn",
    merge: (owner, { policyArn = null, accessScope = null }) =>
      append(owner, "AccessPolicies", { PolicyArn: policyArn, AccessScope: pascal(accessScope) }),
  },
  "aws:ecr/lifecyclePolicy:LifecyclePolicy": {
    of: "aws:ecr/repository:Repository",
    by: "repository",
    merge: (owner, { policy = null }) => {
      owner.LifecyclePolicy = { LifecyclePolicyText: policy };
    },
  },
  "aws:iam/rolePolicyAttachment:RolePolicyAttachment": {
    of: "aws:iam/role:Role",
    by: "role",
    merge: (owner, { policyArn = null }) => append(owner, "ManagedPolicyArns", policyArn),
  },
  "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": {
    of: "aws:s3/bucket:Bucket",
    by: "bucket",
    merge: (owner, { rules = [] }) => {
      owner.LifecycleConfiguration = {
        Rules: list(rules).map((rule) => {
          // CloudFormation has the filter's and the expiration's fields in the rule itself.
          const { filter, expiration, ...rest } = fields(rule);
          const { days, ...expires } = fields(expiration);
          const expirationInDays = days === undefined ? {} : { expirationInDays: days };
          return fields(pascal({ ...rest, ...fields(filter), ...expires, ...expirationInDays })) as Record<
            string,
            Plain
          >;
        }),
      };
    },
  },
  "aws:s3/bucketOwnershipControls:BucketOwnershipControls": {
    of: "aws:s3/bucket:Bucket",
    by: "bucket",
    merge: (owner, { rule = null }) => {
      owner.OwnershipControls = { Rules: [pascal(rule)] };
    },
  },
  "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": {
    of: "aws:s3/bucket:Bucket",
    by: "bucket",
    merge: (owner, { bucket: _, region: __, ...rest }) => {
      owner.PublicAccessBlockConfiguration = pascal(rest);
    },
  },
  "aws:s3/bucketReplicationConfig:BucketReplicationConfig": {
    of: "aws:s3/bucket:Bucket",
    by: "bucket",
    merge: (owner, { role = null, rules = [] }) => {
      owner.ReplicationConfiguration = pascal({
        role,
        rules: list(rules).map((rule) => ({ priority: 0, ...fields(rule) })),
      }) as Record<string, Plain>;
    },
  },
  "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": {
    of: "aws:s3/bucket:Bucket",
    by: "bucket",
    merge: (owner, { rules = [] }) => {
      owner.BucketEncryption = {
        ServerSideEncryptionConfiguration: list(rules).map((rule) => {
          const { applyServerSideEncryptionByDefault: byDefault, bucketKeyEnabled } = fields(rule);
          const { sseAlgorithm, kmsMasterKeyId } = fields(byDefault);
          return {
            ServerSideEncryptionByDefault: {
              ...(sseAlgorithm === undefined ? {} : { SSEAlgorithm: sseAlgorithm }),
              ...(kmsMasterKeyId === undefined ? {} : { KMSMasterKeyID: kmsMasterKeyId }),
            },
            ...(bucketKeyEnabled === undefined ? {} : { BucketKeyEnabled: bucketKeyEnabled }),
          };
        }),
      };
    },
  },
  "aws:s3/bucketVersioning:BucketVersioning": {
    of: "aws:s3/bucket:Bucket",
    by: "bucket",
    merge: (owner, { versioningConfiguration = null }) => {
      owner.VersioningConfiguration = pascal(versioningConfiguration);
    },
  },
};

/** Types that CloudFormation does not have, each with its reason. */
export const untranslated: Readonly<Record<string, string>> = {
  "aws:acm/certificateValidation:CertificateValidation": "waits until a certificate is issued",
  "aws:secretsmanager/secretVersion:SecretVersion": "a secret's value, which no schema describes",
  "aws:autoscaling/tag:Tag": "tags one key of a group that EKS made",
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": "adopts a group that every VPC has",
};

/** Names that a capital letter alone does not make. */
const spelled: Readonly<Record<string, string>> = { replicaKmsKeyId: "ReplicaKmsKeyID" };

const capital = (name: string): string => spelled[name] ?? name.charAt(0).toUpperCase() + name.slice(1);

/** Names with capital letters, at every depth; tags as CloudFormation has them. */
function pascal(value: Plain, verbatim: readonly string[] = []): Plain {
  if (Array.isArray(value)) return value.map((item) => pascal(item));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        capital(key),
        key === "tags" ? tagList(inner) : verbatim.includes(key) ? inner : pascal(inner),
      ]),
    );
  // The SDK types such fields of launch templates as text.
  return value === "true" ? true : value === "false" ? false : value;
}

const tagList = (tags: Plain): Plain => Object.entries(fields(tags)).map(([Key, Value]) => ({ Key, Value }));

const document = (key: string, value: Plain): Plain =>
  /policy$/i.test(key) && typeof value === "string" && value.startsWith("{") ? (JSON.parse(value) as Plain) : value;

const put = (target: Record<string, Plain>, path: string, value: Plain): void => {
  const [head = "", ...rest] = path.split(".");
  if (rest.length === 0) target[head] = value;
  else {
    const inner = { ...fields(target[head]) };
    put(inner, rest.join("."), value);
    target[head] = inner;
  }
};

function propertiesOf({ names = {}, verbatim = [], change = (same) => same }: Row, inputs: Record<string, Plain>) {
  const result: Record<string, Plain> = {};
  for (const [key, value] of Object.entries(change(inputs))) {
    // A template is of one region.
    if (key === "region") continue;
    const name = key in names ? names[key] : capital(key);
    if (name === null || name === undefined) continue;
    const parsed = document(key, value);
    const isDocument = parsed !== value;
    put(result, name, key === "tags" ? tagList(value) : isDocument || verbatim.includes(key) ? parsed : pascal(value));
  }
  return result;
}

export interface Template {
  readonly AWSTemplateFormatVersion: "2010-09-09";
  readonly Resources: Record<string, { Type: string; Properties: Record<string, Plain> }>;
}

/** A name that CloudFormation takes, from which the resource is found again. */
export const logicalId = ({ type, name }: PlannedResource): string =>
  `${type.split(":").at(-1)} ${name}`.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase());

/**
 * @param resources of a run as an update: every id is a made-up one of the right form
 * @returns the template, and the types of AWS that no table here knows
 */
export function toTemplate(resources: readonly PlannedResource[]): { template: Template; unknown: string[] } {
  const template: Template = { AWSTemplateFormatVersion: "2010-09-09", Resources: {} };
  const unknown = new Set<string>();
  const owners = new Map<string, Record<string, Plain>>();
  const own = resources.filter(({ type, kind }) => type.startsWith("aws:") && kind === "custom");
  const inputsOf = ({ inputs }: PlannedResource) => fields(mask(inputs)) as Record<string, Plain>;
  for (const resource of own) {
    const row = rows[resource.type];
    if (row === undefined) {
      if (!(resource.type in companions) && !(resource.type in untranslated)) unknown.add(resource.type);
      continue;
    }
    const inputs = inputsOf(resource);
    const Properties = propertiesOf(row, inputs);
    template.Resources[logicalId(resource)] = { Type: row.type, Properties };
    for (const id of [inputs.principalArn, inputs.name, inputs.bucket])
      if (typeof id === "string") owners.set(`${resource.type} ${id}`, Properties);
    // A role without a name of its own is known by the made-up one, which begins with the resource's.
    owners.set(`${resource.type} ${resource.name}`, Properties);
  }
  for (const resource of own) {
    const companion = companions[resource.type];
    if (companion === undefined) continue;
    const inputs = inputsOf(resource);
    const id = String(inputs[companion.by]);
    const owner =
      owners.get(`${companion.of} ${id}`) ?? owners.get(`${companion.of} ${id.replace(/-[0-9a-f]{7}$/, "")}`);
    if (owner === undefined) unknown.add(`${resource.type} ${resource.name}: no ${companion.of} called ${id}`);
    else companion.merge(owner, inputs);
  }
  return { template, unknown: [...unknown] };
}
