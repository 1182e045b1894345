/** What must exist before what, and go after it: the same edges decide creation and, reversed, deletion. */

import type { Capture, PlannedResource } from "../../../infra/offline-plan/capture.ts";
import { DependencyGraph } from "./graph.ts";

type Select = (resource: PlannedResource) => boolean;

const type =
  (...types: string[]): Select =>
  (resource) =>
    types.includes(resource.type);
const both =
  (...parts: Select[]): Select =>
  (resource) =>
    parts.every((part) => part(resource));
const input =
  (name: string, ...values: string[]): Select =>
  ({ inputs }) =>
    values.includes(String(inputs[name]));
const not =
  (select: Select): Select =>
  (resource) =>
    !select(resource);
const named =
  (pattern: RegExp): Select =>
  ({ name }) =>
    pattern.test(name);

const kubernetesObject: Select = ({ type, kind }) => type.startsWith("kubernetes:") && kind !== "component";
const addon = (...names: string[]): Select => both(type("aws:eks/addon:Addon"), input("addonName", ...names));
const nodes = type("aws:eks/nodeGroup:NodeGroup", "gcp:container/nodePool:NodePool");
const cluster = type("aws:eks/cluster:Cluster", "gcp:container/cluster:Cluster");
const rayCluster = type("kubernetes:ray.io/v1:RayCluster");
const release = type("kubernetes:helm.sh/v3:Release");
const operator = both(release, input("chart", "kuberay-operator"));
const definitions = type("kubernetes:yaml/v2:ConfigGroup");
const crds = both(definitions, named(/^kuberay-/));
const balancerController = both(release, input("chart", "aws-load-balancer-controller"));
const namespaced: Select = ({ inputs }) => {
  const { metadata } = inputs;
  return typeof metadata === "object" && metadata !== null && "namespace" in metadata;
};
const workload = type(
  "kubernetes:apps/v1:Deployment",
  "kubernetes:apps/v1:DaemonSet",
  "kubernetes:batch/v1:CronJob",
  "kubernetes:helm.sh/v3:Release",
  "kubernetes:ray.io/v1:RayCluster",
);
const loadBalancer: Select = ({ type, inputs }) =>
  type === "kubernetes:networking.k8s.io/v1:Ingress" ||
  (type === "kubernetes:core/v1:Service" && JSON.stringify(inputs.spec ?? null).includes('"LoadBalancer"'));

export interface Rule {
  readonly why: string;
  readonly later: Select;
  readonly earlier: Select;
  /** At least one of `earlier` must come first, instead of all. */
  readonly any?: true;
  /** Clouds, or single stacks, in which the rule must find both of its sides. */
  readonly in: readonly string[];
}

