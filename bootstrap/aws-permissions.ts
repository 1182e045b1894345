/**
 * What the identities of the workflows may do in an AWS account, by the types of resources that a stack has. `npm run
 * test:schemas` compares it with the permissions that AWS's own schemas name for those types.
 */

import { dnsSuffixOf } from "../infra/clouds/aws/identity/arn.ts";
import { type PolicyDocument, policy, type Statement } from "../infra/clouds/aws/identity/policy.ts";
import { type Environment, issuer } from "./github.ts";

export interface Account {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
}

/**
 * Actions on the same resources: `read` for previews and drift, `refresh` for drift in addition, `read` and `write` for the
 * deployer.
 */
interface Grant {
  readonly sid: string;
  readonly service: string;
  /** Resources after `arn:<partition>:<service>:`; "*" alone for actions that AWS authorizes for all or none. */
  readonly resources: (account: Account) => readonly string[];
  readonly read?: readonly string[];
  readonly refresh?: readonly string[];
  readonly write?: readonly string[];
  readonly condition?: (account: Account) => NonNullable<Statement["Condition"]>;
}

const all = () => ["*"];
const own =
  (...names: readonly string[]) =>
  ({ region, account }: Account): string[] =>
    names.map((name) => `${region}:${account}:${name}`);
const global =
  (...names: readonly string[]) =>
  ({ account }: Account): string[] =>
    names.map((name) => `:${account}:${name}`);

/** The services that the stack's roles are for. EC2 alone has a name of its own in China. */
const roleUsers = ({ region }: Account): string[] => [
  "eks.amazonaws.com",
  `ec2.${dnsSuffixOf(region)}`,
  "vpc-flow-logs.amazonaws.com",
];
/** The services whose own roles AWS creates with an account's first cluster, nodes or load balancer. */
const linkedServices = [
  ...["eks", "eks-nodegroup", "autoscaling", "elasticloadbalancing", "spot", "pullthroughcache.ecr"],
].map((name) => `${name}.amazonaws.com`);

