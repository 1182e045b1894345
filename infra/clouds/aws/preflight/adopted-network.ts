/** Whether an adopted VPC is what EKS's nodes need. */

import {
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcEndpointsCommand,
  DescribeVpcsCommand,
  EC2Client,
  type Route,
  type RouteTable,
  type Subnet,
} from "@aws-sdk/client-ec2";
import { attempt, type Line, mapOutcome, type Outcome, ok, unknown, wrong } from "../../../check-line.ts";
import type { AwsConfig } from "../schema.ts";
import { settings } from "./client.ts";

type AdoptedNetwork = Extract<AwsConfig["network"], { mode: "adopt" }>;

const keys = {
  vpc: "network.vpcId",
  cidr: "network.cidr",
  private: "network.privateSubnetIds",
  public: "network.publicSubnetIds",
  tables: "network.privateRouteTableIds",
} as const;

/** EKS puts two interfaces of the control plane into a subnet; AWS advises six free addresses. Source: EKS, "VPC and subnet requirements". */
const leastAddresses = 6;

interface Facts {
  /** Undefined when the VPC does not exist. */
  readonly cidrs: Outcome<readonly string[] | undefined>;
  readonly dns: Outcome<{ readonly support: boolean; readonly hostnames: boolean }>;
  readonly subnets: Outcome<readonly Subnet[]>;
  readonly tables: Outcome<readonly RouteTable[]>;
  /** Route tables that have a gateway endpoint of S3. */
  readonly s3: Outcome<ReadonlySet<string>>;
}

export interface AdoptedFindings {
  readonly lines: readonly Line[];
  /** Zones of the private subnets, such as eu-central-1a. */
  readonly zones: Outcome<readonly string[]>;
}

/** Asks for each fact by itself: what may not be read is one line. */
async function readFacts(region: string, { vpcId }: AdoptedNetwork): Promise<Facts> {
  const client = new EC2Client(settings(region));
  const inVpc = [{ Name: "vpc-id", Values: [vpcId] }];
  const attribute = async (Attribute: "enableDnsSupport" | "enableDnsHostnames") =>
    client.send(new DescribeVpcAttributeCommand({ VpcId: vpcId, Attribute }));
  const [cidrs, dns, subnets, tables, s3] = await Promise.all([
    attempt(async () => {
      const { Vpcs = [] } = await client.send(new DescribeVpcsCommand({ Filters: inVpc }));
      return Vpcs[0]?.CidrBlockAssociationSet?.map(({ CidrBlock = "" }) => CidrBlock);
    }),
    attempt(async () => ({
      support: (await attribute("enableDnsSupport")).EnableDnsSupport?.Value === true,
      hostnames: (await attribute("enableDnsHostnames")).EnableDnsHostnames?.Value === true,
    })),
    attempt(async () => (await client.send(new DescribeSubnetsCommand({ Filters: inVpc }))).Subnets ?? []),
    attempt(async () => (await client.send(new DescribeRouteTablesCommand({ Filters: inVpc }))).RouteTables ?? []),
    attempt(async () => {
      const { VpcEndpoints = [] } = await client.send(
        new DescribeVpcEndpointsCommand({
          Filters: [...inVpc, { Name: "service-name", Values: [`com.amazonaws.${region}.s3`] }],
        }),
      );
      return new Set(VpcEndpoints.flatMap(({ RouteTableIds = [] }) => RouteTableIds));
    }),
  ]);
  return { cidrs, dns, subnets, tables, s3 };
}

export async function checkAdoptedNetwork(region: string, network: AdoptedNetwork): Promise<AdoptedFindings> {
  const { cidrs, dns, subnets, tables, s3 } = await readFacts(region, network);
  const { vpcId, cidr, privateSubnetIds, publicSubnetIds } = network;
  const zones = mapOutcome(subnets, (found) => [
    ...new Set(
      found.filter(({ SubnetId = "" }) => privateSubnetIds.includes(SubnetId)).map((one) => one.AvailabilityZone ?? ""),
    ),
  ]);
  if ("value" in cidrs && cidrs.value === undefined)
    return {
      lines: [wrong(`${keys.vpc}: ${region} has no VPC ${vpcId}`, `correct lakehead:${keys.vpc}, or lakehead:region`)],
      zones,
    };
  const lines = [
    judged(cidrs, keys.cidr, `aws ec2 describe-vpcs --vpc-ids ${vpcId}`, (found = []) =>
      found.includes(cidr)
        ? ok(`${keys.cidr}: ${cidr} is a network of ${vpcId}`)
        : wrong(
            `${keys.cidr}: ${vpcId} has ${found.join(", ")}, not ${cidr}`,
            `write one of them in lakehead:${keys.cidr}`,
          ),
    ),
    judged(
      dns,
      keys.vpc,
      `aws ec2 describe-vpc-attribute --vpc-id ${vpcId} --attribute enableDnsHostnames`,
      (found) => {
        const off = [
          ...(found.support ? [] : ["enable-dns-support"]),
          ...(found.hostnames ? [] : ["enable-dns-hostnames"]),
        ];
        return off.length === 0
          ? ok(`${keys.vpc}: ${vpcId} resolves names, and gives them`)
          : wrong(
              `${keys.vpc}: ${off.join(" and ")} of ${vpcId} is off: nodes do not find the cluster`,
              off.map((name) => `aws ec2 modify-vpc-attribute --vpc-id ${vpcId} --${name}`).join(" && "),
            );
      },
    ),
    judged(subnets, keys.private, "aws ec2 describe-subnets", (found) => checkSubnets(found, network)),
    ...(publicSubnetIds.length === 0
      ? []
      : [
          judged(subnets, keys.public, "aws ec2 describe-subnets", (found) => {
            const missing = missingOf(publicSubnetIds, found);
            return missing.length === 0
              ? ok(`${keys.public}: ${publicSubnetIds.join(", ")} are in ${vpcId}`)
              : notInVpc(keys.public, missing, vpcId);
          }),
        ]),
    judged(tables, keys.private, "aws ec2 describe-route-tables", (found) => checkEgress(found, network)),
    judged(s3, keys.tables, "aws ec2 describe-vpc-endpoints", (endpoints) => {
      const all = "value" in tables ? tables.value : [];
      const used = new Set(privateSubnetIds.map((id) => tableOf(all, id)?.RouteTableId ?? ""));
      const given = network.privateRouteTableIds;
      const unknownTables =
        "value" in tables ? given.filter((id) => !all.some((table) => table.RouteTableId === id)) : [];
      if (unknownTables.length > 0) return notInVpc(keys.tables, unknownTables, vpcId);
      const twice = given.filter((id) => endpoints.has(id));
      if (twice.length > 0)
        return wrong(
          `${keys.tables}: ${twice.join(", ")} has a gateway endpoint of S3 already, and takes one`,
          `leave it out of lakehead:${keys.tables}`,
        );
      const without = [...used].filter((id) => id !== "" && !given.includes(id) && !endpoints.has(id));
      return without.length === 0
        ? ok(`${keys.tables}: the private subnets reach S3 by a gateway endpoint`)
        : unknown(
            `${keys.tables}: ${without.join(", ")} gets no gateway endpoint of S3, so that table data takes the default route and its charge`,
            `add ${without.join(", ")} to lakehead:${keys.tables}`,
          );
    }),
  ];
  return { lines, zones };
}

