/**
 * What the identities of the workflows may do in an AWS account, by the types of resources that a stack has. `npm run
 * test:schemas` compares it with the permissions that AWS's own schemas name for those types.
 */

import { dnsSuffixOf } from "../infra/clouds/aws/identity/arn.ts";
import type { Statement } from "../infra/clouds/aws/identity/policy.ts";

export interface Account {
  readonly partition: string;
  readonly region: string;
  readonly account: string;
}

/**
 * Actions on the same resources: `read` for previews and drift, `refresh` for drift in addition, `read` and `write` for the
 * deployer.
 */
export interface Grant {
  readonly sid: string;
  readonly service: string;
  /** Resources after `arn:<partition>:<service>:`, or whole ARNs; "*" alone for actions that AWS authorizes for all or none. */
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
/** In every region: the copy of the tables has a key of its own. */
const everywhere =
  (...names: readonly string[]) =>
  ({ account }: Account): string[] =>
    names.map((name) => `*:${account}:${name}`);
const global =
  (...names: readonly string[]) =>
  ({ account }: Account): string[] =>
    names.map((name) => `:${account}:${name}`);

/** The services that the stack's roles are for. EC2 alone has a name of its own in China. */
const roleUsers = ({ region }: Account): string[] => [
  "eks.amazonaws.com",
  `ec2.${dnsSuffixOf(region)}`,
  "vpc-flow-logs.amazonaws.com",
  "s3.amazonaws.com",
];
/** The services whose own roles AWS creates with an account's first cluster, nodes or load balancer. */
const linkedServices = [
  ...["eks", "eks-nodegroup", "autoscaling", "elasticloadbalancing", "spot", "pullthroughcache.ecr"],
].map((name) => `${name}.amazonaws.com`);

export const grants: readonly Grant[] = [
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
  { sid: "PrivateLink", service: "ec2", resources: all, read: ["DescribeVpcEndpointServiceConfigurations"] },
  {
    sid: "ChangePrivateLink",
    service: "ec2",
    resources: own("vpc-endpoint-service/*"),
    read: ["DescribeVpcEndpointServicePermissions"],
    write: [
      ...["CreateVpcEndpointServiceConfiguration", "DeleteVpcEndpointServiceConfigurations"],
      ...["ModifyVpcEndpointServiceConfiguration", "ModifyVpcEndpointServicePermissions"],
    ],
  },
  {
    sid: "LoadBalancers",
    service: "elasticloadbalancing",
    resources: all,
    read: ["DescribeLoadBalancerAttributes", "DescribeLoadBalancers", "DescribeTags", "GetLoadBalancerWebACL"],
    write: ["CreateWebACLAssociation", "DeleteWebACLAssociation", "SetWebAcl"],
  },
  {
    sid: "Firewalls",
    service: "wafv2",
    resources: (account) => [
      ...own("regional/webacl/*", "regional/managedruleset/*")(account),
      `arn:${account.partition}:elasticloadbalancing:${account.region}:${account.account}:loadbalancer/app/*`,
    ],
    read: ["GetWebACL", "GetWebACLForResource", "ListTagsForResource"],
    write: [
      ...["AssociateWebACL", "CreateWebACL", "DeleteWebACL", "DisassociateWebACL", "TagResource", "UntagResource"],
      "UpdateWebACL",
    ],
  },
  {
    // Public parameters, whose names only AWS may give: their ARNs have no account. The pattern covers that.
    sid: "MachineImages",
    service: "ssm",
    resources: ({ region }) => [`${region}:*:parameter/aws/service/eks/optimized-ami/*`],
    read: ["GetParameter"],
  },
  { sid: "Autoscaling", service: "autoscaling", resources: all, read: ["DescribeAutoScalingGroups", "DescribeTags"] },
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
    resources: everywhere("key/*"),
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
      ...["PutEncryptionConfiguration", "PutLifecycleConfiguration", "PutReplicationConfiguration", "TagResource"],
      "UntagResource",
    ],
  },
  {
    // A destroy empties the buckets of logs, and no other.
    sid: "AccessLogs",
    service: "s3",
    resources: () =>
      ["access-logs", "audit-logs", "ray-history"].flatMap((suffix) => [`::*-${suffix}`, `::*-${suffix}/*`]),
    write: ["DeleteObject", "DeleteObjectVersion", "ListBucketVersions"],
  },
  { sid: "ListTrails", service: "cloudtrail", resources: all, read: ["DescribeTrails"] },
  {
    sid: "Trails",
    service: "cloudtrail",
    resources: own("trail/*"),
    read: ["GetEventSelectors", "GetInsightSelectors", "GetTrail", "GetTrailStatus", "ListTags"],
    write: [
      ...["AddTags", "CreateTrail", "DeleteTrail", "PutEventSelectors", "RemoveTags", "StartLogging", "StopLogging"],
      "UpdateTrail",
    ],
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
  { sid: "ListLogGroups", service: "logs", resources: all, read: ["DescribeLogGroups"] },
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
