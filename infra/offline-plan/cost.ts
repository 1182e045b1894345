/** What a planned stack costs in a month, from a table of prices. Pure. */

import { markdownHead, markdownRow } from "../../tools/markdown-table.ts";
import type { Plan, PlanEntry } from "./plan.ts";
import { type PriceRow, priceOf } from "./prices.ts";
import type { Plain } from "./values.ts";

/** What a resource uses of one item, idle and with every pool at its maximum. */
interface Use {
  readonly group: string;
  readonly item: string;
  readonly idle: number;
  readonly maximum: number;
}

type Inputs = Readonly<Record<string, Plain>>;

const object = (value: Plain | undefined): Inputs =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
const list = (value: Plain | undefined): readonly Plain[] => (Array.isArray(value) ? value : []);
const text = (value: Plain | undefined): string => (typeof value === "string" ? value : "");
const number = (value: Plain | undefined): number => (typeof value === "number" ? value : 0);

const one = (group: string, item: string): Use => ({ group, item, idle: 1, maximum: 1 });

interface Pool {
  readonly name: string;
  readonly machine: string;
  readonly spot: boolean;
  readonly min: number;
  readonly max: number;
  readonly disk: string;
  readonly diskGiB: number;
}

const poolUses = ({ name, machine, spot, min, max, disk, diskGiB }: Pool): Use[] => [
  { group: `nodes of ${name}`, item: `${machine}${spot ? " spot" : ""}`, idle: min, maximum: max },
  { group: "disks of nodes", item: `disk ${disk}`, idle: min * diskGiB, maximum: max * diskGiB },
];

function nodeGroup(entry: PlanEntry, plan: Plan): Use[] {
  const { inputs, references } = entry;
  const templates = new Set(references.launchTemplate);
  const template = plan.entries.find(({ id, type }) => templates.has(id) && type.includes("launchTemplate"));
  const ebs = object(object(list(template?.inputs.blockDeviceMappings)[0]).ebs);
  const scaling = object(inputs.scalingConfig);
  return poolUses({
    name: text(inputs.nodeGroupNamePrefix).replace(/-$/, ""),
    machine: text(list(inputs.instanceTypes)[0]),
    spot: inputs.capacityType === "SPOT",
    min: number(scaling.minSize),
    max: number(scaling.maxSize),
    disk: text(ebs.volumeType),
    diskGiB: number(ebs.volumeSize),
  });
}

function nodePool({ name, inputs }: PlanEntry): Use[] {
  const scaling = object(inputs.autoscaling);
  const node = object(inputs.nodeConfig);
  return poolUses({
    name: name.replace(/-pool(?=$|-)/, ""),
    machine: text(node.machineType),
    spot: node.spot === true || node.spot === "true",
    min: number(scaling.totalMinNodeCount),
    max: number(scaling.totalMaxNodeCount),
    disk: text(node.diskType),
    diskGiB: number(node.diskSizeGb),
  });
}

/** Google's NAT costs by the VM up to this number, from which the price of a gateway is constant. */
const natNodes = 32;

function googleNat(_: PlanEntry, plan: Plan): Use[] {
  const nodes = plan.entries
    .filter(({ type }) => type === "gcp:container/nodePool:NodePool")
    .map(({ inputs }) => object(inputs.autoscaling));
  const share = (key: string): number =>
    Math.min(1, nodes.reduce((sum, scaling) => sum + number(scaling[key]), 0) / natNodes);
  return [
    { group: "network", item: "NAT gateway", idle: share("totalMinNodeCount"), maximum: share("totalMaxNodeCount") },
    // Google allocates them as nodes need ports: at least one.
    one("network", "public address"),
  ];
}

/** The types with a price for their being there. What is paid by use is in `uncounted`. */
const priced: Readonly<Record<string, (entry: PlanEntry, plan: Plan) => readonly Use[]>> = {
  "aws:eks/cluster:Cluster": () => [one("control plane", "control plane")],
  "aws:eks/nodeGroup:NodeGroup": nodeGroup,
  "aws:ec2/natGateway:NatGateway": () => [one("network", "NAT gateway")],
  "aws:ec2/eip:Eip": () => [one("network", "public address")],
  "aws:ec2/vpcEndpoint:VpcEndpoint": ({ inputs }) =>
    inputs.vpcEndpointType === "Interface"
      ? [
          {
            ...one("network", "interface endpoint"),
            idle: list(inputs.subnetIds).length,
            maximum: list(inputs.subnetIds).length,
          },
        ]
      : [],
  "gcp:container/cluster:Cluster": () => [one("control plane", "control plane")],
  "gcp:container/nodePool:NodePool": nodePool,
  "gcp:compute/routerNat:RouterNat": googleNat,
  "kubernetes:networking.k8s.io/v1:Ingress": () => [one("load balancer", "load balancer")],
  "kubernetes:core/v1:Service": ({ inputs }) =>
    object(inputs.spec).type === "LoadBalancer" ? [one("load balancer", "load balancer")] : [],
};

