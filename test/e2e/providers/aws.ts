/** Refusals of AWS, and references that prevent a deletion, for the types of the stacks. */

import type { Wire } from "../../../infra/offline-plan/recorder.ts";
import {
  type Cloud,
  type Reference,
  type Refusal,
  record,
  text,
  type UpdateRefusal,
  valuesAt,
  type World,
} from "./cloud.ts";

const vpc = "aws:ec2/vpc:Vpc";
const subnet = "aws:ec2/subnet:Subnet";
const gateway = "aws:ec2/internetGateway:InternetGateway";
const nat = "aws:ec2/natGateway:NatGateway";
const table = "aws:ec2/routeTable:RouteTable";
const route = "aws:ec2/route:Route";
const association = "aws:ec2/routeTableAssociation:RouteTableAssociation";
const address = "aws:ec2/eip:Eip";
const group = "aws:ec2/securityGroup:SecurityGroup";
const role = "aws:iam/role:Role";
const attachment = "aws:iam/rolePolicyAttachment:RolePolicyAttachment";
const bucket = "aws:s3/bucket:Bucket";
const cluster = "aws:eks/cluster:Cluster";
const nodeGroup = "aws:eks/nodeGroup:NodeGroup";
const addon = "aws:eks/addon:Addon";
const endpoint = "aws:ec2/vpcEndpoint:VpcEndpoint";
const oidc = "aws:iam/openIdConnectProvider:OpenIdConnectProvider";

const repository = "aws:ecr/repository:Repository";

const dependencyViolation = "DependencyViolation: has dependencies and cannot be deleted";
const deleteConflict = "DeleteConflict: cannot delete entity, must detach all policies first";

const inVpc: Reference = { path: "vpcId", to: vpc, holds: dependencyViolation };
const inBucket: readonly Reference[] = [{ path: "bucket", to: bucket }];
const inCluster: Reference = { path: "clusterName", to: cluster };

const references: Cloud["references"] = {
  [subnet]: [inVpc],
  [gateway]: [inVpc],
  [table]: [inVpc],
  [group]: [inVpc],
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": [{ path: "vpcId", to: vpc }],
  [endpoint]: [
    inVpc,
    { path: "routeTableIds", to: table },
    { path: "subnetIds", to: subnet, holds: dependencyViolation },
    { path: "securityGroupIds", to: group, holds: dependencyViolation },
  ],
  [nat]: [
    { path: "subnetId", to: subnet, holds: dependencyViolation },
    { path: "allocationId", to: address, holds: "AuthFailure: the address is in use by a NAT gateway" },
  ],
  [route]: [
    { path: "routeTableId", to: table },
    { path: "natGatewayId", to: nat },
    { path: "gatewayId", to: gateway },
  ],
  [association]: [
    { path: "routeTableId", to: table, holds: dependencyViolation },
    { path: "subnetId", to: subnet },
  ],
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": [
    { path: "referencedSecurityGroupId", to: group, holds: dependencyViolation },
  ],
  "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": [{ path: "securityGroupId", to: group }],
  [cluster]: [
    { path: "roleArn", to: role },
    { path: "vpcConfig.subnetIds", to: subnet, holds: dependencyViolation },
    { path: "encryptionConfig.provider.keyArn", to: "aws:kms/key:Key" },
  ],
  [nodeGroup]: [
    { ...inCluster, holds: "ResourceInUseException: Cluster has nodegroups attached" },
    { path: "nodeRoleArn", to: role },
    { path: "subnetIds", to: subnet, holds: dependencyViolation },
    { path: "launchTemplate.id", to: "aws:ec2/launchTemplate:LaunchTemplate" },
  ],
  [addon]: [inCluster, { path: "serviceAccountRoleArn", to: role }],
  "aws:eks/accessEntry:AccessEntry": [inCluster],
  "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": [inCluster],
  [attachment]: [{ path: "role", to: role, holds: deleteConflict }],
  "aws:iam/rolePolicy:RolePolicy": [{ path: "role", to: role, holds: deleteConflict }],
  "aws:ecr/lifecyclePolicy:LifecyclePolicy": [{ path: "repository", to: repository }],
  "aws:kms/alias:Alias": [{ path: "targetKeyId", to: "aws:kms/key:Key" }],
  "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": inBucket,
  "aws:s3/bucketOwnershipControls:BucketOwnershipControls": inBucket,
  "aws:s3/bucketPolicy:BucketPolicy": inBucket,
  "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": inBucket,
  "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": inBucket,
  "aws:s3/bucketVersioning:BucketVersioning": inBucket,
};