const grants: readonly Grant[] = [
  {
    sid: "Network",
    service: "ec2",
    resources: all,
    read: [
      ...["DescribeAddresses", "DescribeAddressesAttribute", "DescribeAvailabilityZones", "DescribeFlowLogs"],
      ...["DescribeInstances", "DescribeInternetGateways", "DescribeLaunchTemplates", "DescribeLaunchTemplateVersions"],
      ...["DescribeNatGateways", "DescribeNetworkAcls", "DescribeNetworkInterfaces", "DescribePrefixLists"],
      ...["DescribeRouteTables", "DescribeSecurityGroupRules", "DescribeSecurityGroups", "DescribeSubnets"],
      ...["DescribeTags", "DescribeVpcEndpoints", "DescribeVpcs"],
    ],
  },
  // For `npm run preflight`, which the deployer runs.
  { sid: "Offers", service: "ec2", resources: all, write: ["DescribeInstanceTypeOfferings"] },
  { sid: "Quotas", service: "servicequotas", resources: all, write: ["GetServiceQuota"] },
  { sid: "Balancers", service: "elasticloadbalancing", resources: all, write: ["DescribeLoadBalancers"] },
  { sid: "Users", service: "iam", resources: global("user/*"), write: ["GetUser"] },
  { sid: "VpcSettings", service: "ec2", resources: own("vpc/*"), read: ["DescribeVpcAttribute"] },
  {
    sid: "ChangeNetwork",
    service: "ec2",
    resources: (account) => [...own("*")(account), `${account.region}::image/*`],
    write: [
      ...[
        "AllocateAddress",
        "AssociateAddress",
        "AssociateRouteTable",
        "AttachInternetGateway",
        "AuthorizeSecurityGroupEgress",
      ],
      ...["AuthorizeSecurityGroupIngress", "CreateFlowLogs", "CreateInternetGateway", "CreateLaunchTemplate"],
      ...["CreateLaunchTemplateVersion", "CreateNatGateway", "CreateRoute", "CreateRouteTable", "CreateSecurityGroup"],
      ...["CreateSubnet", "CreateTags", "CreateVpc", "CreateVpcEndpoint", "DeleteFlowLogs", "DeleteInternetGateway"],
      ...["DeleteLaunchTemplate", "DeleteLaunchTemplateVersions", "DeleteNatGateway", "DeleteRoute"],
      ...["DeleteRouteTable", "DeleteSecurityGroup", "DeleteSubnet", "DeleteTags", "DeleteVpc", "DeleteVpcEndpoints"],
      ...["DetachInternetGateway", "DisassociateAddress", "DisassociateRouteTable", "ModifyLaunchTemplate"],
      ...["ModifySecurityGroupRules", "ModifySubnetAttribute", "ModifyVpcAttribute", "ModifyVpcEndpoint"],
      ...["ReleaseAddress", "ReplaceRoute", "ReplaceRouteTableAssociation", "RevokeSecurityGroupEgress"],
      // EKS checks RunInstances for the launch templates of node groups.
      ...["RevokeSecurityGroupIngress", "RunInstances", "UpdateSecurityGroupRuleDescriptionsEgress"],
      "UpdateSecurityGroupRuleDescriptionsIngress",
    ],
  },
  {
    // Public parameters, whose names only AWS may give: their ARNs have no account. The pattern covers that.
    sid: "MachineImages",
    service: "ssm",
    resources: ({ region }) => [`${region}:*:parameter/aws/service/eks/optimized-ami/*`],
    read: ["GetParameter"],
  },
  {
    sid: "Autoscaling",
    service: "autoscaling",
    resources: all,
    read: ["DescribeAutoScalingGroups", "DescribeTags"],
  },
  {
    sid: "TagGroups",
    service: "autoscaling",
    resources: own("autoScalingGroup:*"),
    write: ["CreateOrUpdateTags", "DeleteTags"],
  },
  {
    sid: "Clusters",
    service: "eks",
    resources: all,
    read: ["DescribeAddonVersions"],
    // The first is for `npm run preflight`.
    write: ["ListClusters", "CreateCluster"],
  },
  {
    sid: "Cluster",
    service: "eks",
    resources: own("cluster/*", "nodegroup/*", "addon/*", "access-entry/*"),
    read: [
      ...["DescribeAccessEntry", "DescribeAddon", "DescribeCluster", "DescribeNodegroup", "DescribeUpdate"],
      ...["ListAssociatedAccessPolicies", "ListTagsForResource", "ListUpdates"],
    ],
    write: [
      ...["AssociateAccessPolicy", "CreateAccessEntry", "CreateAddon", "CreateNodegroup"],
      ...["DeleteAccessEntry", "DeleteAddon", "DeleteCluster", "DeleteNodegroup", "DisassociateAccessPolicy"],
      ...["TagResource", "UntagResource", "UpdateAccessEntry", "UpdateAddon", "UpdateClusterConfig"],
      ...["UpdateClusterVersion", "UpdateNodegroupConfig", "UpdateNodegroupVersion"],
    ],
  },
  {
    sid: "Roles",
    service: "iam",
    resources: global("role/*"),
    read: [
      ...["GetRole", "GetRolePolicy", "ListAttachedRolePolicies", "ListInstanceProfilesForRole", "ListRolePolicies"],
      "ListRoleTags",
    ],
    write: [
      ...["AttachRolePolicy", "CreateRole", "DeleteRole", "DeleteRolePermissionsBoundary", "DeleteRolePolicy"],
      ...["DetachRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy"],
      ...["TagRole", "UntagRole", "UpdateAssumeRolePolicy", "UpdateRole", "UpdateRoleDescription"],
    ],
  },
  {
    sid: "PassRoles",
    service: "iam",
    resources: global("role/*"),
    write: ["PassRole"],
    condition: (account) => ({ StringEquals: { "iam:PassedToService": roleUsers(account) } }),
  },
  {
    sid: "ServiceRoles",
    service: "iam",
    resources: global("role/aws-service-role/*"),
    write: ["CreateServiceLinkedRole"],
    condition: () => ({ StringEquals: { "iam:AWSServiceName": linkedServices } }),
  },
  {
    sid: "ClusterIssuer",
    service: "iam",
    resources: global("oidc-provider/oidc.eks.*"),
    read: ["GetOpenIDConnectProvider", "ListOpenIDConnectProviderTags"],
    write: [
      ...["AddClientIDToOpenIDConnectProvider", "CreateOpenIDConnectProvider", "DeleteOpenIDConnectProvider"],
      ...["RemoveClientIDFromOpenIDConnectProvider", "TagOpenIDConnectProvider", "UntagOpenIDConnectProvider"],
      "UpdateOpenIDConnectProviderThumbprint",
    ],
  },
  { sid: "ListAliases", service: "kms", resources: all, read: ["ListAliases"], write: ["CreateKey"] },
  {
    sid: "Keys",
    service: "kms",
    resources: own("key/*"),
    read: ["DescribeKey", "GetKeyPolicy", "GetKeyRotationStatus", "ListResourceTags"],
    write: [
      ...["CreateGrant", "EnableKey", "EnableKeyRotation", "DisableKeyRotation", "PutKeyPolicy"],
      ...["ScheduleKeyDeletion", "TagResource", "UntagResource", "UpdateKeyDescription"],
    ],
  },
  {
    sid: "KeyAliases",
    service: "kms",
    resources: own("alias/*", "key/*"),
    write: ["CreateAlias", "DeleteAlias", "UpdateAlias"],
  },
  {
    sid: "Buckets",
    service: "s3",
    resources: () => ["::*"],
    read: [
      ...["GetAccelerateConfiguration", "GetBucketAcl", "GetBucketCORS", "GetBucketLocation", "GetBucketLogging"],
      ...["GetBucketObjectLockConfiguration", "GetBucketOwnershipControls", "GetBucketPolicy"],
      ...["GetBucketPublicAccessBlock", "GetBucketRequestPayment", "GetBucketTagging", "GetBucketVersioning"],
      ...["GetBucketWebsite", "GetEncryptionConfiguration", "GetLifecycleConfiguration"],
      ...["GetReplicationConfiguration", "ListTagsForResource"],
    ],
    // The provider's refresh of a bucket begins with HeadBucket, which AWS authorizes by this action.
    refresh: ["ListBucket"],
    write: [
      ...["CreateBucket", "DeleteBucket", "DeleteBucketPolicy", "ListBucket", "PutBucketOwnershipControls"],
      ...["PutBucketPolicy", "PutBucketPublicAccessBlock", "PutBucketTagging", "PutBucketVersioning"],
      ...["PutEncryptionConfiguration", "PutLifecycleConfiguration", "TagResource", "UntagResource"],
    ],
  },
  {
    // A destroy empties the buckets of access logs, and no other.
    sid: "AccessLogs",
    service: "s3",
    resources: () => ["::*-access-logs", "::*-access-logs/*"],
    write: ["DeleteObject", "DeleteObjectVersion", "ListBucketVersions"],
  },
  {
    sid: "RegistryLogin",
    service: "ecr",
    resources: all,
    read: ["GetAuthorizationToken", "DescribePullThroughCacheRules"],
    write: ["CreatePullThroughCacheRule", "DeletePullThroughCacheRule", "UpdatePullThroughCacheRule"],
  },
  {
    sid: "Images",
    service: "ecr",
    resources: own("repository/*"),
    read: [
      ...["BatchCheckLayerAvailability", "BatchGetImage", "DescribeImages", "DescribeRepositories"],
      ...["GetDownloadUrlForLayer", "GetLifecyclePolicy", "GetRepositoryPolicy", "ListTagsForResource"],
    ],
    write: [
      ...["BatchDeleteImage", "CompleteLayerUpload", "CreateRepository", "DeleteLifecyclePolicy", "DeleteRepository"],
      ...["DeleteRepositoryPolicy", "InitiateLayerUpload", "PutImage", "PutImageScanningConfiguration"],
      ...["PutImageTagMutability", "PutLifecyclePolicy", "SetRepositoryPolicy", "TagResource", "UntagResource"],
      "UploadLayerPart",
    ],
  },
  {
    sid: "CacheAccount",
    service: "secretsmanager",
    // ECR's cache of Docker Hub reads secrets of this prefix only.
    resources: own("secret:ecr-pullthroughcache/*"),
    read: ["DescribeSecret", "GetResourcePolicy"],
    write: [
      ...["CreateSecret", "DeleteSecret", "GetSecretValue", "PutSecretValue", "TagResource", "UntagResource"],
      ...["UpdateSecret", "UpdateSecretVersionStage"],
    ],
  },
  {
    sid: "Metrics",
    service: "aps",
    resources: all,
    read: ["DescribeRuleGroupsNamespace", "DescribeWorkspace", "ListTagsForResource"],
    write: [
      ...["CreateRuleGroupsNamespace", "CreateWorkspace", "DeleteRuleGroupsNamespace", "DeleteWorkspace"],
      ...["PutRuleGroupsNamespace", "TagResource", "UntagResource", "UpdateWorkspaceAlias"],
    ],
  },
  {
    sid: "Budgets",
    service: "budgets",
    resources: global("budget/*"),
    read: ["ListTagsForResource", "ViewBudget"],
    write: ["ModifyBudget", "TagResource", "UntagResource"],
  },
  { sid: "RequestCertificates", service: "acm", resources: all, write: ["RequestCertificate"] },
  {
    sid: "Certificates",
    service: "acm",
    resources: own("certificate/*"),
    read: ["DescribeCertificate", "ListTagsForCertificate"],
    write: ["AddTagsToCertificate", "DeleteCertificate", "RemoveTagsFromCertificate", "UpdateCertificateOptions"],
  },
  {
    sid: "Records",
    service: "route53",
    resources: () => ["::hostedzone/*"],
    read: ["GetHostedZone", "ListResourceRecordSets"],
    write: ["ChangeResourceRecordSets"],
  },
  { sid: "RecordChanges", service: "route53", resources: () => ["::change/*"], write: ["GetChange"] },
  {
    sid: "ListLogGroups",
    service: "logs",
    resources: all,
    read: ["DescribeLogGroups"],
  },
  {
    sid: "LogGroups",
    service: "logs",
    resources: own("log-group:*"),
    read: ["ListTagsForResource", "ListTagsLogGroup"],
    write: [
      ...["CreateLogGroup", "DeleteLogGroup", "DeleteRetentionPolicy", "PutRetentionPolicy", "TagResource"],
      "UntagResource",
    ],
  },
];