/** Paid by what is used, and not in the sum. */
const uncounted: readonly (readonly [type: RegExp, what: string])[] = [
  [/^aws:ec2\/flowLog:/, "flow logs, by the GB"],
  [/^aws:ec2\/natGateway:|^gcp:compute\/routerNat:/, "traffic through NAT, by the GB"],
  [/^aws:s3\/bucket:|^gcp:storage\/bucket:/, "the bucket"],
  [/^aws:cloudwatch\/logGroup:|^gcp:container\/cluster:/, "logs, by the GB"],
  [/^aws:kms\/key:|^gcp:kms\/cryptoKey:/, "keys"],
  [/^kubernetes:networking\.k8s\.io\/v1:Ingress$/, "addresses, requests and traffic of the load balancer"],
];

export interface Line {
  readonly group: string;
  readonly idle: number;
  readonly maximum: number;
  /** Such as `2 to 3 × m7i.large at 0.12075 an hour`. */
  readonly terms: readonly string[];
}

export interface Cost {
  readonly stack: string;
  readonly region: string;
  readonly lines: readonly Line[];
  /** Items without a row, which the sums lack. */
  readonly missing: readonly string[];
  readonly uncounted: readonly string[];
  /** The dates of the rows that were used, oldest first. */
  readonly dates: readonly string[];
}

/** Hours of an average month, as both clouds' calculators have it. */
export const hours = 730;

export function costOf(plan: Plan, prices: readonly PriceRow[]): Cost {
  const provider = plan.entries.find(({ type }) => type === "pulumi:providers:aws" || type === "pulumi:providers:gcp");
  const cloud = provider?.type.split(":")[2];
  const region = text(provider?.inputs.region);

  const uses = new Map<string, Use>();
  for (const entry of plan.entries)
    for (const use of priced[entry.type]?.(entry, plan) ?? []) {
      const key = `${use.group} ${use.item}`;
      const { idle = 0, maximum = 0 } = uses.get(key) ?? {};
      uses.set(key, { ...use, idle: idle + use.idle, maximum: maximum + use.maximum });
    }
  const groups = new Map<string, Line>();
  const missing: string[] = [];
  const dates: string[] = [];
  for (const { group, item, idle, maximum } of uses.values()) {
    const row = priceOf(prices, { cloud, region }, item);
    if (row === undefined) {
      missing.push(`${item} in ${region} (${amount(idle, maximum)})`);
      continue;
    }
    dates.push(row.date);
    const each = row.usd * (row.per === "hour" ? hours : 1);
    const before = groups.get(group) ?? { group, idle: 0, maximum: 0, terms: [] };
    groups.set(group, {
      group,
      idle: before.idle + idle * each,
      maximum: before.maximum + maximum * each,
      terms: [
        ...before.terms,
        `${amount(idle, maximum)} × ${item} at ${row.usd} ${row.per === "hour" ? "an" : "a"} ${row.per}`,
      ],
    });
  }
  return {
    stack: plan.stack,
    region,
    lines: [...groups.values()].sort((a, b) => b.idle - a.idle || b.maximum - a.maximum),
    missing,
    uncounted: uncounted.flatMap(([type, what]) => (plan.entries.some((entry) => type.test(entry.type)) ? [what] : [])),
    dates: [...new Set(dates)].sort(),
  };
}

const rounded = (value: number): string => String(Math.round(value * 100) / 100);
const amount = (idle: number, maximum: number): string =>
  idle === maximum ? rounded(idle) : `${rounded(idle)} to ${rounded(maximum)}`;
const dollars = (value: number): string => value.toFixed(0);

export function renderCost(cost: Cost): string {
  const { stack, region, lines, missing, uncounted: apart, dates } = cost;
  if (region === "") return `${stack}: the stack creates no cluster, so that this table has no price for it\n`;
  const sum = (key: "idle" | "maximum"): string => dollars(lines.reduce((total, line) => total + line[key], 0));
  return [
    markdownHead([stack, "idle, USD a month", "at maximum", "of"]),
    ...lines.map(({ group, idle, maximum, terms }) =>
      markdownRow([group, dollars(idle), dollars(maximum), terms.join("; ")]),
    ),
    markdownRow([
      missing.length === 0 ? "sum" : "sum without what has no price",
      sum("idle"),
      sum("maximum"),
      `${hours} hours in ${region}`,
    ]),
    "",
    ...missing.map((item) => `no price: ${item}; add a row by --prices <file>`),
    ...(dates.length === 0
      ? []
      : [
          `prices of ${dates.length === 1 ? dates[0] : `${dates[0]} to ${dates.at(-1)}`}, without taxes and discounts; spot prices change`,
        ]),
    ...(apart.length === 0 ? [] : [`not counted: ${apart.join("; ")}`]),
    "",
  ].join("\n");
}
