import { checkProtection } from "../../config/checks/created-cluster.ts";
import { checkDockerHub } from "../../config/checks/docker-hub.ts";
import { checkRegion } from "../../config/checks/regions.ts";
import { checkKubernetes } from "../../config/checks/versions.ts";
import type { CheckContext } from "../../config/parse.ts";
import { errorIf, type Finding, warningIf } from "../../config/report.ts";
import { parseCidr, size } from "../../model/cidr.ts";
import { maximumNodes } from "../../model/cluster.ts";
import { defaultRoleOptions, rayRoles, roleLabelKey } from "../../model/roles.ts";
import { eks } from "../../versions.ts";
import { checkExposure } from "./exposure/checks.ts";
import { partitionOf } from "./identity/arn.ts";
import { dockerHubPrefix, longestPrefix } from "./images/docker-hub-names.ts";
import { layOutSubnets } from "./network/subnets.ts";
import { otherAccelerators } from "./nodes/machines.ts";
import { autoscalerLabelTag } from "./nodes/node-group-settings.ts";
import { awsRegions } from "./regions.ts";
import type { AwsConfig } from "./schema.ts";
import { checkBuckets } from "./storage/checks.ts";

/** Stands for an account whose id is invalid, so that the other keys are still checked. AWS gives it to none. */
export const anyAccount = "000000000000";

type Network<Mode> = Extract<AwsConfig["network"], { mode: Mode }>;

/** What AWS would refuse, some of it only after minutes. */
export function check(config: AwsConfig, { today, secrets }: CheckContext): Finding[] {
  const { network, dockerHub } = config;
  return [
    ...checkKubernetes(config.kubernetesVersion, eks, today),
    ...(network.mode === "create" ? checkCreated(config, network) : checkAdopted(config, network)),
    ...checkProtection(config),
    ...checkRegion(config.region, awsRegions),
    ...checkPartitions(config),
    ...checkOwners(config),
    ...checkBuckets(config),
    ...checkAccelerators(config),
    ...checkAccessEntries(config),
    ...checkExposure(config),
    ...checkDockerHub(dockerHub, secrets, { required: true }),
    ...(dockerHub.cache ? checkCache(config) : []),
    ...errorIf(
      config.labelPrefix.length > longestTaggedPrefix,
      "labelPrefix",
      "the tags that let node groups grow from zero would be longer than AWS's 128 characters",
      `write at most ${longestTaggedPrefix} characters`,
    ),
    ...errorIf(
      config.bucket.kmsKeyArn !== undefined && config.bucket.encryption !== "aws:kms",
      "bucket.kmsKeyArn",
      `bucket.encryption ${config.bucket.encryption} does not use a key`,
      'write bucket.encryption: "aws:kms", or leave the key out',
    ),
    ...warningIf(
      config.nodes.gpu.enabled && config.devicePlugin.mode === "existing",
      "devicePlugin.mode",
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
        [`nodes.${key}.zones`, zones],
        "the subnets of an adopted network decide the zones",
        "leave it out",
      ),
    ),
    ...errorIf(
      enabled && exposure.mode === "public" && publicSubnetIds.length < 2,
      "network.publicSubnetIds",
      "a public load balancer needs subnets in two zones",
      "list public subnets of two zones",
    ),
  ];
}

function checkCreated({ nodes, endpoint, region }: AwsConfig, { cidr, zones, nat }: Network<"create">): Finding[] {
  return [
    ...errorIf(new Set(zones).size < zones.length, "network.zones", "a zone is listed twice", "list each zone once"),
    ...checkLayout(cidr, zones, nodes),
    ...warningIf(
      endpoint.publicCidrs.length === 0 && endpoint.privateCidrs === undefined,
      "endpoint.publicCidrs",
      "the Kubernetes API is reachable only from the VPC that this stack creates, so the first `up` cannot reach it",
      "list the address that you deploy from; once a runner is in the VPC, write its network in endpoint.privateCidrs",
    ),
    ...Object.entries(nodes).flatMap(([key, pool]) => {
      const unknown = (pool.zones ?? []).filter((zone) => !zones.includes(zone));
      return errorIf(
        unknown.length > 0,
        [`nodes.${key}.zones`, pool.zones],
        `network.zones does not list ${unknown.join(", ")}`,
        "add it to network.zones",
      );
    }),
    ...errorIf(
      nat === "none" && partitionOf(region) === "aws-cn",
      "network.nat",
      "AWS in China has other names for its interface endpoints, which this stack does not know",
      'write "single" or "zone"',
    ),
    ...warningIf(
      nat === "none",
      "network.nat",
      "nodes reach AWS but no public registry and no package index",
      "set every chart and image to a mirror inside AWS, and build the packages of jobs into their images",
    ),
  ];
}

/** Addresses of a node and of its first /28, from which the VPC CNI gives its pods addresses. */
const addressesPerNode = 1 + 16;
/** AWS keeps five addresses of each subnet. */
const reservedAddresses = 5;