/**
 * The statements of the grants whose actions `choose` takes: one for each, and one together for those on everything, because a
 * role's inline policies have 10,240 characters.
 */
function statements(account: Account, choose: (grant: Grant) => readonly string[]): Statement[] {
  const chosen = grants.flatMap((grant) => {
    const actions = choose(grant);
    const { sid, service, resources, condition } = grant;
    return actions.length === 0
      ? []
      : [
          {
            Sid: sid,
            Effect: "Allow",
            Action: actions.map((action) => `${service}:${action}`),
            Resource: resources(account).map((name) =>
              name === "*" ? name : `arn:${account.partition}:${service}:${name}`,
            ),
            ...(condition === undefined ? {} : { Condition: condition(account) }),
          } as const,
        ];
  });
  const everywhere = chosen.filter(({ Resource }) => Resource[0] === "*");
  return [
    { Sid: "Everywhere", Effect: "Allow", Action: everywhere.flatMap(({ Action }) => Action), Resource: ["*"] },
    ...chosen.filter((statement) => !everywhere.includes(statement)),
  ];
}

/** Reads what a stack has in the account, no object of any bucket and no secret; `refresh` lists the names of objects, too. */
export const readerPolicy = (account: Account, refreshes: boolean): PolicyDocument =>
  policy(...statements(account, ({ read = [], refresh = [] }) => (refreshes ? [...read, ...refresh] : read)));

