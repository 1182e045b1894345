import { historyBucket } from "../../../model/history.ts";
import type { AwsConfig } from "../schema.ts";
import { allow, clusterArn, type Place, type PolicyDocument, policy, roleArn, type Statement } from "./policy.ts";
import { type BucketScope, tableStorage } from "./storage-policies.ts";

const describeCluster = (place: Place): Statement =>
  allow("DescribeCluster", ["eks:DescribeCluster"], [clusterArn(place)]);

/** The name of the log group that EKS writes a control plane's logs to. */
export const controlPlaneLogs = (cluster: string): string => `/aws/eks/${cluster}/cluster`;

/**
 * The control plane must not create its log group. EKS writes logs after the cluster's deletion, and would create the
 * group again without a retention limit, so that the next `up` finds a group of that name.
 * Source: terraform-aws-modules/terraform-aws-eks#920
 */
export function controlPlanePolicy({ partition, region, account, cluster }: Place): PolicyDocument {
  const group = `arn:${partition}:logs:${region}:${account}:log-group:${controlPlaneLogs(cluster)}`;
  return policy({
    Sid: "LeaveLogGroupDeleted",
    Effect: "Deny",
    Action: ["logs:CreateLogGroup"],
    // With and without the suffix that CloudWatch Logs adds to the ARNs of groups.
    Resource: [group, `${group}:*`],
  });
}

/** Writes to one log group. Not to create it, or it would return after its deletion. */
function writeLogs({ partition, region, account }: Place, group: string): Statement {
  const arn = `arn:${partition}:logs:${region}:${account}:log-group:${group}`;
  return allow(
    "WriteLogs",
    ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"],
    [arn, `${arn}:*`],
  );
}

/** Permissions of the agent that sends the output of pods. */
export const writeLogsPolicy = (place: Place, group: string): PolicyDocument => policy(writeLogs(place, group));

/** Permissions of VPC flow logs. */
export function flowLogsPolicy(place: Place, group: string): PolicyDocument {
  return policy(writeLogs(place, group), allow("FindGroup", ["logs:DescribeLogGroups"], ["*"]));
}

/** Permissions of the agent of Prometheus: write series to one workspace. */
export const metricsPolicy = (workspaceArn: string): PolicyDocument =>
  policy(allow("WriteMetrics", ["aps:RemoteWrite"], [workspaceArn]));

/**
 * A bucket of its own: the collector and the server of KubeRay look for the bucket at their start, which needs the right to list
 * all of it, and would else try to create it.
 */
export function historyPolicy({ partition }: Place, tables: string, access: "write" | "read"): PolicyDocument {
  const arn = `arn:${partition}:s3:::${historyBucket(tables)}`;
  return policy(
    allow("FindHistory", ["s3:ListBucket", "s3:GetBucketLocation"], [arn]),
    allow("UseHistory", ["s3:GetObject", ...(access === "write" ? ["s3:PutObject"] : [])], [`${arn}/*`]),
  );
}

/** Permissions of the Ray pods: describe the cluster, and use the tables unless the table service opens them. */
export function runtimePolicy(place: Place, scope?: BucketScope): PolicyDocument {
  return policy(describeCluster(place), ...ownTables(place, scope));
}

const ownTables = (place: Place, scope: BucketScope | undefined): Statement[] =>
  scope === undefined ? [] : tableStorage(place, scope, "read-write");

/** Permissions of the table service: only the tables. Without writes it changes only tags. */
export function tableServicePolicy(place: Place, scope: BucketScope, writes: boolean): PolicyDocument {
  return policy(...tableStorage(place, scope, writes ? "read-write" : "read-and-tag"));
}

/** The most that a lent credential can permit; the policy of its session narrows that to one table. */
export function vendingPolicy(place: Place, scope: BucketScope, writes: boolean): PolicyDocument {
  return policy(...tableStorage(place, scope, writes ? "read-write" : "read"));
}

/** Permissions of the maintenance: only the tables. */
export function maintenancePolicy(place: Place, scope: BucketScope): PolicyDocument {
  return policy(...tableStorage(place, scope, "read-write"));
}

/** Permissions of the workers of Functions: they read what they compute from, and add files that the runner commits. */
export function functionsWorkerPolicy(place: Place, scope: BucketScope, folders: readonly string[]): PolicyDocument {
  return policy(...tableStorage(place, scope, "compute", folders));
}

/** Permissions of their runner: the same tables, and the service's records, which have the jobs. */
export function functionsRunnerPolicy(place: Place, scope: BucketScope, folders: readonly string[]): PolicyDocument {
  return policy(...tableStorage(place, scope, "read-write", folders.length === 0 ? [] : [...folders, "_lakehead"]));
}

/**
 * Permissions of the runtime's client in AWS. The console needs `eks:AccessKubernetesApi` to show the cluster's
 * objects; the access entry gives access to Kubernetes itself. Assuming itself needs this policy beside the trust.
 */
/** The ARN of the client's role, before it exists. */
export const clientRoleArn = (place: Place, { iam, client }: Pick<AwsConfig, "iam" | "client">): string =>
  roleArn(place, `${iam.path.slice(1)}${client.roleName}`);

export function clientPolicy(place: Place, scope: BucketScope | undefined, ownArn: string): PolicyDocument {
  return policy(
    describeCluster(place),
    allow("ViewInConsole", ["eks:AccessKubernetesApi"], [clusterArn(place)]),
    allow("Itself", ["sts:AssumeRole"], [ownArn]),
    ...ownTables(place, scope),
  );
}

/** Permissions of the cluster autoscaler: read everything, change the groups with this cluster's tag. */
export function autoscalerPolicy(place: Place): PolicyDocument {
  const { partition, region, account, cluster } = place;
  return policy(
    allow(
      "Look",
      [
        "autoscaling:DescribeAutoScalingGroups",
        "autoscaling:DescribeAutoScalingInstances",
        "autoscaling:DescribeLaunchConfigurations",
        "autoscaling:DescribeScalingActivities",
        "autoscaling:DescribeTags",
        "ec2:DescribeImages",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeLaunchTemplateVersions",
        "ec2:GetInstanceTypesFromInstanceRequirements",
      ],
      ["*"],
    ),
    allow(
      "DescribeNodeGroups",
      ["eks:DescribeNodegroup"],
      [`arn:${partition}:eks:${region}:${account}:nodegroup/${cluster}/*/*`],
    ),
    allow(
      "Scale",
      ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"],
      [`arn:${partition}:autoscaling:${region}:${account}:autoScalingGroup:*:autoScalingGroupName/eks-*`],
      { StringEquals: { [`aws:ResourceTag/k8s.io/cluster-autoscaler/${cluster}`]: "owned" } },
    ),
  );
}
