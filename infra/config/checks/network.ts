import { storageAddress } from "../../../service/contract.ts";
import { partitionOf } from "../../clouds/aws/iam/arn.ts";
import type { AwsConfig, Config, GcpConfig, KubeconfigConfig } from "../../clouds/schema.ts";
import { layOutSubnets, overlappingPairs, parseCidr } from "../../model/cidr.ts";
import { pools } from "../../model/pools.ts";
import { doubt, type Finding, refuse } from "../report.ts";

/** Address ranges, zones and what may be reached from where. */
export function checkNetwork(config: Config): Finding[] {
  switch (config.cloud) {
    case "aws":
      return [...checkAws(config), ...checkOpenEndpoint(config.endpoint.publicCidrs)];
    case "gcp":
      return [...checkGcp(config), ...checkOpenEndpoint(config.endpoint.publicCidrs)];
    case "kubeconfig":
      return checkStoreAddress(config);
  }
}

/** The network policy opens the port of that address. */
function checkStoreAddress({ database }: KubeconfigConfig): Finding[] {
  return Object.entries(database.storageOptions)
    .filter(([option, value]) => storageAddress.test(option) && !/^https?:$/.test(URL.parse(value)?.protocol ?? ""))
    .map(([option, value]) =>
      refuse(
        `database.storageOptions.${option}`,
        value,
        "it is no address with a scheme",
        "write https://<host>[:<port>], or http:// with allow_http",
      ),
    );
}

function checkAws(config: AwsConfig): Finding[] {
  const { network } = config;
  if (network.mode === "adopt") {
    const publicNeeded = config.tableService.enabled && config.tableService.exposure.mode === "public";
    return [
      ...pools(config)
        .filter(({ zones }) => zones !== undefined)
        .map(({ key, zones }) =>
          refuse(`nodes.${key}.zones`, zones, "an adopted network's subnets decide the zones", "leave it out"),
        ),
      ...(publicNeeded && network.publicSubnetIds.length < 2
        ? [
            refuse(
              "network.publicSubnetIds",
              network.publicSubnetIds,
              "a public load balancer needs subnets in two zones",
              "list public subnets of two zones",
            ),
          ]
        : []),
    ];
  }
  return [
    ...(new Set(network.zones).size < network.zones.length
      ? [refuse("network.zones", network.zones, "a zone is listed twice", "list each zone once")]
      : []),
    ...layout(network.cidr, network.zones),
    ...(config.endpoint.publicCidrs.length === 0 && config.endpoint.privateCidrs === undefined
      ? [
          doubt(
            "endpoint.publicCidrs",
            [],
            "only what stands in the VPC that this stack makes reaches the Kubernetes API: its first `up` does not",
            "list the address that you deploy from; once a runner stands inside, say so by endpoint.privateCidrs",
          ),
        ]
      : []),
    ...pools(config).flatMap(({ key, zones }) => {
      const foreign = (zones ?? []).filter((zone) => !network.zones.includes(zone));
      return foreign.length === 0
        ? []
        : [
            refuse(
              `nodes.${key}.zones`,
              zones,
              `the network has no zone ${foreign.join(", ")}`,
              "add it to network.zones",
            ),
          ];
    }),
    ...(network.nat === "none" && partitionOf(config.region) === "aws-cn"
      ? [
          refuse(
            "network.nat",
            "none",
            "the interface endpoints of AWS in China have names of their own, which are not known here",
            'write "single" or "zone"',
          ),
        ]
      : []),
    ...(network.nat === "none"
      ? [
          doubt(
            "network.nat",
            "none",
            "nodes reach AWS alone: no public registry, no package index",
            "point every chart and image at a mirror inside, and give jobs images with their packages",
          ),
        ]
      : []),
  ];
}

function layout(cidr: string, zones: readonly string[]): Finding[] {
  const length = parseCidr(cidr)?.length ?? 32;
  if (length < 16) {
    return [refuse("network.cidr", cidr, "a VPC's network is a /16 at the largest", "write a /16 to /20")];
  }
  try {
    layOutSubnets(cidr, zones);
    return [];
  } catch (cause) {
    return [refuse("network.cidr", cidr, cause instanceof Error ? cause.message : String(cause), "write a larger one")];
  }
}

function checkGcp({ network }: GcpConfig): Finding[] {
  const controlPlane = parseCidr(network.controlPlaneCidr);
  const sizes =
    controlPlane !== undefined && controlPlane.length !== 28
      ? [refuse("network.controlPlaneCidr", network.controlPlaneCidr, "GKE takes a /28 only", "write a /28")]
      : [];
  if (network.mode === "adopt") return sizes;
  const { mode: _, ...ranges } = network;
  return [
    ...sizes,
    ...overlappingPairs(ranges).map(([a, b]) =>
      refuse(`network.${b}`, ranges[b as keyof typeof ranges], `it overlaps network.${a}`, "write networks apart"),
    ),
  ];
}

function checkOpenEndpoint(publicCidrs: readonly string[]): Finding[] {
  return publicCidrs.includes("0.0.0.0/0")
    ? [
        doubt(
          "endpoint.publicCidrs",
          publicCidrs,
          "the whole internet reaches the Kubernetes API's login",
          "list the networks that you deploy and work from",
        ),
      ]
    : [];
}

/** ARNs of another partition than the region's would be refused by AWS only after minutes. */
export function checkPartitions(config: Config): Finding[] {
  if (config.cloud !== "aws") return [];
  const expected = partitionOf(config.region);
  const { exposure } = config.tableService;
  const arns: readonly (readonly [string, string | undefined])[] = [
    ["deployerArn", config.deployerArn],
    ...config.viewerArns.map((arn) => ["viewerArns", arn] as const),
    ...config.auditorArns.map((arn) => ["auditorArns", arn] as const),
    ...config.client.principals.map((arn) => ["client.principals", arn] as const),
    ["bucket.kmsKeyArn", config.bucket.kmsKeyArn],
    ["tableService.exposure.certificateArn", exposure.mode === "public" ? exposure.certificateArn : undefined],
  ];
  return arns.flatMap(([key, arn]) =>
    arn === undefined || arn.split(":")[1] === expected
      ? []
      : [
          refuse(
            key,
            arn,
            `${config.region} is in the partition ${expected}`,
            `write an ARN that begins arn:${expected}:`,
          ),
        ],
  );
}