/**
 * Reads, creates, changes and deletes what a stack has. It may create roles with any permission, so that it is as powerful as
 * an administrator of the account.
 */
export const deployerPolicy = (account: Account): PolicyDocument =>
  policy(...statements(account, ({ read = [], write = [] }) => [...read, ...write]));

/** As a role's own policy. Without the statements' names, for which the 10,240 characters of all of a role's policies have no room. */
export const inline = ({ Statement, ...document }: PolicyDocument): string =>
  JSON.stringify({ ...document, Statement: Statement.map(({ Sid: _, ...statement }) => statement) });

export interface State {
  readonly bucket: string;
  /** The stack's folder in the bucket. */
  readonly stack: string;
  readonly keyArn: string;
}

/** The stack's state and the key of its secrets: to read, and with `write` to change. */
export function statePolicy({ partition }: Account, { bucket, stack, keyArn }: State, write: boolean): PolicyDocument {
  const bucketArn = `arn:${partition}:s3:::${bucket}`;
  return policy(
    {
      Sid: "ListState",
      Effect: "Allow",
      Action: ["s3:ListBucket"],
      Resource: [bucketArn],
      Condition: { StringLike: { "s3:prefix": [stack, `${stack}/*`] } },
    },
    {
      Sid: "State",
      Effect: "Allow",
      Action: write ? ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"] : ["s3:GetObject"],
      Resource: [`${bucketArn}/${stack}/*`],
    },
    {
      Sid: "Secrets",
      Effect: "Allow",
      Action: write ? ["kms:Decrypt", "kms:Encrypt"] : ["kms:Decrypt"],
      Resource: [keyArn],
    },
  );
}

/** One GitHub environment can act as the role; the principals can too, for the first `up`. */
export function trust(
  providerArn: string,
  { subject, claims }: Pick<Environment, "subject" | "claims">,
  principals: readonly string[],
): PolicyDocument {
  const host = issuer.replace(/^https:\/\//, "");
  return policy(
    {
      Sid: "GitHub",
      Effect: "Allow",
      Action: ["sts:AssumeRoleWithWebIdentity"],
      Principal: { Federated: providerArn },
      Condition: {
        StringEquals: {
          [`${host}:aud`]: "sts.amazonaws.com",
          [`${host}:sub`]: subject,
          ...Object.fromEntries(Object.entries(claims).map(([claim, value]) => [`${host}:${claim}`, value])),
        },
      },
    },
    ...(principals.length === 0
      ? []
      : [
          {
            Sid: "FirstUp",
            Effect: "Allow",
            Action: ["sts:AssumeRole"],
            Principal: { AWS: [...new Set(principals)].sort() },
          } as const,
        ]),
  );
}
