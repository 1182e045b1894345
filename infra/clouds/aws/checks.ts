import { checkProtection } from "../../config/checks/created-cluster.ts";
import { checkKubernetes } from "../../config/checks/versions.ts";
import type { CheckContext } from "../../config/parse.ts";
import { errorIf, type Finding, warningIf } from "../../config/report.ts";
import { parseCidr } from "../../model/cidr.ts";
import { defaultRoleOptions, nodeRoles, roleLabelKey } from "../../model/roles.ts";
import { eks } from "../../versions.ts";
import { autoscalerLabelTag } from "./autoscaler-tags.ts";
import { partitionOf } from "./iam/arn.ts";
import type { AwsConfig } from "./schema.ts";
import { layOutSubnets } from "./subnets.ts";

type Network<Mode> = Extract<AwsConfig["network"], { mode: Mode }>;

/** What AWS would refuse, some of it only after minutes. */
export function check(config: AwsConfig, { today }: CheckContext): Finding[] {
  const { network } = config;
  return [
    ...checkKubernetes(config.kubernetesVersion, eks, today),
    ...(network.mode === "create" ? checkCreated(config, network) : checkAdopted(config, network)),
    ...checkProtection(config),
    ...checkPartitions(config),
    ...checkAccessEntries(config),
    ...errorIf(
      config.labelPrefix.length > longestTaggedPrefix,
      "labelPrefix",
      config.labelPrefix,
      "the tags that let node groups grow from zero would be longer than AWS's 128 characters",
      `write at most ${longestTaggedPrefix} characters`,
    ),
    ...errorIf(
      config.bucket.kmsKeyArn !== undefined && config.bucket.encryption !== "aws:kms",
      "bucket.kmsKeyArn",
      config.bucket.kmsKeyArn,
      `bucket.encryption ${config.bucket.encryption} does not use a key`,
      'write bucket.encryption: "aws:kms", or leave the key out',
    ),
    ...warningIf(
      config.nodes.gpu.enabled && config.devicePlugin.mode === "existing",
      "devicePlugin.mode",
      config.devicePlugin.mode,
      "a new cluster has no device plugin, and without one its GPUs cannot be requested",
      "write install, or install a plugin before GPU jobs run",
    ),
  ];
}

function checkAdopted({ nodes, tableService }: AwsConfig, { publicSubnetIds }: Network<"adopt">): Finding[] {
  const { enabled, exposure } = tableService;
  return [
    ...Object.entries(nodes).flatMap(([key, { zones }]) =>
      errorIf(
        zones !== undefined,
        `nodes.${key}.zones`,
        zones,
        "the subnets of an adopted network decide the zones",
        "leave it out",
      ),
    ),
    ...errorIf(
      enabled && exposure.mode === "public" && publicSubnetIds.length < 2,
      "network.publicSubnetIds",
      publicSubnetIds,
      "a public load balancer needs subnets in two zones",
      "list public subnets of two zones",
    ),
  ];
}

function checkCreated({ nodes, endpoint, region }: AwsConfig, { cidr, zones, nat }: Network<"create">): Finding[] {
  return [
    ...errorIf(
      new Set(zones).size < zones.length,
      "network.zones",
      zones,
      "a zone is listed twice",
      "list each zone once",
    ),
    ...checkLayout(cidr, zones),
    ...warningIf(
      endpoint.publicCidrs.length === 0 && endpoint.privateCidrs === undefined,
      "endpoint.publicCidrs",
      [],
      "the Kubernetes API is reachable only from the VPC that this stack creates, so the first `up` cannot reach it",
      "list the address that you deploy from; once a runner is in the VPC, write its network in endpoint.privateCidrs",
    ),
    ...Object.entries(nodes).flatMap(([key, pool]) => {
      const unknown = (pool.zones ?? []).filter((zone) => !zones.includes(zone));
      return errorIf(
        unknown.length > 0,
        `nodes.${key}.zones`,
        pool.zones,
        `network.zones does not list ${unknown.join(", ")}`,
        "add it to network.zones",
      );
    }),
    ...errorIf(
      nat === "none" && partitionOf(region) === "aws-cn",
      "network.nat",
      nat,
      "AWS in China has other names for its interface endpoints, which this stack does not know",
      'write "single" or "zone"',
    ),
    ...warningIf(
      nat === "none",
      "network.nat",
      nat,
      "nodes reach AWS but no public registry and no package index",
      "set every chart and image to a mirror inside AWS, and build the packages of jobs into their images",
    ),
  ];
}

function checkLayout(cidr: string, zones: readonly string[]): Finding[] {
  if ((parseCidr(cidr)?.length ?? 32) < 16) {
    return errorIf(true, "network.cidr", cidr, "a VPC's network is at most a /16", "write a /16 to /20");
  }
  try {
    layOutSubnets(cidr, zones);
    return [];
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    return errorIf(true, "network.cidr", cidr, problem, "");
  }
}

function checkPartitions({ region, deployerArn, viewerArns, auditorArns, client, bucket, tableService }: AwsConfig) {
  const partition = partitionOf(region);
  const { exposure } = tableService;
  const arns = {
    deployerArn: [deployerArn],
    viewerArns,
    auditorArns,
    "client.principals": client.principals,
    "bucket.kmsKeyArn": bucket.kmsKeyArn === undefined ? [] : [bucket.kmsKeyArn],
    "tableService.exposure.certificateArn": exposure.mode === "public" ? [exposure.certificateArn] : [],
  };
  return Object.entries(arns).flatMap(([key, values]) =>
    values.flatMap((arn) =>
      errorIf(
        arn.split(":")[1] !== partition,
        key,
        arn,
        `${region} is in the partition ${partition}`,
        `write an ARN that begins with arn:${partition}:`,
      ),
    ),
  );
}

function checkAccessEntries({ deployerArn, viewerArns, auditorArns }: AwsConfig): Finding[] {
  const entries = Object.entries({ viewerArns, auditorArns }).flatMap(([key, arns]) =>
    arns.map((arn) => ({ key, arn })),
  );
  const seen = new Set([deployerArn]);
  return entries.flatMap(({ key, arn }) =>
    errorIf(
      seen.size === seen.add(arn).size,
      key,
      arn,
      "the principal already has an access entry, and EKS accepts one for each",
      "leave it out",
    ),
  );
}

const longestTaggedPrefix =
  128 -
  Math.max(
    ...nodeRoles.map(
      (role) => autoscalerLabelTag(roleLabelKey(role, { ...defaultRoleOptions, labelPrefix: "" })).length,
    ),
  );
