/**
 * Inputs whose change makes a provider delete the resource and create another one. Offline nobody can ask the provider,
 * so this is a table of what its sources say (`ForceNew` or `RequiresReplace` in the Terraform providers that @pulumi/aws 7
 * and @pulumi/gcp 9 wrap; `forceNewProperties` in pulumi-kubernetes, provider/pkg/provider/diff.go) for the types that the
 * stacks use. A type that is missing here is never marked. Some changes are replaced only in one direction (a subnetwork
 * may grow in place); those are marked as well, for a plan should warn too often rather than too seldom.
 */

const terraformAws = "the AWS provider replaces on this input";
const terraformGcp = "the Google provider replaces on this input";
const kubernetes = "Kubernetes does not allow this field to change";

const aws: Readonly<Record<string, readonly string[]>> = {
  "aws:autoscaling/tag:Tag": ["autoscalingGroupName", "tag.key"],
  "aws:cloudwatch/logGroup:LogGroup": ["name", "namePrefix", "logGroupClass"],
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": ["vpcId"],
  "aws:ec2/eip:Eip": ["domain", "networkBorderGroup", "publicIpv4Pool"],
  "aws:ec2/internetGateway:InternetGateway": [],
  "aws:ec2/launchTemplate:LaunchTemplate": ["name", "namePrefix"],
  "aws:ec2/natGateway:NatGateway": ["subnetId", "allocationId", "connectivityType", "privateIp"],
  "aws:ec2/route:Route": [
    "routeTableId",
    "destinationCidrBlock",
    "destinationIpv6CidrBlock",
    "destinationPrefixListId",
  ],
  "aws:ec2/routeTable:RouteTable": ["vpcId"],
  "aws:ec2/routeTableAssociation:RouteTableAssociation": ["subnetId", "gatewayId"],
  "aws:ec2/securityGroup:SecurityGroup": ["name", "namePrefix", "description", "vpcId"],
  "aws:ec2/subnet:Subnet": ["vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId", "outpostArn"],
  "aws:ec2/vpc:Vpc": ["cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"],
  "aws:ec2/vpcEndpoint:VpcEndpoint": ["vpcId", "serviceName", "vpcEndpointType"],
  "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation": ["vpcEndpointId", "routeTableId"],
  "aws:eks/accessEntry:AccessEntry": ["clusterName", "principalArn", "type"],
  "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": [
    "clusterName",
    "principalArn",
    "policyArn",
    "accessScope",
  ],
  "aws:eks/addon:Addon": ["clusterName", "addonName"],
  "aws:eks/cluster:Cluster": [
    "name",
    "roleArn",
    "bootstrapSelfManagedAddons",
    "accessConfig.bootstrapClusterCreatorAdminPermissions",
    "encryptionConfig",
    "kubernetesNetworkConfig.ipFamily",
    "kubernetesNetworkConfig.serviceIpv4Cidr",
    "outpostConfig",
  ],
  "aws:eks/nodeGroup:NodeGroup": [
    "clusterName",
    "nodeGroupName",
    "nodeGroupNamePrefix",
    "nodeRoleArn",
    "subnetIds",
    "amiType",
    "capacityType",
    "diskSize",
    "instanceTypes",
    "launchTemplate.id",
    "launchTemplate.name",
    "remoteAccess",
  ],
  "aws:eks/podIdentityAssociation:PodIdentityAssociation": ["clusterName", "namespace", "serviceAccount"],
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider": ["url"],
  "aws:iam/policy:Policy": ["name", "namePrefix", "path", "description"],
  "aws:iam/role:Role": ["name", "namePrefix", "path"],
  "aws:iam/rolePolicy:RolePolicy": ["name", "namePrefix", "role"],
  "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ["role", "policyArn"],
  "aws:kms/alias:Alias": ["name", "namePrefix"],
  "aws:kms/key:Key": ["customerMasterKeySpec", "keyUsage", "multiRegion", "customKeyStoreId"],
  "aws:s3/bucket:Bucket": ["bucket", "bucketPrefix", "objectLockEnabled"],
  "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": ["bucket", "expectedBucketOwner"],
  "aws:s3/bucketOwnershipControls:BucketOwnershipControls": ["bucket"],
  "aws:s3/bucketPolicy:BucketPolicy": ["bucket"],
  "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": ["bucket"],
  "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": [
    "bucket",
    "expectedBucketOwner",
  ],
  "aws:s3/bucketVersioning:BucketVersioning": ["bucket", "expectedBucketOwner"],
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": ["securityGroupId"],
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ["securityGroupId"],
};