/** ARNs of the policies that are attached to a role. */
const attached = (world: World, roleArn: unknown): string[] => {
  const owner = world.find(role, roleArn)?.outputs.name;
  return world
    .of(attachment)
    .filter(({ inputs }) => inputs.role === owner)
    .map(({ inputs }) => text(inputs.policyArn));
};

const hasPolicy = (world: World, roleArn: unknown, name: string): boolean =>
  attached(world, roleArn).some((arn) => arn.endsWith(`/${name}`));

const addonNames = (world: World, clusterName: unknown): unknown[] =>
  world
    .of(addon)
    .filter(({ inputs }) => inputs.clusterName === clusterName)
    .map(({ inputs }) => inputs.addonName);

/** Whether nodes in a subnet get to EKS and the registries: through NAT, or through endpoints in the VPC. */
function reachesAws(world: World, subnetId: unknown): boolean {
  const tables = world
    .of(association)
    .filter(({ inputs }) => inputs.subnetId === subnetId)
    .map(({ inputs }) => inputs.routeTableId);
  const out = world.of(route).some(({ inputs }) => tables.includes(inputs.routeTableId) && inputs.natGatewayId);
  return out || world.of(endpoint).some(({ inputs }) => text(inputs.serviceName).endsWith(".ecr.api"));
}

const clusterRole: Refusal = ({ inputs }, world) =>
  hasPolicy(world, inputs.roleArn, "AmazonEKSClusterPolicy")
    ? undefined
    : "InvalidParameterException: the cluster's role lacks AmazonEKSClusterPolicy";

const zonesOf = (inputs: Wire, world: World): Set<unknown> =>
  new Set(valuesAt(inputs, "vpcConfig.subnetIds").map((id) => world.find(subnet, id)?.inputs.availabilityZone));

const twoZones: Refusal = ({ inputs }, world) =>
  zonesOf(inputs, world).size >= 2
    ? undefined
    : "UnsupportedAvailabilityZoneException: subnets in at least two zones are required";

/** aws/containers-roadmap#2258 */
const sameZones: UpdateRefusal = (item, inputs, world) => {
  const zones = (of: Wire) => [...zonesOf(of, world)].map(String).sort().join(", ");
  return zones(item.inputs) === zones(inputs)
    ? undefined
    : `InvalidParameterException: Provided subnets belong to the AZs ${zones(inputs)}; provide subnets of ${zones(item.inputs)}`;
};

/** The provider sends the whole of the scaling, and AWS adapts nothing (aws/containers-roadmap#1637). */
const boundsFit: UpdateRefusal = (_item, inputs) => {
  const [least, desired] = ["minSize", "desiredSize"].map((size) =>
    Number(valuesAt(inputs, `scalingConfig.${size}`)[0]),
  );
  return Number(least) > Number(desired)
    ? `InvalidParameterException: Minimum capacity ${least} can't be greater than desired size ${desired}`
    : undefined;
};

const nodesCanJoin: Refusal = ({ inputs }, world) => {
  const lost = valuesAt(inputs, "subnetIds").find((id) => !reachesAws(world, id));
  if (lost !== undefined)
    return `NodeCreationFailure: instances in ${lost} failed to join the cluster, nothing routes them to AWS`;
  for (const policy of ["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"])
    if (!hasPolicy(world, inputs.nodeRoleArn, policy))
      return `NodeCreationFailure: instances failed to join the cluster, their role lacks ${policy}`;
  const cni = world
    .of(addon)
    .find(({ inputs: { addonName, clusterName } }) => addonName === "vpc-cni" && clusterName === inputs.clusterName);
  if (cni === undefined) return "NodeCreationFailure: unhealthy nodes, no CNI plugin is installed";
  return hasPolicy(world, cni.inputs.serviceAccountRoleArn ?? inputs.nodeRoleArn, "AmazonEKS_CNI_Policy")
    ? undefined
    : "NodeCreationFailure: unhealthy nodes, the CNI plugin may not make network interfaces";
};