function checkLayout(cidr: string, zones: readonly string[], nodes: AwsConfig["nodes"]): Finding[] {
  if ((parseCidr(cidr)?.length ?? 32) < 16) {
    return errorIf(true, "network.cidr", "a VPC's network is at most a /16", "write a /16 to /20");
  }
  try {
    const subnets = layOutSubnets(cidr, zones).map((subnet) => parseCidr(subnet.private)?.length ?? 32);
    const addresses = subnets.reduce((sum, length) => sum + size(length) - reservedAddresses, 0);
    const most = maximumNodes({ nodes });
    return errorIf(
      addresses < most * addressesPerNode,
      "network.cidr",
      `its private subnets have ${addresses} addresses, and ${most} nodes with their pods need at least ${most * addressesPerNode}`,
      "write a larger network, or lower the maxima under nodes",
    );
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    return errorIf(true, "network.cidr", problem, "");
  }
}

type NamedArn = readonly [key: string, arn: string];

const named = (key: string, arns: readonly (string | undefined)[]): NamedArn[] =>
  arns.flatMap((arn) => (arn === undefined ? [] : [[key, arn] as const]));

/** Objects of the stack's account, and keys and certificates of its region. */
function ownArns(config: AwsConfig): NamedArn[] {
  const { exposure } = config.tableService;
  return [
    ...named("deployerArn", [config.deployerArn]),
    ...named("viewerArns", config.viewerArns),
    ...named("auditorArns", config.auditorArns),
    ...named("bucket.kmsKeyArn", [config.bucket.kmsKeyArn]),
    ...named("logKmsKeyArn", [config.logKmsKeyArn]),
    ...(exposure.mode === "cluster" ? [] : named("tableService.exposure.certificateArn", [exposure.certificateArn])),
    ...(exposure.mode === "public" ? named("tableService.exposure.waf.webAclArn", [exposure.waf?.webAclArn]) : []),
  ];
}

function checkPartitions(config: AwsConfig) {
  const { region, client } = config;
  const partition = partitionOf(region);
  return [...ownArns(config), ...named("client.principals", client.principals)].flatMap(([key, arn]) =>
    errorIf(
      arn.split(":")[1] !== partition,
      [key, arn],
      `${region} is in the partition ${partition}`,
      `write an ARN that begins with arn:${partition}:`,
    ),
  );
}

function checkOwners(config: AwsConfig) {
  const { region, account } = config;
  return ownArns(config).flatMap(([key, arn]) => {
    const [, , service, inRegion, inAccount] = arn.split(":");
    return [
      ...errorIf(
        inAccount !== account && account !== anyAccount,
        [key, arn],
        `it belongs to the account ${inAccount}, and the stack to ${account}`,
        "write an ARN of the stack's account, or correct lakehead:account",
      ),
      ...errorIf(
        service !== "iam" && inRegion !== region,
        [key, arn],
        `it is in the region ${inRegion}, and the stack in ${region}`,
        `write an ARN of ${region}`,
      ),
    ];
  });
}

function checkCache({ clusterName, network }: AwsConfig): Finding[] {
  const prefix = dockerHubPrefix(clusterName);
  return [
    ...errorIf(
      prefix.length > longestPrefix,
      "clusterName",
      `the prefix of the cache of Docker Hub would be ${prefix}, and ECR accepts ${longestPrefix} characters`,
      `write at most ${longestPrefix - dockerHubPrefix("").length} characters, or dockerHub.cache: false`,
    ),
    // Source: docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
    ...errorIf(
      network.mode === "create" && network.nat === "none",
      "dockerHub.cache",
      "through interface endpoints, ECR fills its cache only where the subnet has a route to the internet",
      "write network.nat: single, or copy the images to a repository and name it in ray.image.repository",
    ),
  ];
}

function checkAccelerators({ nodes }: AwsConfig): Finding[] {
  const groups = Object.entries(nodes).flatMap(([key, pool]) => [
    { path: `nodes.${key}`, ...pool },
    ...("fallback" in pool ? pool.fallback : []).map((one, index) => ({
      path: `nodes.${key}.fallback.${index}`,
      ...one,
    })),
  ]);
  return groups.flatMap(({ path, instanceTypes }) =>
    instanceTypes
      .filter((type) => otherAccelerators.test(type))
      .flatMap((type) =>
        errorIf(
          true,
          [`${path}.instanceTypes`, type],
          "its accelerators are not NVIDIA's, and Ray's GPU images and the device plugin need NVIDIA's",
          "write a type such as g6.4xlarge",
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
      [key, arn],
      "the principal already has an access entry, and EKS accepts one for each",
      "leave it out",
    ),
  );
}

const longestTaggedPrefix =
  128 -
  Math.max(
    ...rayRoles.map(
      (role) => autoscalerLabelTag(roleLabelKey(role, { ...defaultRoleOptions, labelPrefix: "" })).length,
    ),
  );
