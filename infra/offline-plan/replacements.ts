/**
 * Inputs whose change makes a provider delete the resource and create another one, for the types that the stacks use. The
 * offline plan cannot ask the provider. A type that is not listed is never marked. Some inputs force a replacement in one
 * direction only; they are listed, because a missing warning is worse than one too many.
 *
 * A test compares the AWS and Google entries with documents of the clouds and providers (test/support/infra). Kubernetes:
 * `forceNewProperties` in pulumi-kubernetes, provider/pkg/provider/diff.go.
 */

const terraformAws = "the AWS provider replaces on this input";
const terraformGcp = "the Google provider replaces on this input";
const kubernetes = "Kubernetes does not allow this field to change";
const identity = "the provider has another identity, and every resource on it is replaced";

const aws: Readonly<Record<string, readonly string[]>> = {
  "aws:acm/certificate:Certificate": [
    "certificateAuthorityArn",
    "domainName",
    "keyAlgorithm",
    "subjectAlternativeNames",
    "validationMethod",
    "validationOptions",
  ],
  "aws:acm/certificateValidation:CertificateValidation": ["certificateArn", "validationRecordFqdns"],
  "aws:amp/ruleGroupNamespace:RuleGroupNamespace": ["name", "workspaceId"],
  "aws:amp/workspace:Workspace": ["kmsKeyArn"],
  "aws:autoscaling/tag:Tag": ["autoscalingGroupName", "tag.key"],
  "aws:cloudtrail/trail:Trail": ["name"],
  "aws:cloudwatch/logGroup:LogGroup": ["name", "namePrefix", "logGroupClass"],
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": ["vpcId"],
  "aws:ec2/eip:Eip": ["address", "domain", "networkBorderGroup", "publicIpv4Pool"],
  "aws:ec2/flowLog:FlowLog": [
    "deliverCrossAccountRole",
    "destinationOptions",
    "eniId",
    "iamRoleArn",
    "logDestination",
    "logDestinationType",
    "logFormat",
    "maxAggregationInterval",
    "subnetId",
    "trafficType",
    "transitGatewayAttachmentId",
    "transitGatewayId",
    "vpcId",
  ],
  "aws:ec2/internetGateway:InternetGateway": [],
  "aws:ec2/launchTemplate:LaunchTemplate": ["name", "namePrefix"],
  "aws:ec2/natGateway:NatGateway": [
    "subnetId",
    "allocationId",
    "connectivityType",
    "privateIp",
    "secondaryPrivateIpAddressCount",
  ],
  "aws:ec2/route:Route": [
    "routeTableId",
    "destinationCidrBlock",
    "destinationIpv6CidrBlock",
    "destinationPrefixListId",
  ],
  "aws:ec2/routeTable:RouteTable": ["vpcId"],
  "aws:ec2/routeTableAssociation:RouteTableAssociation": ["subnetId", "gatewayId"],
  "aws:ec2/securityGroup:SecurityGroup": ["name", "namePrefix", "description", "vpcId"],
  "aws:ec2/subnet:Subnet": ["vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId", "ipv6Native", "outpostArn"],
  "aws:ec2/vpc:Vpc": ["cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"],
  "aws:ec2/vpcEndpoint:VpcEndpoint": ["vpcId", "serviceName", "vpcEndpointType"],
  "aws:ec2/vpcEndpointService:VpcEndpointService": [],
  "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation": ["vpcEndpointId", "routeTableId"],
  "aws:ecr/lifecyclePolicy:LifecyclePolicy": ["repository", "policy"],
  "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": [
    "ecrRepositoryPrefix",
    "upstreamRegistryUrl",
    "upstreamRepositoryPrefix",
  ],
  "aws:ecr/repository:Repository": ["name", "encryptionConfigurations"],
  "aws:eks/accessEntry:AccessEntry": ["clusterName", "principalArn", "type"],
  "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": [
    "clusterName",
    "principalArn",
    "policyArn",
    "accessScope",
  ],
  "aws:eks/addon:Addon": ["clusterName", "addonName", "namespaceConfig"],
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
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider": ["clientIdLists", "url"],
  "aws:iam/policy:Policy": ["name", "namePrefix", "path", "description"],
  "aws:iam/role:Role": ["name", "namePrefix", "path"],
  "aws:iam/rolePolicy:RolePolicy": ["name", "namePrefix", "role"],
  "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ["role", "policyArn"],
  "aws:kms/alias:Alias": ["name", "namePrefix"],
  "aws:kms/key:Key": ["customerMasterKeySpec", "keyUsage", "multiRegion", "customKeyStoreId", "xksKeyId"],
  "aws:route53/record:Record": ["name", "type", "zoneId"],
  "aws:s3/bucket:Bucket": ["bucket", "bucketPrefix", "objectLockConfiguration.objectLockEnabled", "objectLockEnabled"],
  "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": ["bucket", "expectedBucketOwner"],
  "aws:s3/bucketOwnershipControls:BucketOwnershipControls": ["bucket"],
  "aws:s3/bucketPolicy:BucketPolicy": ["bucket"],
  "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": ["bucket"],
  "aws:s3/bucketReplicationConfig:BucketReplicationConfig": ["bucket"],
  "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": [
    "bucket",
    "expectedBucketOwner",
  ],
  "aws:s3/bucketVersioning:BucketVersioning": ["bucket", "expectedBucketOwner"],
  "aws:secretsmanager/secret:Secret": ["name", "namePrefix"],
  "aws:secretsmanager/secretVersion:SecretVersion": [
    "secretId",
    "secretBinary",
    "secretString",
    "secretStringWoVersion",
  ],
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": ["securityGroupId"],
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ["securityGroupId"],
  "aws:wafv2/webAcl:WebAcl": ["name", "namePrefix", "scope"],
  "aws:wafv2/webAclAssociation:WebAclAssociation": ["resourceArn", "webAclArn"],
};

