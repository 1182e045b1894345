/** The quotas of an account, and what others than the stack take of them. */

import {
  DescribeAddressesCommand,
  EC2Client,
  paginateDescribeInstances,
  paginateDescribeNatGateways,
  paginateDescribeSubnets,
  paginateDescribeVpcs,
  type Tag,
} from "@aws-sdk/client-ec2";
import { EKSClient, paginateListClusters } from "@aws-sdk/client-eks";
import { GetServiceQuotaCommand, ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import { attempt, type Line, mapOutcome } from "../../../check-line.ts";
import type { ClusterModel } from "../../../model/cluster.ts";
import { isOwn, type OwnTags } from "../../taken-name.ts";
import { awsMachines } from "../nodes/machines.ts";
import type { AwsConfig } from "../schema.ts";
import { settings, signedGet } from "./client.ts";
import { tagsOf } from "./names.ts";
import { checkQuota, checkUnknownPool, countedQuotas, natZones, quotaDemands, vcpuQuota } from "./quotas.ts";

async function collect<Page, Item>(pages: AsyncIterable<Page>, read: (page: Page) => Item[] | undefined) {
  const items: Item[] = [];
  for await (const page of pages) items.push(...(read(page) ?? []));
  return items;
}

const others = (own: OwnTags, items: readonly { Tags?: Tag[] | undefined }[]): number =>
  items.filter(({ Tags }) => !isOwn(tagsOf(Tags), own)).length;

/** Reads what others use, by the code of the quota. */
function usageReaders(config: AwsConfig, own: OwnTags): Readonly<Record<string, () => Promise<number>>> {
  const { region, clusterName } = config;
  const client = new EC2Client(settings(region));
  const paged = { client };
  const balancers = (kind: "app" | "net") => async () => {
    const { status, text, code } = await signedGet({
      service: "elasticloadbalancing",
      region,
      path: "/",
      query: { Action: "DescribeLoadBalancers", Version: "2015-12-01", PageSize: "400" },
    });
    if (status !== 200) throw new Error(code ?? `status ${status}`);
    return text.match(new RegExp(`<LoadBalancerArn>[^<]+:loadbalancer/${kind}/`, "g"))?.length ?? 0;
  };
  return {
    [countedQuotas.vpcs.code]: async () =>
      others(own, await collect(paginateDescribeVpcs(paged, {}), ({ Vpcs }) => Vpcs)),
    [countedQuotas.addresses.code]: async () =>
      others(own, (await client.send(new DescribeAddressesCommand({}))).Addresses ?? []),
    [countedQuotas.natGateways.code]: async () => {
      const gateways = await collect(
        paginateDescribeNatGateways(paged, {
          Filter: [{ Name: "state", Values: ["pending", "available", "deleting"] }],
        }),
        ({ NatGateways }) => NatGateways,
      );
      const subnets = await collect(paginateDescribeSubnets(paged, {}), ({ Subnets }) => Subnets);
      const zoneOf = new Map(subnets.map(({ SubnetId, AvailabilityZone }) => [SubnetId, AvailabilityZone]));
      const inZone = (letter: string) =>
        others(
          own,
          gateways.filter(({ SubnetId }) => zoneOf.get(SubnetId) === `${region}${letter}`),
        );
      return Math.max(0, ...natZones(config).map(inZone));
    },
    [countedQuotas.clusters.code]: async () => {
      const names = await collect(
        paginateListClusters({ client: new EKSClient(settings(region)) }, {}),
        ({ clusters }) => clusters,
      );
      return names.filter((name) => name !== clusterName).length;
    },
    [countedQuotas.applicationBalancers.code]: balancers("app"),
    [countedQuotas.networkBalancers.code]: balancers("net"),
  };
}

/** vCPUs of the account's instances by the code of their quota, without the nodes of the stack's own cluster. */
async function vcpusInUse({ region, clusterName }: AwsConfig): Promise<ReadonlyMap<string, number>> {
  const reservations = await collect(
    paginateDescribeInstances(
      { client: new EC2Client(settings(region)) },
      { Filters: [{ Name: "instance-state-name", Values: ["pending", "running"] }] },
    ),
    ({ Reservations }) => Reservations,
  );
  const used = new Map<string, number>();
  for (const { InstanceType = "", InstanceLifecycle, CpuOptions, Tags } of reservations.flatMap(
    ({ Instances = [] }) => Instances,
  )) {
    const quota = vcpuQuota(InstanceType, InstanceLifecycle === "spot");
    if (quota === undefined || tagsOf(Tags)["eks:cluster-name"] === clusterName) continue;
    const { CoreCount, ThreadsPerCore } = CpuOptions ?? {};
    const vcpus =
      CoreCount === undefined || ThreadsPerCore === undefined
        ? (awsMachines.find(InstanceType)?.cpus ?? 0)
        : CoreCount * ThreadsPerCore;
    used.set(quota.code, (used.get(quota.code) ?? 0) + vcpus);
  }
  return used;
}

/** The account's quotas against what the stack takes with its pools at their maximum. */
export async function quotaLines(config: AwsConfig, cluster: ClusterModel, own: OwnTags): Promise<readonly Line[]> {
  const { region } = config;
  const quotas = new ServiceQuotasClient(settings(region));
  const { demands, unknownPools } = quotaDemands(config, cluster);
  const readers = usageReaders(config, own);
  const vcpus = attempt(() => vcpusInUse(config));
  const lines = demands.map(async (demand) => {
    const limit = await attempt(async () => {
      const request = new GetServiceQuotaCommand({ ServiceCode: demand.service, QuotaCode: demand.code });
      const { Quota } = await quotas.send(request);
      if (Quota?.Value === undefined) throw new Error("the response has no value");
      return Quota.Value;
    });
    const reader = readers[demand.code];
    const used =
      reader === undefined ? mapOutcome(await vcpus, (found) => found.get(demand.code) ?? 0) : await attempt(reader);
    return checkQuota(region, demand, limit, used);
  });
  return [...(await Promise.all(lines)), ...unknownPools.map(checkUnknownPool)];
}