/** Add-ons that are Deployments stay DEGRADED without an untainted node, and their creation fails after 20 minutes. */
const needsNodes: Refusal = ({ inputs }, world) => {
  if (["vpc-cni", "kube-proxy", "eks-pod-identity-agent"].includes(text(inputs.addonName))) return undefined;
  const home = world
    .of(nodeGroup)
    .some(
      (nodes) =>
        nodes.inputs.clusterName === inputs.clusterName &&
        valuesAt(nodes.inputs, "taints").length === 0 &&
        Number(valuesAt(nodes.inputs, "scalingConfig.minSize")[0]) > 0,
    );
  return home ? undefined : `${inputs.addonName} is DEGRADED: InsufficientNumberOfReplicas, it has no node to run on`;
};

const noSecondAddon: Refusal = ({ inputs }, world) =>
  addonNames(world, inputs.clusterName).includes(inputs.addonName)
    ? `ResourceInUseException: add-on ${inputs.addonName} already exists`
    : undefined;

const hasEntry: Refusal = ({ inputs }, world) =>
  world.of("aws:eks/accessEntry:AccessEntry").some((entry) => entry.inputs.principalArn === inputs.principalArn)
    ? undefined
    : `ResourceNotFoundException: there is no access entry for ${inputs.principalArn}`;

const hasInternet: Refusal = ({ inputs }, world) => {
  const own = world.find(subnet, inputs.subnetId)?.inputs.vpcId;
  return world.of(gateway).some((item) => item.inputs.vpcId === own)
    ? undefined
    : `Gateway.NotAttached: network ${own} has no Internet gateway attached`;
};

const trustedExists: Refusal = ({ inputs }, world) => {
  const document: unknown = JSON.parse(text(inputs.assumeRolePolicy) || "{}");
  const federated = valuesAt(document, "Statement.Principal.Federated");
  const missing = federated.find((arn) => world.find(oidc, arn) === undefined);
  return missing === undefined
    ? undefined
    : `MalformedPolicyDocument: Invalid principal in policy, there is no provider ${missing}`;
};

const nameIsFree =
  (type: string, ...properties: readonly string[]): Refusal =>
  ({ inputs }, world) => {
    const taken = properties.find(
      (property) =>
        inputs[property] !== undefined && world.of(type).some((item) => item.inputs[property] === inputs[property]),
    );
    return taken === undefined ? undefined : `AlreadyExists: ${inputs[taken]} exists already`;
  };

/** Configuration reaches a provider as JSON in text. */
const parsed = (value: unknown): unknown => {
  try {
    return typeof value === "string" ? JSON.parse(value) : value;
  } catch {
    return value;
  }
};

function tagsAll(inputs: Wire, configuration: Wire): Wire {
  return { ...record(record(parsed(configuration.defaultTags)).tags), ...record(inputs.tags) };
}

/** @param account - The account that the caller's credentials are of. */
export function awsCloud(account: string): Cloud {
  return {
    sdk: "@pulumi/aws",
    references,
    refusals: {
      [nat]: [hasInternet],
      [role]: [trustedExists, nameIsFree(role, "name")],
      [cluster]: [clusterRole, twoZones, nameIsFree(cluster, "name")],
      [nodeGroup]: [nodesCanJoin],
      [addon]: [noSecondAddon, needsNodes],
      [bucket]: [nameIsFree(bucket, "bucket")],
      [repository]: [nameIsFree(repository, "name")],
      "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": [hasEntry],
      "aws:cloudwatch/logGroup:LogGroup": [nameIsFree("aws:cloudwatch/logGroup:LogGroup", "name")],
      "aws:kms/alias:Alias": [nameIsFree("aws:kms/alias:Alias", "name")],
    },
    refusedUpdates: { [cluster]: [sameZones], [nodeGroup]: [boundsFit] },
    keeps: {
      [cluster]: ({ inputs }) =>
        inputs.deletionProtection === true
          ? "InvalidRequestException: the cluster has deletion protection enabled"
          : undefined,
    },
    inherited: (_type, inputs, configuration, computed) =>
      computed.includes("tagsAll") ? { tagsAll: tagsAll(inputs, configuration) } : {},
    refuseConfiguration: (configuration) => {
      const allowed = parsed(configuration.allowedAccountIds);
      return Array.isArray(allowed) && !allowed.includes(account)
        ? `AWS account ID not allowed: ${account}, allowedAccountIds has ${allowed.join(", ")}`
        : undefined;
    },
    onUpdate: {
      "aws:ec2/launchTemplate:LaunchTemplate": ({ latestVersion }) => ({ latestVersion: Number(latestVersion) + 1 }),
    },
  };
}
