import type { PolicyDocument, Statement } from "../../../infra/clouds/aws/identity/policy.ts";

/**
 * Every wildcard that an Allow statement of this project may contain. What is not listed is a violation, which a
 * test looks for in every document of every example stack.
 */
export const allowedWildcards: readonly {
  readonly resource: RegExp;
  readonly actions: RegExp;
  readonly why: string;
}[] = [
  {
    resource: /^\*$/,
    actions: /^(autoscaling|ec2|elasticloadbalancing):(Describe|Get)[A-Za-z]+$|^logs:DescribeLogGroups$/,
    why: "read-only calls that AWS authorises for all resources or none",
  },
  {
    resource: /^arn:[^*]+:s3:::[^*/]+\/([^*]+\/)?\*$/,
    actions: /^s3:(GetObject|PutObject|DeleteObject|AbortMultipartUpload|ListMultipartUploadParts)$/,
    why: "the objects of one bucket below one prefix",
  },
  {
    resource: /^arn:[^*]+:s3:::[^*/]+\/([^*]+\/)?\*\/_refs\/tags\/\*$/,
    actions: /^s3:(PutObject|DeleteObject)$/,
    why: "the tags of the tables of one bucket below one prefix",
  },
  {
    resource: /^arn:[^*]+:logs:[^*]+:log-group:\/aws\/(vpc|eks)\/[^*]+:\*$/,
    actions: /^logs:(CreateLogStream|PutLogEvents|DescribeLogStreams)$/,
    why: "the streams of one log group",
  },
  {
    resource: /^arn:[^*]+:eks:[^*]+:nodegroup\/[^*/]+\/\*\/\*$/,
    actions: /^eks:DescribeNodegroup$/,
    why: "the node groups of this one cluster; AWS chooses the last part of their ARNs",
  },
  {
    resource: /^arn:[^*]+:autoscaling:[^*]+:autoScalingGroup:\*:autoScalingGroupName\/eks-\*$/,
    actions: /^autoscaling:(SetDesiredCapacity|TerminateInstanceInAutoScalingGroup)$/,
    why: "groups whose names AWS chooses; a condition on this cluster's tag narrows them",
  },
  {
    resource:
      /^arn:[^*]+:elasticloadbalancing:[^*]+:(loadbalancer|listener|listener-rule)\/(app|net)\/k8s-\*(\/\*){1,3}$|^arn:[^*]+:elasticloadbalancing:[^*]+:targetgroup\/k8s-\*\/\*$/,
    actions: /^elasticloadbalancing:[A-Z][A-Za-z]+$/,
    why: "load balancers whose names the controller chooses",
  },
];

/** The wildcards of a document that the list does not cover, one line each. */
export function wildcardViolations(document: PolicyDocument): string[] {
  return document.Statement.filter(({ Effect }) => Effect === "Allow").flatMap(violationsOf);
}

function violationsOf({ Sid, Action, Resource = [], Principal }: Statement): string[] {
  const actions = Action.filter((action) => action.includes("*")).map((action) => `${Sid}: action ${action}`);
  const everyone = JSON.stringify(Principal ?? "").includes("*") ? [`${Sid}: principal *`] : [];
  const resources = Resource.filter((resource) => resource.includes("*")).flatMap((resource) =>
    Action.filter(
      (action) => !allowedWildcards.some((rule) => rule.resource.test(resource) && rule.actions.test(action)),
    ).map((action) => `${Sid}: ${action} on ${resource}`),
  );
  return [...actions, ...everyone, ...resources];
}
