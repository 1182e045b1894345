/**
 * How long the clouds typically take, in minutes. Where a number of samples is given, the figure is the median of that
 * many `Creation complete after` and `Destruction complete after` lines in Terraform logs that people have published
 * on GitHub; the rest are estimates, and those that matter say so. What is not here takes a second.
 */

export interface Duration {
  readonly create: number;
  readonly delete: number;
  readonly source: string;
}

const second = 1 / 60;
const samples = (create: number, destroy: number): string => `${create} creations, ${destroy} deletions in public logs`;

export const instant: Duration = { create: second, delete: second, source: "estimate" };

/** By type; by type and a distinguishing input where one type has several speeds. */
export const durations: Readonly<Record<string, Duration>> = {
  "aws:ec2/vpc:Vpc": { create: 0.2, delete: second, source: "estimate" },
  "aws:ec2/internetGateway:InternetGateway": { create: second, delete: 0.1, source: samples(0, 10) },
  "aws:ec2/natGateway:NatGateway": { create: 1.8, delete: 1, source: samples(8, 9) },
  "aws:ec2/vpcEndpoint:VpcEndpoint": { create: 0.1, delete: 0.1, source: "estimate" },
  "aws:ec2/launchTemplate:LaunchTemplate": { create: 0.1, delete: second, source: "estimate" },
  "aws:kms/key:Key": { create: 0.35, delete: second, source: samples(10, 0) },
  "aws:eks/cluster:Cluster": { create: 10.2, delete: 3.4, source: samples(11, 9) },
  "aws:eks/nodeGroup:NodeGroup": { create: 2.1, delete: 6.3, source: samples(8, 5) },
  "aws:eks/addon:Addon vpc-cni": { create: 0.6, delete: 0.15, source: samples(6, 0) },
  "aws:eks/addon:Addon kube-proxy": { create: 0.4, delete: 0.15, source: samples(4, 0) },
  "aws:eks/addon:Addon coredns": { create: 0.25, delete: 0.15, source: samples(9, 0) },
  "aws:eks/addon:Addon metrics-server": { create: 0.75, delete: 0.15, source: samples(1, 0) },
  "aws:eks/addon:Addon aws-ebs-csi-driver": { create: 0.9, delete: 0.15, source: samples(7, 1) },

  "gcp:projects/service:Service": { create: 0.4, delete: second, source: samples(2, 0) },
  "gcp:compute/network:Network": { create: 0.4, delete: 0.2, source: samples(2, 1) },
  "gcp:compute/subnetwork:Subnetwork": { create: 0.2, delete: 0.2, source: samples(1, 1) },
  "gcp:compute/router:Router": { create: 0.2, delete: 0.2, source: "estimate" },
  "gcp:compute/routerNat:RouterNat": { create: 0.2, delete: 0.2, source: samples(5, 0) },
  // The provider waits 10 seconds for a new account to be known everywhere.
  "gcp:serviceaccount/account:Account": { create: 0.2, delete: second, source: "estimate" },
  "gcp:serviceaccount/iAMMember:IAMMember": { create: 0.1, delete: 0.1, source: "estimate" },
  "gcp:projects/iAMMember:IAMMember": { create: 0.15, delete: 0.15, source: "estimate" },
  // Regional clusters, whose first pool is made and removed on the way.
  "gcp:container/cluster:Cluster": { create: 6.5, delete: 3.4, source: samples(4, 4) },
  "gcp:container/nodePool:NodePool": { create: 1.6, delete: 4.3, source: samples(4, 1) },

  "docker-build:index:Image": { create: 2, delete: second, source: "estimate: packages from a registry, one push" },
  "kubernetes:helm.sh/v3:Release": { create: 0.6, delete: 0.2, source: "estimate: one small image on a ready node" },
  "kubernetes:apps/v1:Deployment": { create: 0.7, delete: 0.1, source: "estimate: one image of 300 MB" },
  "kubernetes:ray.io/v1:RayCluster": { create: 2, delete: 0.5, source: "estimate: an image of 1 GB on a ready node" },
  "kubernetes:core/v1:Namespace": { create: second, delete: 0.2, source: "estimate" },
};

export function durationOf(type: string, inputs: Readonly<Record<string, unknown>> = {}): Duration {
  return durations[`${type} ${String(inputs.addonName)}`] ?? durations[type] ?? instant;
}
