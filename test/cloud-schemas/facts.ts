/** What the project's tables say of machines, regions and networks, against lists that others keep. */
import { join } from "node:path";
import { awsMachines, otherAccelerators } from "../../infra/clouds/aws/nodes/machines.ts";
import { awsRegions } from "../../infra/clouds/aws/regions.ts";
import { gcpRegions } from "../../infra/clouds/gcp/regions.ts";
import { notOnTheInternet } from "../../infra/config/checks/created-cluster.ts";
import type { Machine } from "../../infra/model/machines.ts";
import { MiB } from "../../infra/model/quantity.ts";

export interface Finding {
  readonly what: string;
  readonly faults: readonly string[];
}

interface InstanceType {
  readonly cpus: number;
  readonly mebibytes: number;
  readonly gpus: number;
  readonly maker: string;
  readonly architectures: readonly string[];
}

/** Runs test/cloud-schemas/facts.py in an interpreter with the packages. */
export type Facts = (...args: readonly string[]) => Promise<string>;
export const factsScript = join(import.meta.dirname, "facts.py");

function sizeFaults(machine: Machine, types: Readonly<Record<string, InstanceType>>): string[] {
  const real = types[machine.name];
  if (real === undefined) return [`${machine.name}: EC2 does not have it`];
  const ours = `${machine.cpus} CPUs, ${machine.memoryBytes / MiB} MiB, ${machine.gpus} GPUs, ${machine.architecture}`;
  const theirs = `${real.cpus} CPUs, ${real.mebibytes} MiB, ${real.gpus} GPUs, ${real.architectures.at(-1)}`;
  return ours === theirs ? [] : [`${machine.name}: ${ours}, and EC2 says ${theirs}`];
}

/** moto carries EC2's answer of DescribeInstanceTypes, and AWS's managed policies. */
export async function judgeMachines(facts: Facts): Promise<Finding[]> {
  const pull = JSON.parse(await facts("pull-only")) as string[];
  const types = JSON.parse(await facts("instance-types")) as Record<string, InstanceType>;
  const others = Object.entries(types).filter(([, { maker }]) => maker !== "" && !/^(NVIDIA)+$/.test(maker));
  const planted = sizeFaults({ ...(awsMachines.machines[0] as Machine), cpus: 3 }, types);
  return [
    {
      what: `${awsMachines.machines.length} instance types by moto's DescribeInstanceTypes`,
      faults: awsMachines.machines.flatMap((machine) => sizeFaults(machine, types)),
    },
    {
      what: "the nodes' managed policy fills a pull-through cache whose repositories exist, by moto",
      faults: ["ecr:BatchGetImage", "ecr:BatchImportUpstreamImage"].filter((action) => !pull.includes(action)),
    },
    { what: "moto finds a size that EC2 does not have", faults: planted.length === 1 ? [] : ["it did not"] },
    {
      what: `${others.length} instance types with GPUs of other makers are refused`,
      faults: [
        ...others.flatMap(([name]) => (otherAccelerators.test(name) ? [] : [name])),
        ...(others.length === 0 ? ["moto lists none"] : []),
      ],
    },
  ];
}

const missing = (names: readonly string[], from: readonly string[], text: string): string[] =>
  names.filter((name) => !from.includes(name)).map((name) => `${name}: ${text}`);

/** botocore's endpoints, the locations of Google's discovery documents, and the address registry of Python's ipaddress. */
export async function judgePlaces(facts: Facts): Promise<Finding[]> {
  const aws = Object.entries(JSON.parse(await facts("aws-regions")) as Record<string, string>);
  const open = aws.flatMap(([region, partition]) => (/^aws(-cn|-us-gov)?$/.test(partition) ? [region] : []));
  const google = JSON.parse(await facts("google-locations")) as string[];
  const internet = JSON.parse(await facts("internet", ...notOnTheInternet, "8.8.8.0/24")) as string[];
  return [
    { what: `${open.length} regions of AWS by botocore`, faults: missing(open, awsRegions, "not in the table") },
    {
      what: `${gcpRegions.length} regions by Google's discovery documents`,
      faults: missing(gcpRegions, google, "Google does not list it"),
    },
    {
      what: `${notOnTheInternet.length} private and reserved networks by Python's ipaddress`,
      faults: internet.join() === "8.8.8.0/24" ? [] : [`global: ${internet.join(", ")}`],
    },
  ];
}
