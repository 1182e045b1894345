/** The quotas that a stack counts against, and what it takes of each. Pure: the facts are input. */

import { type Line, type Outcome, ok, unknown, wrong } from "../../../check-line.ts";
import type { ClusterModel, Pool } from "../../../model/cluster.ts";
import { natZone } from "../network/subnets.ts";
import type { AwsConfig } from "../schema.ts";

interface QuotaName {
  readonly service: "ec2" | "vpc" | "eks" | "elasticloadbalancing";
  readonly code: string;
  readonly name: string;
}

/** What a stack takes of one quota. */
export interface Demand extends QuotaName {
  readonly amount: number;
  /** Such as `the pools' maximum is 22 vCPUs (system 3 × 2)`. */
  readonly need: string;
  /** How the stack's configuration takes less. */
  readonly less: string;
}

const ec2 = (code: string, name: string): QuotaName => ({ service: "ec2", code, name });

/**
 * Quota of EC2 vCPUs by family and purchase option. Source: "Amazon EC2 endpoints and quotas" of the AWS General Reference.
 * Undefined for a family that no example uses and whose quota is not listed here.
 */
export function vcpuQuota(instanceType: string, spot: boolean): QuotaName | undefined {
  const family = /^(p5|p|g|vt|[acdhimrtz])\d*[a-z0-9-]*\./.exec(instanceType)?.[1];
  if (family === undefined || /^(inf|trn|mac|dl|hpc)\d/.test(instanceType)) return undefined;
  if (family === "g" || family === "vt")
    return spot
      ? ec2("L-3819A6DF", "All G and VT Spot Instance Requests")
      : ec2("L-DB2E81BA", "Running On-Demand G and VT instances");
  if (family === "p5" && spot) return ec2("L-C4BD4855", "All P5 Spot Instance Requests");
  if (family === "p5" || family === "p")
    return spot
      ? ec2("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests")
      : ec2("L-417A185B", "Running On-Demand P instances");
  return spot
    ? ec2("L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests")
    : ec2("L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances");
}

/** vCPUs of each quota with every pool at its maximum, and the pools whose quota or size is unknown. */
function vcpuDemands({ pools }: ClusterModel) {
  const found = new Map<string, QuotaName & { vcpus: number; terms: string[] }>();
  const unknownPools: Pool[] = [];
  for (const pool of pools) {
    // All machine types of a pool have one size. Its quota is that of the first.
    const [machine] = pool.machines;
    const quota = machine === undefined ? undefined : vcpuQuota(machine.name, pool.spot);
    if (machine === undefined || quota === undefined) {
      unknownPools.push(pool);
      continue;
    }
    const demand = found.get(quota.code) ?? { ...quota, vcpus: 0, terms: [] };
    demand.vcpus += pool.max * machine.cpus;
    demand.terms.push(`${pool.key} ${pool.max} × ${machine.cpus}`);
    found.set(quota.code, demand);
  }
  const demands = [...found.values()].map(
    ({ vcpus, terms, ...quota }): Demand => ({
      ...quota,
      amount: vcpus,
      need: `the pools' maximum is ${vcpus} vCPUs (${terms.join(", ")})`,
      less: "lower lakehead:nodes.*.max",
    }),
  );
  return { demands, unknownPools };
}

/** Codes of the quotas that count objects. Source: the services' pages of the AWS General Reference. */
export const countedQuotas = {
  vpcs: { service: "vpc", code: "L-F678F1CE", name: "VPCs per Region" },
  natGateways: { service: "vpc", code: "L-FE5A380F", name: "NAT gateways per Availability Zone" },
  addresses: ec2("L-0263D0A3", "EC2-VPC Elastic IPs"),
  clusters: { service: "eks", code: "L-1194D53C", name: "Clusters" },
  applicationBalancers: {
    service: "elasticloadbalancing",
    code: "L-53DA6B97",
    name: "Application Load Balancers per Region",
  },
  networkBalancers: { service: "elasticloadbalancing", code: "L-69A177A2", name: "Network Load Balancers per Region" },
} as const satisfies Readonly<Record<string, QuotaName>>;

/** The letters of the zones that get a NAT gateway. */
export const natZones = ({ network }: AwsConfig): string[] =>
  network.mode === "adopt"
    ? []
    : [...new Set(network.zones.flatMap((zone) => natZone(network.nat, zone, network.zones) ?? []))];

/** What the stack takes of each quota. */
export function quotaDemands(config: AwsConfig, cluster: ClusterModel) {
  const { network, tableService } = config;
  const counted = (quota: QuotaName, amount: number, less: string): Demand[] =>
    amount === 0 ? [] : [{ ...quota, amount, need: `the stack takes ${amount}`, less }];
  const gateways = natZones(config).length;
  const mode = tableService.enabled ? tableService.exposure.mode : "cluster";
  const { demands, unknownPools } = vcpuDemands(cluster);
  const { vpcs, addresses, natGateways, clusters, applicationBalancers, networkBalancers } = countedQuotas;
  const fewerGateways = "write lakehead:network.nat: single";
  return {
    demands: [
      ...counted(vpcs, network.mode === "create" ? 1 : 0, "use a VPC that exists with lakehead:network.mode: adopt"),
      ...counted(addresses, gateways, gateways > 1 ? fewerGateways : "release an address"),
      ...counted(natGateways, Math.min(gateways, 1), "write other letters in lakehead:network.zones"),
      ...counted(clusters, 1, "delete a cluster"),
      ...counted(applicationBalancers, mode === "public" ? 1 : 0, "write lakehead:tableService.exposure.mode: cluster"),
      ...counted(networkBalancers, mode === "internal" ? 1 : 0, "write lakehead:tableService.exposure.mode: cluster"),
      ...demands,
    ],
    unknownPools,
  };
}

/** @param used what others than the stack take of the quota */
export function checkQuota(region: string, demand: Demand, limit: Outcome<number>, used: Outcome<number>): Line {
  const { service, code, name, amount, need, less } = demand;
  const command = `--region ${region} --service-code ${service} --quota-code ${code}`;
  const byHand = `aws service-quotas get-service-quota ${command}`;
  if ("failure" in limit) return unknown(`quota "${name}": not checked (${limit.failure}); ${need}`, byHand);
  const others = "value" in used ? `${used.value} in use by others` : `what others use is not known (${used.failure})`;
  const text = `quota "${name}" in ${region}: ${limit.value}, ${others}; ${need}`;
  const total = amount + ("value" in used ? used.value : 0);
  if (total > limit.value)
    return wrong(
      text,
      `${less}, or aws service-quotas request-service-quota-increase ${command} --desired-value ${total}`,
    );
  return "value" in used ? ok(text) : unknown(text, "grant the permissions of docs/preflight.md");
}

export const checkUnknownPool = ({ key, machineKey, machineNames }: Pool): Line =>
  unknown(
    `quota of the pool ${key}: the size or the quota of ${machineNames.join(", ")} is not known to this project`,
    `compare ${machineKey} with the quotas of EC2 in the console of Service Quotas`,
  );