const google: Readonly<Record<string, readonly string[]>> = {
  "gcp:compute/address:Address": ["name", "region", "address", "addressType", "networkTier"],
  "gcp:compute/firewall:Firewall": ["name", "network", "direction"],
  "gcp:compute/globalAddress:GlobalAddress": ["name", "address", "addressType", "ipVersion"],
  "gcp:compute/network:Network": ["name", "autoCreateSubnetworks", "description"],
  "gcp:compute/router:Router": ["name", "network", "region"],
  "gcp:compute/routerNat:RouterNat": ["name", "router", "region", "type"],
  "gcp:compute/sSLPolicy:SSLPolicy": ["name", "description"],
  "gcp:compute/subnetwork:Subnetwork": ["name", "network", "region", "ipCidrRange", "purpose"],
  "gcp:container/cluster:Cluster": [
    "name",
    "location",
    "network",
    "subnetwork",
    "networkingMode",
    "datapathProvider",
    "enableAutopilot",
    "defaultMaxPodsPerNode",
    "initialNodeCount",
    "ipAllocationPolicy",
    "privateClusterConfig.masterIpv4CidrBlock",
    "confidentialNodes",
    "nodeConfig",
  ],
  // Not machineType, diskType and diskSizeGb: those roll the nodes in place (terraform-provider-google 5.10.0).
  "gcp:container/nodePool:NodePool": [
    "name",
    "namePrefix",
    "cluster",
    "location",
    "initialNodeCount",
    "maxPodsPerNode",
    "placementPolicy",
    "nodeConfig.serviceAccount",
    "nodeConfig.oauthScopes",
    "nodeConfig.spot",
    "nodeConfig.preemptible",
    "nodeConfig.guestAccelerators",
    "nodeConfig.metadata",
    "nodeConfig.minCpuPlatform",
    "nodeConfig.localSsdCount",
    "nodeConfig.bootDiskKmsKey",
    "nodeConfig.shieldedInstanceConfig",
    "nodeConfig.confidentialNodes",
  ],
  "gcp:kms/cryptoKey:CryptoKey": ["name", "keyRing", "purpose"],
  "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": ["cryptoKeyId", "role", "member", "condition"],
  "gcp:kms/keyRing:KeyRing": ["name", "location"],
  "gcp:projects/iAMCustomRole:IAMCustomRole": ["roleId"],
  "gcp:projects/iAMMember:IAMMember": ["role", "member", "condition"],
  "gcp:projects/service:Service": ["service"],
  "gcp:serviceaccount/account:Account": ["accountId"],
  "gcp:serviceaccount/iAMMember:IAMMember": ["serviceAccountId", "role", "member", "condition"],
  "gcp:storage/bucket:Bucket": ["name", "location", "customPlacementConfig", "enableObjectRetention"],
  "gcp:storage/bucketIAMMember:BucketIAMMember": ["bucket", "role", "member", "condition"],
  "gcp:storage/managedFolder:ManagedFolder": ["bucket", "name"],
  "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": [
    "bucket",
    "managedFolder",
    "role",
    "member",
    "condition",
  ],
};

/** Every object's name and namespace besides. */
const objects: Readonly<Record<string, readonly string[]>> = {
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
  "kubernetes:core/v1:PersistentVolumeClaim": ["spec"],
  "kubernetes:core/v1:ResourceQuota": ["spec.scopes"],
  "kubernetes:core/v1:Secret": ["data", "stringData", "type"],
  "kubernetes:core/v1:Service": ["spec.clusterIP"],
  "kubernetes:helm.sh/v3:Release": ["name", "namespace"],
  "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ["roleRef"],
  "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ["roleRef"],
  "kubernetes:storage.k8s.io/v1:StorageClass": ["parameters", "provisioner"],
};

/** The types that the table knows, for a test that every type of the stacks is among them. */
export const knownTypes: ReadonlySet<string> = new Set([...Object.keys(aws), ...Object.keys(google)]);

/** Type to the paths of its inputs, for tests. */
export const tables: Readonly<Record<string, readonly string[]>> = { ...aws, ...google };

const covers = (properties: readonly string[] | undefined, path: string): boolean =>
  properties?.some(
    (property) => path === property || path.startsWith(`${property}.`) || path.startsWith(`${property}[`),
  ) ?? false;

/**
 * Why a change of this input likely replaces the resource; undefined where the table does not say so.
 *
 * @param path - The input's path without list indexes, such as `nodeConfig.spot`.
 */
export function replacementSource(type: string, path: string): string | undefined {
  if (covers(aws[type], path) || (type.startsWith("aws:") && path === "region")) return terraformAws;
  if (covers(google[type], path) || (type.startsWith("gcp:") && path === "project")) return terraformGcp;
  if (!type.startsWith("kubernetes:")) return undefined;
  return covers(objects[type], path) || covers(["metadata.name", "metadata.namespace"], path) ? kubernetes : undefined;
}