const judged = <Value>(found: Outcome<Value>, key: string, byHand: string, judge: (value: Value) => Line): Line =>
  "failure" in found ? unknown(`${key}: not checked (${found.failure})`, byHand) : judge(found.value);

const missingOf = (ids: readonly string[], subnets: readonly Subnet[]): string[] =>
  ids.filter((id) => !subnets.some(({ SubnetId }) => SubnetId === id));

const notInVpc = (key: string, ids: readonly string[], vpcId: string): Line =>
  wrong(`${key}: ${vpcId} does not have ${ids.join(", ")}`, `correct lakehead:${key}`);

function checkSubnets(subnets: readonly Subnet[], { vpcId, privateSubnetIds }: AdoptedNetwork): Line {
  const missing = missingOf(privateSubnetIds, subnets);
  if (missing.length > 0) return notInVpc(keys.private, missing, vpcId);
  const own = subnets.filter(({ SubnetId = "" }) => privateSubnetIds.includes(SubnetId));
  const zones = [...new Set(own.map(({ AvailabilityZone = "" }) => AvailabilityZone))].sort();
  if (zones.length < 2)
    return wrong(
      `${keys.private}: ${privateSubnetIds.join(", ")} are all in ${zones.join("")}, and EKS needs two zones`,
      `add a subnet of another zone to lakehead:${keys.private}`,
    );
  const full = own.filter(({ AvailableIpAddressCount = leastAddresses }) => AvailableIpAddressCount < leastAddresses);
  if (full.length > 0)
    return wrong(
      `${keys.private}: ${full.map(({ SubnetId, AvailableIpAddressCount }) => `${SubnetId} has ${AvailableIpAddressCount} free addresses`).join(", ")}; EKS alone needs ${leastAddresses}`,
      `write larger subnets in lakehead:${keys.private}: each pod takes an address`,
    );
  const free = own.map(({ SubnetId, AvailableIpAddressCount }) => `${SubnetId} ${AvailableIpAddressCount}`).join(", ");
  return ok(`${keys.private}: in ${zones.join(", ")}; free addresses, one for each pod: ${free}`);
}

/** The route table of a subnet: its own, or the VPC's main one. */
const tableOf = (tables: readonly RouteTable[], subnetId: string): RouteTable | undefined =>
  tables.find(({ Associations = [] }) => Associations.some(({ SubnetId }) => SubnetId === subnetId)) ??
  tables.find(({ Associations = [] }) => Associations.some(({ Main }) => Main === true));

const isDefault = ({ DestinationCidrBlock, State }: Route): boolean =>
  DestinationCidrBlock === "0.0.0.0/0" && State !== "blackhole";

/** Nodes have no public address, so that an internet gateway does not serve them. */
function checkEgress(tables: readonly RouteTable[], { privateSubnetIds }: AdoptedNetwork): Line {
  const routes = privateSubnetIds.map((id) => ({ id, route: tableOf(tables, id)?.Routes?.find(isDefault) }));
  const without = routes.filter(({ route }) => route === undefined).map(({ id }) => id);
  const byInternet = routes.filter(({ route }) => route?.GatewayId?.startsWith("igw-")).map(({ id }) => id);
  if (byInternet.length > 0)
    return wrong(
      `${keys.private}: the default route of ${byInternet.join(", ")} is an internet gateway, which serves no node without a public address`,
      `write subnets with a route to a NAT gateway in lakehead:${keys.private}`,
    );
  if (without.length > 0)
    return unknown(
      `${keys.private}: ${without.join(", ")} has no default route: nodes reach AWS, charts and images by interface endpoints and mirrors, or not at all`,
      `add a route to a NAT gateway, or check the endpoints of ec2, ecr.api, ecr.dkr, eks, elasticloadbalancing, sts and autoscaling`,
    );
  const ways = new Set(
    routes.map(
      ({ route }) =>
        route?.NatGatewayId ??
        route?.TransitGatewayId ??
        route?.NetworkInterfaceId ??
        route?.GatewayId ??
        "another target",
    ),
  );
  return ok(`${keys.private}: the default routes go to ${[...ways].join(", ")}`);
}