const google: Readonly<Record<string, readonly string[]>> = {
  "gcp:artifactregistry/repository:Repository": [
    "format",
    "kmsKeyName",
    "location",
    "mavenConfig.allowSnapshotOverwrites",
    "mavenConfig.versionPolicy",
    "mode",
    "remoteRepositoryConfig.aptRepository.publicRepository.repositoryBase",
    "remoteRepositoryConfig.aptRepository.publicRepository.repositoryPath",
    "remoteRepositoryConfig.commonRepository.uri",
    "remoteRepositoryConfig.description",
    "remoteRepositoryConfig.dockerRepository.customRepository.uri",
    "remoteRepositoryConfig.dockerRepository.publicRepository",
    "remoteRepositoryConfig.mavenRepository.customRepository.uri",
    "remoteRepositoryConfig.mavenRepository.publicRepository",
    "remoteRepositoryConfig.noCache",
    "remoteRepositoryConfig.npmRepository.customRepository.uri",
    "remoteRepositoryConfig.npmRepository.publicRepository",
    "remoteRepositoryConfig.pythonRepository.customRepository.uri",
    "remoteRepositoryConfig.pythonRepository.publicRepository",
    "remoteRepositoryConfig.yumRepository.publicRepository.repositoryBase",
    "remoteRepositoryConfig.yumRepository.publicRepository.repositoryPath",
    "repositoryId",
  ],
  "gcp:compute/address:Address": [
    "address",
    "addressType",
    "description",
    "ipCollection",
    "ipVersion",
    "ipv6EndpointType",
    "name",
    "network",
    "networkTier",
    "prefixLength",
    "purpose",
    "region",
    "subnetwork",
  ],
  "gcp:compute/firewall:Firewall": ["direction", "name", "params"],
  "gcp:compute/globalAddress:GlobalAddress": [
    "address",
    "addressType",
    "description",
    "ipVersion",
    "name",
    "network",
    "prefixLength",
    "purpose",
  ],
  "gcp:compute/network:Network": [
    "autoCreateSubnetworks",
    "description",
    "internalIpv6Range",
    "name",
    "networkProfile",
    "params",
  ],
  "gcp:compute/router:Router": ["encryptedInterconnectRouter", "name", "nccGateway", "network", "params", "region"],
  "gcp:compute/routerNat:RouterNat": ["endpointTypes", "initialNatIps", "name", "region", "router", "type"],
  "gcp:compute/securityPolicy:SecurityPolicy": ["name", "type"],
  "gcp:compute/serviceAttachment:ServiceAttachment": ["domainNames", "name", "region"],
  "gcp:compute/sSLPolicy:SSLPolicy": ["description", "name"],
  "gcp:compute/subnetwork:Subnetwork": [
    "description",
    "externalIpv6Prefix",
    "internalIpv6Prefix",
    "ipCidrRange",
    "name",
    "network",
    "params",
    "region",
    "reservedInternalRange",
    "resolveSubnetMask",
  ],
  "gcp:container/cluster:Cluster": [
    "clusterAutoscaling.autoProvisioningDefaults.bootDiskKmsKey",
    "clusterIpv4Cidr",
    "confidentialNodes",
    "datapathProvider",
    "dataplaneOptimizationMode",
    "defaultMaxPodsPerNode",
    "description",
    "enableAutopilot",
    "enableKubernetesAlpha",
    "enableTpu",
    "initialNodeCount",
    "ipAllocationPolicy",
    "location",
    "masterAuth.clientCertificateConfig.issueClientCertificate",
    "name",
    "network",
    "networkingMode",
    "nodeConfig",
    "nodePools",
    "privateClusterConfig.masterIpv4CidrBlock",
    "privateClusterConfig.privateEndpointSubnetwork",
    "subnetwork",
    "tpuConfig",
    "userManagedKeysConfig",
  ],
  // Not machineType, diskType and diskSizeGb, which replace the nodes in place (terraform-provider-google 5.10.0).
  "gcp:container/nodePool:NodePool": [
    "cluster",
    "initialNodeCount",
    "location",
    "maxPodsPerNode",
    "name",
    "namePrefix",
    "networkConfig.acceleratorNetworkProfile",
    "networkConfig.additionalNodeNetworkConfigs",
    "networkConfig.additionalPodNetworkConfigs",
    "networkConfig.createPodRange",
    "networkConfig.podCidrOverprovisionConfig",
    "networkConfig.podIpv4CidrBlock",
    "networkConfig.podRange",
    "networkConfig.subnetwork",
    "nodeConfig.advancedMachineFeatures.enableNestedVirtualization",
    "nodeConfig.advancedMachineFeatures.threadsPerCore",
    "nodeConfig.bootDiskKmsKey",
    "nodeConfig.confidentialNodes",
    "nodeConfig.enableConfidentialStorage",
    "nodeConfig.ephemeralStorageConfig",
    "nodeConfig.ephemeralStorageLocalSsdConfig",
    "nodeConfig.flexStart",
    "nodeConfig.guestAccelerators",
    "nodeConfig.hostMaintenancePolicy",
    "nodeConfig.localNvmeSsdBlockConfig",
    "nodeConfig.localSsdCount",
    "nodeConfig.localSsdEncryptionMode",
    "nodeConfig.maxRunDuration",
    "nodeConfig.metadata",
    "nodeConfig.minCpuPlatform",
    "nodeConfig.nodeGroup",
    "nodeConfig.oauthScopes",
    "nodeConfig.preemptible",
    "nodeConfig.reservationAffinity",
    "nodeConfig.sandboxConfig",
    "nodeConfig.secondaryBootDisks",
    "nodeConfig.serviceAccount",
    "nodeConfig.shieldedInstanceConfig",
    "nodeConfig.soleTenantConfig",
    "nodeConfig.spot",
    "placementPolicy",
    "queuedProvisioning",
  ],
  "gcp:dns/recordSet:RecordSet": ["managedZone", "name", "routingPolicy.healthCheck"],
  "gcp:kms/cryptoKey:CryptoKey": [
    "cryptoKeyBackend",
    "destroyScheduledDuration",
    "importOnly",
    "keyRing",
    "name",
    "purpose",
    "versionTemplate.protectionLevel",
  ],
  "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": ["condition", "cryptoKeyId", "member", "role"],
  "gcp:kms/keyRing:KeyRing": ["location", "name"],
  "gcp:projects/iAMAuditConfig:IAMAuditConfig": [],
  "gcp:projects/iAMCustomRole:IAMCustomRole": ["roleId"],
  "gcp:projects/iAMMember:IAMMember": ["condition", "member", "role"],
  "gcp:projects/service:Service": ["service"],
  "gcp:projects/serviceIdentity:ServiceIdentity": ["service"],
  "gcp:secretmanager/secret:Secret": [
    "replication.auto",
    "replication.userManaged.replicas.location",
    "secretId",
    "tags",
  ],
  "gcp:secretmanager/secretIamMember:SecretIamMember": ["condition", "member", "role", "secretId"],
  "gcp:secretmanager/secretVersion:SecretVersion": [
    "isSecretDataBase64",
    "secret",
    "secretData",
    "secretDataWoVersion",
  ],
  "gcp:serviceaccount/account:Account": ["accountId"],
  "gcp:serviceaccount/iAMMember:IAMMember": ["condition", "member", "role", "serviceAccountId"],
  "gcp:storage/bucket:Bucket": [
    "customPlacementConfig",
    "enableObjectRetention",
    "hierarchicalNamespace",
    "location",
    "name",
  ],
  "gcp:storage/bucketIAMMember:BucketIAMMember": ["bucket", "condition", "member", "role"],
  "gcp:storage/managedFolder:ManagedFolder": ["bucket", "name"],
  "gcp:storage/managedFolderIamMember:ManagedFolderIamMember": [
    "bucket",
    "condition",
    "managedFolder",
    "member",
    "role",
  ],
};

