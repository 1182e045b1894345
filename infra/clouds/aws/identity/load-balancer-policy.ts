import { allow, type Place, type PolicyDocument, policy } from "./policy.ts";

/**
 * Permissions of the AWS load balancer controller: load balancers, listeners and target groups whose names it chooses
 * (`k8s-…`), with this cluster's tag. It has none for security groups and certificates, which the stack owns, and for
 * web firewalls, which its settings disable.
 * Source of the calls: the controller's documentation, docs/install/iam_policy.json.
 */
export function loadBalancerControllerPolicy({ partition, region, account, cluster }: Place): PolicyDocument {
  const prefix = `arn:${partition}:elasticloadbalancing:${region}:${account}`;
  const loadBalancers = [`${prefix}:loadbalancer/app/k8s-*/*`, `${prefix}:loadbalancer/net/k8s-*/*`];
  const targetGroups = [`${prefix}:targetgroup/k8s-*/*`];
  const listeners = ["app", "net"].map((kind) => `${prefix}:listener/${kind}/k8s-*/*/*`);
  const rules = ["app", "net"].map((kind) => `${prefix}:listener-rule/${kind}/k8s-*/*/*/*`);
  const tagged = { StringEquals: { "aws:ResourceTag/elbv2.k8s.aws/cluster": cluster } };
  const tagging = { StringEquals: { "aws:RequestTag/elbv2.k8s.aws/cluster": cluster } };
  return policy(
    allow(
      "LinkedRole",
      ["iam:CreateServiceLinkedRole"],
      [
        `arn:${partition}:iam::${account}:role/aws-service-role/elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing`,
      ],
      { StringEquals: { "iam:AWSServiceName": "elasticloadbalancing.amazonaws.com" } },
    ),
    allow(
      "Look",
      [
        "ec2:DescribeAccountAttributes",
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstances",
        "ec2:DescribeInternetGateways",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeTags",
        "ec2:DescribeVpcPeeringConnections",
        "ec2:DescribeVpcs",
        "ec2:GetSecurityGroupsForVpc",
        "elasticloadbalancing:DescribeCapacityReservation",
        "elasticloadbalancing:DescribeListenerAttributes",
        "elasticloadbalancing:DescribeListenerCertificates",
        "elasticloadbalancing:DescribeListeners",
        "elasticloadbalancing:DescribeLoadBalancerAttributes",
        "elasticloadbalancing:DescribeLoadBalancers",
        "elasticloadbalancing:DescribeRules",
        "elasticloadbalancing:DescribeSSLPolicies",
        "elasticloadbalancing:DescribeTags",
        "elasticloadbalancing:DescribeTargetGroupAttributes",
        "elasticloadbalancing:DescribeTargetGroups",
        "elasticloadbalancing:DescribeTargetHealth",
        "elasticloadbalancing:DescribeTrustStores",
      ],
      ["*"],
    ),
    allow(
      "Create",
      ["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"],
      [...loadBalancers, ...targetGroups],
      tagging,
    ),
    allow(
      "CreateListeners",
      ["elasticloadbalancing:CreateListener", "elasticloadbalancing:CreateRule"],
      [...loadBalancers, ...listeners],
    ),
    allow(
      "TagOnCreation",
      ["elasticloadbalancing:AddTags"],
      [...loadBalancers, ...targetGroups, ...listeners, ...rules],
      tagging,
    ),
    allow(
      "ChangeOwn",
      [
        "elasticloadbalancing:AddTags",
        "elasticloadbalancing:DeleteLoadBalancer",
        "elasticloadbalancing:DeleteTargetGroup",
        "elasticloadbalancing:ModifyLoadBalancerAttributes",
        "elasticloadbalancing:ModifyTargetGroup",
        "elasticloadbalancing:ModifyTargetGroupAttributes",
        "elasticloadbalancing:RemoveTags",
        "elasticloadbalancing:SetIpAddressType",
        "elasticloadbalancing:SetSecurityGroups",
        "elasticloadbalancing:SetSubnets",
      ],
      [...loadBalancers, ...targetGroups],
      tagged,
    ),
    allow(
      "ChangeListeners",
      [
        "elasticloadbalancing:AddListenerCertificates",
        "elasticloadbalancing:AddTags",
        "elasticloadbalancing:DeleteListener",
        "elasticloadbalancing:DeleteRule",
        "elasticloadbalancing:ModifyListener",
        "elasticloadbalancing:ModifyListenerAttributes",
        "elasticloadbalancing:ModifyRule",
        "elasticloadbalancing:RemoveListenerCertificates",
        "elasticloadbalancing:RemoveTags",
        "elasticloadbalancing:SetRulePriorities",
      ],
      [...listeners, ...rules],
    ),
    allow("Targets", ["elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:RegisterTargets"], targetGroups),
  );
}