export const rules: readonly Rule[] = [
  {
    why: "a RayCluster without its operator keeps its finalizers for ever",
    later: rayCluster,
    earlier: operator,
    in: ["aws", "gcp", "local"],
  },
  {
    why: "an operator without its definitions crashes, and the last RayCluster must be gone before them",
    later: operator,
    earlier: crds,
    in: ["aws", "gcp", "local"],
  },
  {
    why: "a quota computed before the definition of what it counts refuses every such object until it is computed anew",
    later: both(type("kubernetes:core/v1:ResourceQuota"), ({ inputs }) => JSON.stringify(inputs).includes(".ray.io")),
    earlier: (resource) => crds(resource) || rayCluster(resource),
    in: ["aws", "gcp", "local"],
  },
  {
    why: "a namespace that goes first deadlocks on its RayClusters (kuberay#3388)",
    later: both(kubernetesObject, namespaced),
    earlier: both(type("kubernetes:core/v1:Namespace"), named(/^namespace$/)),
    in: ["aws", "gcp", "local"],
  },
  {
    why: "pods need nodes, and must be gone before them: a deleted node leaves their volumes and addresses behind",
    later: workload,
    earlier: nodes,
    any: true,
    in: ["aws", "gcp"],
  },
  {
    why: "a RayCluster's deletion needs nodes for the operator's and the head's pods",
    later: rayCluster,
    earlier: both(nodes, named(/system|head/)),
    in: ["aws", "gcp"],
  },
  {
    why: "Kubernetes objects are made and deleted through the cluster",
    later: kubernetesObject,
    earlier: cluster,
    in: ["aws", "gcp"],
  },
  {
    why: "without its access entry the deployer can delete no Kubernetes object",
    later: kubernetesObject,
    earlier: both(type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation"), named(/deployer/)),
    in: ["aws"],
  },
  {
    why: "nodes come up with the CNI's settings, and it must free their network interfaces before it goes (amazon-vpc-cni-k8s#1447)",
    later: nodes,
    earlier: addon("vpc-cni", "kube-proxy"),
    in: ["aws"],
  },
  {
    why: "coredns, the EBS driver and the metrics server run on nodes",
    later: addon("coredns", "aws-ebs-csi-driver", "metrics-server"),
    earlier: both(nodes, named(/system/)),
    in: ["aws"],
  },
  {
    why: "a node whose role has lost its policies can neither register nor release its network interfaces",
    later: type("aws:eks/nodeGroup:NodeGroup"),
    earlier: both(type("aws:iam/rolePolicyAttachment:RolePolicyAttachment"), named(/node/)),
    in: ["aws"],
  },
  {
    why: "a cluster whose role has lost its policies cannot delete its network interfaces",
    later: type("aws:eks/cluster:Cluster"),
    earlier: both(
      type("aws:iam/rolePolicyAttachment:RolePolicyAttachment"),
      named(/cluster(?!-)/),
      not(named(/node|autoscaler/)),
    ),
    in: ["aws"],
  },
  {
    why: "private nodes pull their images through the NAT",
    later: nodes,
    earlier: type(
      "aws:ec2/route:Route",
      "aws:ec2/routeTableAssociation:RouteTableAssociation",
      "gcp:compute/routerNat:RouterNat",
    ),
    in: ["aws", "gcp"],
  },
  {
    why: "a NAT gateway needs the internet gateway, which cannot be detached while addresses are mapped",
    later: type("aws:ec2/natGateway:NatGateway"),
    earlier: type("aws:ec2/internetGateway:InternetGateway"),
    in: ["aws"],
  },
  {
    why: "nodes reach the bucket and the registry's layers through the endpoint from their first minute",
    later: nodes,
    earlier: type(
      "aws:ec2/vpcEndpoint:VpcEndpoint",
      "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation",
    ),
    in: ["aws"],
  },
  {
    why: "pods get the cloud's credentials only when their account's role exists before them",
    later: type("kubernetes:core/v1:ServiceAccount"),
    earlier: type("aws:iam/openIdConnectProvider:OpenIdConnectProvider"),
    in: ["aws"],
  },
  {
    why: "nodes start under their service account with its roles",
    later: type("gcp:container/nodePool:NodePool"),
    earlier: both(type("gcp:projects/iAMMember:IAMMember"), named(/node/)),
    in: ["gcp"],
  },
  {
    why: "only its controller deletes a load balancer, its security group and its network interfaces",
    later: loadBalancer,
    earlier: balancerController,
    in: ["aws-prod"],
  },
  {
    why: "a load balancer with access logs is refused until it can write to their bucket",
    later: type("kubernetes:networking.k8s.io/v1:Ingress"),
    earlier: both(type("aws:s3/bucketPolicy:BucketPolicy"), named(/access-logs/)),
    in: ["aws-prod"],
  },
  {
    why: "the load balancer controller needs its permissions to the last",
    later: balancerController,
    earlier: both(
      type("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "aws:iam/rolePolicy:RolePolicy"),
      named(/load-balancer/),
    ),
    in: ["aws-prod"],
  },
  {
    why: "the load balancer controller's chart has objects of the controller's kinds",
    later: balancerController,
    earlier: both(definitions, named(/^load-balancer-/)),
    in: ["aws-prod"],
  },
  {
    why: "EKS must not recreate its deleted log group, so the denial outlives the cluster",
    later: type("aws:eks/cluster:Cluster"),
    earlier: both(type("aws:iam/rolePolicy:RolePolicy"), named(/^cluster-control-plane-logs$/)),
    in: ["aws"],
  },
  {
    why: "GKE writes its first secrets with the key, and cannot delete a cluster without it",
    later: type("gcp:container/cluster:Cluster"),
    earlier: type("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"),
    in: ["gcp"],
  },
  {
    why: "flow logs are written with the permissions of their role into a group that exists",
    later: type("aws:ec2/flowLog:FlowLog"),
    earlier: (resource) =>
      both(type("aws:iam/rolePolicy:RolePolicy"), named(/^flow-logs-/))(resource) ||
      both(type("aws:cloudwatch/logGroup:LogGroup"), named(/^flow-logs$/))(resource),
    in: ["aws-prod"],
  },
  {
    why: "EKS's own security group does not admit a deployer inside the VPC",
    later: kubernetesObject,
    earlier: named(/^cluster-api-from-/),
    in: ["aws"],
  },
  {
    why: "every Ray pod in the namespace must be gone before the nodes",
    later: both(type("kubernetes:core/v1:Namespace"), named(/^namespace$/)),
    earlier: nodes,
    in: ["aws", "gcp"],
  },
  {
    why: "an Ingress uses its address and its TLS policy until it is gone",
    later: type("kubernetes:networking.k8s.io/v1:Ingress"),
    earlier: type("gcp:compute/globalAddress:GlobalAddress", "gcp:compute/sSLPolicy:SSLPolicy"),
    in: ["gcp-prod"],
  },
  {
    why: "a load balancer refuses a certificate that is not issued, and holds its own until it is gone",
    later: type("kubernetes:networking.k8s.io/v1:Ingress"),
    earlier: type("aws:acm/certificateValidation:CertificateValidation"),
    in: ["aws-prod"],
  },
  {
    why: "a host must not point at a load balancer that is gone",
    later: both(type("aws:route53/record:Record"), named(/^host-record$/)),
    earlier: type("kubernetes:networking.k8s.io/v1:Ingress"),
    in: ["aws-prod"],
  },
  {
    why: "a pod starts with an image that was pushed",
    later: both(type("kubernetes:apps/v1:Deployment"), named(/^table-service$/)),
    earlier: type("docker-build:index:Image"),
    in: ["aws", "gcp"],
  },
  {
    why: "an image is pushed to a repository that exists",
    later: type("docker-build:index:Image"),
    earlier: both(
      type("aws:ecr/repository:Repository", "gcp:artifactregistry/repository:Repository"),
      named(/^service-/),
    ),
    in: ["aws", "gcp"],
  },
  {
    why: "EKS writes its logs into a group that exists, or makes one without a retention, which stays",
    later: type("aws:eks/cluster:Cluster"),
    earlier: both(type("aws:cloudwatch/logGroup:LogGroup"), named(/^cluster-logs$/)),
    in: ["aws"],
  },
];

export interface Outcome {
  readonly rule: Rule;
  readonly findings: readonly string[];
  /** How many resources each side of the rule found. */
  readonly later: number;
  readonly earlier: number;
}

export function judge(rule: Rule, { resources }: Pick<Capture, "resources">): Outcome {
  const graph = new DependencyGraph(resources);
  const later = resources.filter(rule.later);
  const earlier = resources.filter(rule.earlier);
  const findings = rule.any
    ? later
        .filter(({ urn }) => !earlier.some((needed) => graph.before(urn).has(needed.urn)))
        .map(({ urn }) => `${urn} depends on none of them`)
    : graph.violations(later, earlier);
  return { rule, findings: earlier.length === 0 ? [] : findings, later: later.length, earlier: earlier.length };
}
