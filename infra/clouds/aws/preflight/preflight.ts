/** Asks AWS for what must exist before the first `up`. Reads only; the endpoint and the credentials are the SDK's defaults. */

import { ACMClient, DescribeCertificateCommand } from "@aws-sdk/client-acm";
import { EC2Client, paginateDescribeInstanceTypeOfferings } from "@aws-sdk/client-ec2";
import { BatchGetImageCommand, ECRClient } from "@aws-sdk/client-ecr";
import { GetRoleCommand, GetUserCommand, IAMClient } from "@aws-sdk/client-iam";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { attempt, type Line, type Outcome } from "../../../check-line.ts";
import type { ClusterModel } from "../../../model/cluster.ts";
import { type ImageFacts, manifestTypes, readManifest } from "../../image-manifest.ts";
import type { AwsConfig } from "../schema.ts";
import { checkAdoptedNetwork } from "./adopted-network.ts";
import {
  type Caller,
  type Certificate,
  checkCaller,
  checkCertificate,
  checkOfferings,
  checkPrincipal,
  configuredPrincipals,
  parseEcrImage,
  uncheckedZone,
} from "./checks.ts";
import { settings, unlessMissing } from "./client.ts";
import { nameLines, ownTags } from "./names.ts";
import { quotaLines } from "./usage.ts";

export const readCaller = (region: string): Promise<Outcome<Caller>> =>
  attempt(async () => {
    const { Account = "", Arn = "" } = await new STSClient(settings(region)).send(new GetCallerIdentityCommand({}));
    return { account: Account, arn: Arn };
  });

async function readCertificate(region: string, arn: string): Promise<Outcome<Certificate | undefined>> {
  return attempt(async () => {
    const client = new ACMClient(settings(region));
    const found = await unlessMissing("ResourceNotFoundException", () =>
      client.send(new DescribeCertificateCommand({ CertificateArn: arn })),
    );
    if (found?.Certificate === undefined) return undefined;
    const { Status = "unknown", DomainName = "", SubjectAlternativeNames = [] } = found.Certificate;
    return { status: Status, domains: [...new Set([DomainName, ...SubjectAlternativeNames])] };
  });
}

/** Yields each group of lines when it is known. */
export async function* preflightAws(
  config: AwsConfig,
  cluster: ClusterModel,
  stack: string,
): AsyncGenerator<readonly Line[]> {
  const { region, tableService, network } = config;
  const caller = await readCaller(region);
  yield [checkCaller(config, caller)];
  // Without credentials each of the next requests fails for the same reason.
  if ("failure" in caller) return;

  const iam = new IAMClient(settings(region));
  yield await Promise.all(
    configuredPrincipals(config).map(async (principal) => {
      const { kind, name, account } = principal;
      const found = await attempt(async () => {
        if (account !== caller.value.account) return undefined;
        return unlessMissing("NoSuchEntityException", async () =>
          kind === "role"
            ? (await iam.send(new GetRoleCommand({ RoleName: name }))).Role?.Arn
            : (await iam.send(new GetUserCommand({ UserName: name }))).User?.Arn,
        );
      });
      return checkPrincipal(principal, caller, found);
    }),
  );

  const own = ownTags(config, stack);
  yield await nameLines(config, own);
  yield await quotaLines(config, cluster, own);

  const adopted = network.mode === "adopt" ? await checkAdoptedNetwork(region, network) : undefined;
  if (adopted !== undefined) yield adopted.lines;
  const zonesOf = (letters: readonly string[]) => letters.map((letter) => `${region}${letter}`);
  const zones = network.mode === "create" ? { value: zonesOf(network.zones) } : adopted?.zones;
  if (zones !== undefined && "value" in zones && zones.value.length > 0) {
    const offered = await readOfferings(region, cluster);
    yield cluster.pools.map((pool) =>
      checkOfferings(pool, pool.zones === undefined ? zones.value : zonesOf(pool.zones), offered),
    );
  }

  const { exposure } = tableService;
  if (
    tableService.enabled &&
    exposure.mode !== "cluster" &&
    exposure.certificateArn !== undefined &&
    exposure.host !== undefined
  ) {
    const { certificateArn: arn, host } = exposure;
    yield [checkCertificate(config, { arn, host }, await readCertificate(region, arn))];
  }
  if (tableService.enabled && exposure.mode === "public" && exposure.zone !== undefined)
    yield [uncheckedZone(exposure.zone)];
}

const readOfferings = (region: string, { pools }: ClusterModel) =>
  attempt(async () => {
    const names = [...new Set(pools.flatMap(({ machineNames }) => machineNames))];
    const offered = new Map<string, Set<string>>();
    const pages = paginateDescribeInstanceTypeOfferings(
      { client: new EC2Client(settings(region)) },
      { LocationType: "availability-zone", Filters: [{ Name: "instance-type", Values: names }] },
    );
    for await (const { InstanceTypeOfferings = [] } of pages)
      for (const { InstanceType = "", Location = "" } of InstanceTypeOfferings)
        offered.set(InstanceType, (offered.get(InstanceType) ?? new Set()).add(Location));
    return offered;
  });

/** An image in ECR by ECR's API; undefined for an image of another registry. */
export async function readEcrImage(image: string): Promise<Outcome<ImageFacts | undefined> | undefined> {
  const parsed = parseEcrImage(image);
  if (parsed === undefined) return undefined;
  const { account, region, repository, ...id } = parsed;
  return attempt(async () => {
    const client = new ECRClient(settings(region));
    const response = await unlessMissing("RepositoryNotFoundException", () =>
      client.send(
        new BatchGetImageCommand({
          registryId: account,
          repositoryName: repository,
          imageIds: [id],
          acceptedMediaTypes: [...manifestTypes],
        }),
      ),
    );
    const manifest = response?.images?.[0]?.imageManifest;
    const [failure] = response?.failures ?? [];
    if (manifest === undefined && failure !== undefined && failure.failureCode !== "ImageNotFound")
      throw new Error(failure.failureReason ?? failure.failureCode);
    return manifest === undefined ? undefined : readManifest(JSON.parse(manifest));
  });
}