/** In addition to the name and namespace of every object. */
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
const providers: Readonly<Record<string, readonly string[]>> = {
  "pulumi:providers:kubernetes": ["clusterIdentifier", "renderYamlToDirectory"],
};

/** The listed types. A test requires that every type of the stacks is among them. */
export const knownTypes: ReadonlySet<string> = new Set([...Object.keys(aws), ...Object.keys(google)]);

/** Paths of inputs by type, for tests. */
export const tables: Readonly<Record<string, readonly string[]>> = { ...aws, ...google };

const covers = (properties: readonly string[] | undefined, path: string): boolean =>
  properties?.some(
    (property) => path === property || path.startsWith(`${property}.`) || path.startsWith(`${property}[`),
  ) ?? false;

/**
 * Inputs that the provider computes where the program leaves them out: removing one changes nothing. Source: Optional and
 * Computed in the provider's schemas.
 */
const computedWithout: Readonly<Record<string, readonly string[]>> = {
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
  if (covers(aws[type], path) || (type.startsWith("aws:") && path === "region")) return terraformAws;
  if (covers(google[type], path) || (type.startsWith("gcp:") && path === "project")) return terraformGcp;
  if (!type.startsWith("kubernetes:")) return undefined;
  return covers(objects[type], path) || covers(["metadata.name", "metadata.namespace"], path) ? kubernetes : undefined;
}
