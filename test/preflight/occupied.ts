/** An account in which quotas are used up, names are taken, and VPCs exist: planted in moto, and what `preflight` must say of it. */

import {
  AllocateAddressCommand,
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateNatGatewayCommand,
  CreateRouteCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeRouteTablesCommand,
  EC2Client,
  ModifyVpcAttributeCommand,
  RunInstancesCommand,
} from "@aws-sdk/client-ec2";
import { CreateRepositoryCommand, ECRClient } from "@aws-sdk/client-ecr";
import { CreateClusterCommand, EKSClient } from "@aws-sdk/client-eks";

interface Client {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** A change of the stack's configuration, and the line that it must print. */
export type Case = readonly [title: string, change: Readonly<Record<string, unknown>>, line: RegExp];

const auth = { issuer: "https://login.tables.invalid/", audience: "lakehead" };

/** What moto has no quota for, with which the occupied region is full. */
export const countedQuotas = { "L-0263D0A3": 5, "L-1194D53C": 2, "L-53DA6B97": 1 };

const times = <Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** Uses up every quota of a region. */
export async function fillRegion(client: Client, roleArn: string): Promise<void> {
  const ec2 = new EC2Client(client);
  const [first] = await times(4, (index) => ec2.send(new CreateVpcCommand({ CidrBlock: `10.${index}.0.0/16` })));
  const subnets = await Promise.all(
    ["a", "b"].map((letter, index) =>
      ec2.send(
        new CreateSubnetCommand({
          VpcId: first?.Vpc?.VpcId,
          CidrBlock: `10.0.${index}.0/24`,
          AvailabilityZone: `${client.region}${letter}`,
        }),
      ),
    ),
  );
  const addresses = await times(5, () => ec2.send(new AllocateAddressCommand({ Domain: "vpc" })));
  for (const { AllocationId } of addresses)
    await ec2.send(new CreateNatGatewayCommand({ SubnetId: subnets[0]?.Subnet?.SubnetId, AllocationId }));
  await ec2.send(
    new RunInstancesCommand({ ImageId: "ami-12c6146b", InstanceType: "m5.16xlarge", MinCount: 1, MaxCount: 1 }),
  );
  const eks = new EKSClient(client);
  await times(2, (index) =>
    eks.send(new CreateClusterCommand({ name: `other-${index}`, roleArn, resourcesVpcConfig: {} })),
  );
  const balancer = new URLSearchParams({ Action: "CreateLoadBalancer", Version: "2015-12-01", Name: "other" });
  for (const [index, { Subnet }] of subnets.entries())
    balancer.set(`Subnets.member.${index + 1}`, Subnet?.SubnetId ?? "");
  await post(client, "elasticloadbalancing", "/", balancer);
}

/** moto finds the service and the region in the header, and takes any signature. */
async function post(
  { endpoint, region }: Client,
  service: string,
  path: string,
  body: URLSearchParams | string,
  method = "POST",
) {
  const response = await fetch(new URL(path, endpoint), {
    method,
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=planted/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=0`,
    },
    body,
  });
  if (!response.ok) throw new Error(`${service}: ${response.status} ${await response.text()}`);
}

const fullCase = (region: string) => ({
  region,
  tableService: { auth, exposure: { mode: "public", host: "www.tables.invalid", zone: "Z0123456789" } },
});

export const fullCases = (region: string): readonly Case[] => [
  ["VPCs are used up", fullCase(region), /quota "VPCs per Region" in \S+: 5, 5 in use by others; the stack takes 1/],
  [
    "addresses are used up",
    fullCase(region),
    /quota "EC2-VPC Elastic IPs" in \S+: 5, 5 in use by others; the stack takes 1/,
  ],
  [
    "NAT gateways of the zone are used up",
    fullCase(region),
    /quota "NAT gateways per Availability Zone" in \S+: 5, 5 in use by others/,
  ],
  ["clusters are used up", fullCase(region), /quota "Clusters" in \S+: 2, 2 in use by others; the stack takes 1/],
  [
    "load balancers are used up",
    fullCase(region),
    /quota "Application Load Balancers per Region" in \S+: 1, 1 in use by others/,
  ],
  [
    "running instances take the vCPUs",
    fullCase(region),
    /quota "Running On-Demand Standard [^"]+" in \S+: 64, 64 in use by others; the pools' maximum is 22/,
  ],
];

/** Names that something else has. */
export async function takeNames(client: Client): Promise<readonly Case[]> {
  const create = `<CreateBucketConfiguration><LocationConstraint>${client.region}</LocationConstraint></CreateBucketConfiguration>`;
  for (const name of ["taken-by-nothing", "taken-by-stack", "own-tables"])
    await post(client, "s3", `/${name}`, create, "PUT");
  const tags = (stack: string) =>
    `<Tagging><TagSet><Tag><Key>stack</Key><Value>${stack}</Value></Tag><Tag><Key>managed-by</Key><Value>pulumi</Value></Tag></TagSet></Tagging>`;
  await post(client, "s3", "/taken-by-stack?tagging", tags("aws-prod"), "PUT");
  await post(client, "s3", "/own-tables?tagging", tags("trial"), "PUT");
  await new ECRClient(client).send(new CreateRepositoryCommand({ repositoryName: "spoken-for/table-service" }));
  const named = (name: string) => ({ bucket: { name } });
  return [
    [
      "the bucket is another account's",
      named("taken-by-nothing"),
      /WRONG +bucket\.name: the bucket taken-by-nothing exists and belongs to something else\n +→ write another lakehead:bucket\.name/,
    ],
    [
      "the bucket is another stack's",
      named("taken-by-stack"),
      /WRONG +bucket\.name: the bucket taken-by-stack exists and belongs to the stack aws-prod/,
    ],
    ["the bucket is the stack's own", named("own-tables"), /ok +bucket\.name: the bucket own-tables is this stack's/],
    [
      "a bucket that must exist does not",
      { bucket: { name: "nowhere-at-all", create: false } },
      /WRONG +bucket\.name: the bucket nowhere-at-all, which exists by bucket\.create: false, does not exist/,
    ],
    [
      "the image's repository is something else's",
      { clusterName: "spoken-for", tableService: { auth } },
      /WRONG +tableService: the repository spoken-for\/table-service exists and belongs to something else\n +→ write another lakehead:clusterName/,
    ],
  ];
}

/** A VPC with private subnets, adopted as it should be and with each fault. */
export async function plantVpc(client: Client): Promise<readonly Case[]> {
  const ec2 = new EC2Client(client);
  const vpc = async (cidr: string) => {
    const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: cidr }));
    const id = Vpc?.VpcId ?? "";
    const subnet = async (letter: string, CidrBlock: string): Promise<string> => {
      const command = new CreateSubnetCommand({ VpcId: id, CidrBlock, AvailabilityZone: `${client.region}${letter}` });
      return (await ec2.send(command)).Subnet?.SubnetId ?? "";
    };
    const { RouteTables } = await ec2.send(
      new DescribeRouteTablesCommand({ Filters: [{ Name: "vpc-id", Values: [id] }] }),
    );
    return { id, subnet, table: RouteTables?.[0]?.RouteTableId ?? "" };
  };
  const toInternet = async ({ id, table }: { id: string; table: string }) => {
    const { InternetGateway } = await ec2.send(new CreateInternetGatewayCommand({}));
    const GatewayId = InternetGateway?.InternetGatewayId;
    await ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId: GatewayId, VpcId: id }));
    await ec2.send(new CreateRouteCommand({ RouteTableId: table, DestinationCidrBlock: "0.0.0.0/0", GatewayId }));
  };

  const good = await vpc("10.80.0.0/16");
  const subnets = [await good.subnet("a", "10.80.0.0/20"), await good.subnet("b", "10.80.16.0/20")];
  const { AllocationId } = await ec2.send(new AllocateAddressCommand({ Domain: "vpc" }));
  const { NatGateway } = await ec2.send(new CreateNatGatewayCommand({ SubnetId: subnets[0], AllocationId }));
  const nat = NatGateway?.NatGatewayId;
  await ec2.send(
    new CreateRouteCommand({ RouteTableId: good.table, DestinationCidrBlock: "0.0.0.0/0", NatGatewayId: nat }),
  );
  await ec2.send(new ModifyVpcAttributeCommand({ VpcId: good.id, EnableDnsHostnames: { Value: true } }));
  const secondOfA = await good.subnet("a", "10.80.32.0/20");

  const poor = await vpc("10.81.0.0/16");
  const open = [await poor.subnet("a", "10.81.0.0/20"), await poor.subnet("b", "10.81.16.0/20")];
  await toInternet(poor);
  const closed = await vpc("10.82.0.0/16");
  const shut = [await closed.subnet("a", "10.82.0.0/20"), await closed.subnet("b", "10.82.16.0/28")];

  const network = {
    mode: "adopt",
    vpcId: good.id,
    cidr: "10.80.0.0/16",
    privateSubnetIds: subnets,
    privateRouteTableIds: [good.table],
  };
  const adopt = (change: object = {}) => ({ network: { ...network, ...change }, tableService: { auth } });
  const ofPoor = { vpcId: poor.id, cidr: "10.81.0.0/16", privateSubnetIds: open, privateRouteTableIds: [poor.table] };
  const ofClosed = { vpcId: closed.id, cidr: "10.82.0.0/16", privateSubnetIds: shut, privateRouteTableIds: [] };
  return [
    ["its network is the VPC's", adopt(), /ok +network\.cidr: 10\.80\.0\.0\/16 is a network of vpc-\w+/],
    ["its VPC gives names", adopt(), /ok +network\.vpcId: vpc-\w+ resolves names, and gives them/],
    [
      "its subnets have zones and addresses",
      adopt(),
      /ok +network\.privateSubnetIds: in eu-central-1a, eu-central-1b; free addresses, one for each pod: subnet-\w+ 409\d/,
    ],
    ["its subnets have a way out", adopt(), /ok +network\.privateSubnetIds: the default routes go to nat-\w+/],
    [
      "its subnets' zones offer the types",
      adopt(),
      /ok +instance types of the pool gpu: eu-central-1a, eu-central-1b offer/,
    ],
    [
      "the VPC does not exist",
      adopt({ vpcId: "vpc-0a0a0a0a" }),
      /WRONG +network\.vpcId: eu-central-1 has no VPC vpc-0a0a0a0a/,
    ],
    [
      "the network is another",
      adopt({ cidr: "10.90.0.0/16" }),
      /WRONG +network\.cidr: vpc-\w+ has 10\.80\.0\.0\/16, not 10\.90\.0\.0\/16/,
    ],
    [
      "the VPC gives no names",
      adopt(ofPoor),
      /WRONG +network\.vpcId: enable-dns-hostnames of vpc-\w+ is off: [^\n]+\n +→ aws ec2 modify-vpc-attribute --vpc-id vpc-\w+ --enable-dns-hostnames/,
    ],
    [
      "nodes would have an internet gateway only",
      adopt(ofPoor),
      /WRONG +network\.privateSubnetIds: the default route of subnet-\w+, subnet-\w+ is an internet gateway/,
    ],
    [
      "all subnets are in one zone",
      adopt({ privateSubnetIds: [subnets[0], secondOfA] }),
      /WRONG +network\.privateSubnetIds: subnet-\w+, subnet-\w+ are all in eu-central-1a/,
    ],
    [
      "a subnet is of another VPC",
      adopt({ privateSubnetIds: [subnets[0], open[1]] }),
      /WRONG +network\.privateSubnetIds: vpc-\w+ does not have subnet-\w+/,
    ],
    [
      "a public subnet is of another VPC",
      adopt({ publicSubnetIds: [open[0], open[1]] }),
      /WRONG +network\.publicSubnetIds: vpc-\w+ does not have subnet-\w+/,
    ],
    [
      "a route table is of another VPC",
      adopt({ privateRouteTableIds: [poor.table] }),
      /WRONG +network\.privateRouteTableIds: vpc-\w+ does not have rtb-\w+/,
    ],
    [
      "nothing is known of a way out",
      adopt(ofClosed),
      /unknown +network\.privateSubnetIds: subnet-\w+, subnet-\w+ has no default route/,
    ],
    [
      "table data would take the default route",
      adopt(ofClosed),
      /unknown +network\.privateRouteTableIds: rtb-\w+ gets no gateway endpoint of S3/,
    ],
  ];
}
