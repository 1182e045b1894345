/** What AWS must have before the first `up`. Pure: the facts are input. */

import { type Line, type Outcome, ok, unknown, wrong } from "../../check-line.ts";
import type { ClusterModel, Pool } from "../../model/cluster.ts";
import type { AwsConfig } from "./schema.ts";

/** ARN of an IAM role or user. */
interface Principal {
  readonly arn: string;
  readonly account: string;
  readonly kind: "role" | "user";
  /** Without its path: unique in the account. */
  readonly name: string;
}

export interface Caller {
  readonly account: string;
  /** As STS prints it: an assumed role without its path. */
  readonly arn: string;
}

export function parsePrincipal(arn: string): Principal {
  const [, , , , account = "", path = ""] = arn.split(":");
  const parts = path.split("/");
  return { arn, account, kind: parts[0] === "user" ? "user" : "role", name: parts.at(-1) ?? "" };
}

/** Name of the role of `arn:aws:sts::<account>:assumed-role/<role>/<session>`; undefined for any other caller. */
export const assumedRole = (arn: string): string | undefined => /:assumed-role\/([^/]+)\//.exec(arn)?.[1];

const noCredentials =
  /CredentialsProvider|Could not load credentials|ExpiredToken|InvalidClientTokenId|SignatureDoesNotMatch|Token is expired/i;

/** Whether the caller is `deployerArn`. The role's path is compared where the role is looked up. */
export function checkCaller({ account, deployerArn }: AwsConfig, caller: Outcome<Caller>): Line {
  if ("failure" in caller)
    return noCredentials.test(caller.failure)
      ? wrong(`caller: no valid AWS credentials (${caller.failure})`, "set AWS_PROFILE, or run aws sso login")
      : unknown(`caller: STS did not respond (${caller.failure})`, "aws sts get-caller-identity");
  const { arn } = caller.value;
  if (caller.value.account !== account)
    return wrong(
      `caller: ${arn} is in account ${caller.value.account}, the stack's account is ${account}`,
      `use credentials of ${deployerArn}, or correct lakehead:account`,
    );
  const deployer = parsePrincipal(deployerArn);
  const role = assumedRole(arn);
  const equal = deployer.kind === "role" ? role === deployer.name : arn === deployerArn;
  return equal
    ? ok(`caller: ${arn} is deployerArn`)
    : wrong(
        `caller: ${arn} is not deployerArn ${deployerArn}`,
        "use credentials of deployerArn: Kubernetes refuses any other caller once the cluster exists",
      );
}

interface Named {
  readonly what: "cluster" | "role";
  readonly key: string;
  readonly name: string;
}

/**
 * Whether a name is free, or this stack's own already.
 * @param tags of what has the name; undefined when nothing has it
 */
export function checkName(
  { what, key, name }: Named,
  stack: string,
  tags: Outcome<Readonly<Record<string, string>> | undefined>,
): Line {
  const byHand =
    what === "cluster" ? `aws eks describe-cluster --name ${name}` : `aws iam get-role --role-name ${name}`;
  if ("failure" in tags) return unknown(`${key}: the ${what} ${name} is not checked (${tags.failure})`, byHand);
  if (tags.value === undefined) return ok(`${key}: no ${what} has the name ${name} yet`);
  return tags.value["managed-by"] === "pulumi" && tags.value.stack === stack
    ? ok(`${key}: the ${what} ${name} is this stack's`)
    : wrong(
        `${key}: the ${what} ${name} exists and belongs to ${tags.value.stack === undefined ? "something else" : `the stack ${tags.value.stack}`}`,
        `write another lakehead:${key}`,
      );
}

/** The keys that name IAM principals, with each principal once. */
export function configuredPrincipals(config: AwsConfig): readonly (Principal & { readonly key: string })[] {
  const { deployerArn, viewerArns, auditorArns, client } = config;
  const named = { deployerArn: [deployerArn], viewerArns, auditorArns, "client.principals": client.principals };
  return Object.entries(named).flatMap(([key, arns]) => arns.map((arn) => ({ key, ...parsePrincipal(arn) })));
}

/** @param found the ARN that IAM has under the principal's name; undefined when there is none */
export function checkPrincipal(
  { key, arn, account, kind, name }: ReturnType<typeof configuredPrincipals>[number],
  caller: Outcome<Caller>,
  found: Outcome<string | undefined>,
): Line {
  const byHand = `aws iam get-${kind} --${kind}-name ${name}`;
  if ("value" in caller && caller.value.account !== account)
    return unknown(`${key}: ${arn} is not checked, it is in account ${account}`, `in that account: ${byHand}`);
  if ("failure" in found) return unknown(`${key}: ${arn} is not checked (${found.failure})`, byHand);
  if (found.value === undefined)
    return wrong(`${key}: the ${kind} ${arn} does not exist`, `create it, or remove it from lakehead:${key}`);
  return found.value === arn
    ? ok(`${key}: ${arn} exists`)
    : wrong(`${key}: the ${kind} ${name} has another path than in ${arn}`, `write ${found.value}`);
}

interface VcpuQuota {
  readonly code: string;
  readonly name: string;
}

/**
 * Quota of EC2 vCPUs by family and purchase option. Source: "Amazon EC2 endpoints and quotas" of the AWS General Reference.
 * Undefined for a family that no example uses and whose quota is not listed here.
 */
export function vcpuQuota(instanceType: string, spot: boolean): VcpuQuota | undefined {
  const family = /^(p5|p|g|vt|[acdhimrtz])\d*[a-z0-9-]*\./.exec(instanceType)?.[1];
  if (family === undefined || /^(inf|trn|mac|dl|hpc)\d/.test(instanceType)) return undefined;
  if (family === "g" || family === "vt")
    return spot
      ? { code: "L-3819A6DF", name: "All G and VT Spot Instance Requests" }
      : { code: "L-DB2E81BA", name: "Running On-Demand G and VT instances" };
  if (family === "p5" && spot) return { code: "L-C4BD4855", name: "All P5 Spot Instance Requests" };
  if (family === "p5" || family === "p")
    return spot
      ? { code: "L-7212CCBC", name: "All P4, P3 and P2 Spot Instance Requests" }
      : { code: "L-417A185B", name: "Running On-Demand P instances" };
  return spot
    ? { code: "L-34B43A08", name: "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests" }
    : { code: "L-1216C47A", name: "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances" };
}

export interface QuotaDemand extends VcpuQuota {
  readonly vcpus: number;
  /** Such as `cpu 4 × 16`. */
  readonly terms: readonly string[];
}

/** vCPUs of each quota with every pool at its maximum, and the pools whose quota or size is unknown. */
export function quotaDemands({ pools }: ClusterModel): {
  readonly demands: readonly QuotaDemand[];
  readonly unknownPools: readonly Pool[];
} {
  const demands = new Map<string, QuotaDemand>();
  const unknownPools: Pool[] = [];
  for (const pool of pools) {
    // All machine types of a pool have one size. Its quota is that of the first.
    const [machine] = pool.machines;
    const quota = machine === undefined ? undefined : vcpuQuota(machine.name, pool.spot);
    if (machine === undefined || quota === undefined) {
      unknownPools.push(pool);
      continue;
    }
    const before = demands.get(quota.code) ?? { ...quota, vcpus: 0, terms: [] };
    demands.set(quota.code, {
      ...before,
      vcpus: before.vcpus + pool.max * machine.cpus,
      terms: [...before.terms, `${pool.key} ${pool.max} × ${machine.cpus}`],
    });
  }
  return { demands: [...demands.values()], unknownPools };
}

export function checkQuota(region: string, demand: QuotaDemand, limit: Outcome<number>): Line {
  const { code, name, vcpus, terms } = demand;
  const need = `the pools' maximum is ${vcpus} (${terms.join(", ")})`;
  const command = `--region ${region} --service-code ec2 --quota-code ${code}`;
  if ("failure" in limit)
    return unknown(
      `quota "${name}": not checked (${limit.failure}); ${need}`,
      `aws service-quotas get-service-quota ${command}`,
    );
  const text = `quota "${name}" in ${region}: ${limit.value} vCPUs, ${need}`;
  return limit.value >= vcpus
    ? ok(text)
    : wrong(
        text,
        `lower nodes.*.max, or aws service-quotas request-service-quota-increase ${command} --desired-value ${vcpus}`,
      );
}

export const checkUnknownPool = ({ key, machineKey, machineNames }: Pool): Line =>
  unknown(
    `quota of the pool ${key}: the size or the quota of ${machineNames.join(", ")} is not known to this project`,
    `compare ${machineKey} with the quotas of EC2 in the console of Service Quotas`,
  );

/** @param offered the zones that offer each of the pool's instance types */
export function checkOfferings(
  pool: Pool,
  zones: readonly string[],
  offered: Outcome<ReadonlyMap<string, ReadonlySet<string>>>,
): Line {
  const { key, machineKey, machineNames } = pool;
  if ("failure" in offered)
    return unknown(
      `instance types of the pool ${key}: not checked (${offered.failure})`,
      `aws ec2 describe-instance-type-offerings --location-type availability-zone --filters Name=instance-type,Values=${machineNames.join(",")}`,
    );
  const missing = machineNames.filter((name) => !zones.some((zone) => offered.value.get(name)?.has(zone)));
  const lacking = zones.filter((zone) => !machineNames.some((name) => offered.value.get(name)?.has(zone)));
  if (missing.length > 0)
    return wrong(
      `instance types of the pool ${key}: ${zones.join(", ")} do not offer ${missing.join(", ")}`,
      `write other types in lakehead:${machineKey}, or other zones`,
    );
  return lacking.length > 0
    ? wrong(
        `instance types of the pool ${key}: ${lacking.join(", ")} offers none of ${machineNames.join(", ")}`,
        `leave the zone out in lakehead:nodes.${key}.zones, or write other types in lakehead:${machineKey}`,
      )
    : ok(`instance types of the pool ${key}: ${zones.join(", ")} offer ${machineNames.join(", ")}`);
}

export interface Certificate {
  /** As ACM names it, such as ISSUED. */
  readonly status: string;
  readonly domains: readonly string[];
}

/** Whether a domain of a certificate matches the host; a wildcard matches one label (RFC 6125). */
export const covers = (domain: string, host: string): boolean =>
  domain === host || (domain.startsWith("*.") && host.slice(host.indexOf(".")) === domain.slice(1));

/** @param found the certificate; undefined when ACM has none of that ARN */
export function checkCertificate(
  { region, account }: Pick<AwsConfig, "region" | "account">,
  { arn, host }: { readonly arn: string; readonly host: string },
  found: Outcome<Certificate | undefined>,
): Line {
  const [, , , certificateRegion = "", certificateAccount = ""] = arn.split(":");
  if (certificateRegion !== region)
    return wrong(
      `certificate: ${arn} is in ${certificateRegion}, the load balancer in ${region}`,
      `request a certificate for ${host} in ${region}: a load balancer uses those of its own region`,
    );
  if (certificateAccount !== account)
    return wrong(
      `certificate: ${arn} is in account ${certificateAccount}, the stack's account is ${account}`,
      `request a certificate for ${host} in account ${account}`,
    );
  if ("failure" in found)
    return unknown(
      `certificate: not checked (${found.failure})`,
      `aws acm describe-certificate --region ${region} --certificate-arn ${arn}`,
    );
  if (found.value === undefined)
    return wrong(`certificate: ${arn} does not exist`, `request one for ${host} in ${region}`);
  const { status, domains } = found.value;
  if (status !== "ISSUED")
    return wrong(
      `certificate: ${arn} has status ${status}`,
      status === "PENDING_VALIDATION"
        ? "create the CNAME record that aws acm describe-certificate prints, and wait for ISSUED"
        : `request a new certificate for ${host} in ${region}`,
    );
  return domains.some((domain) => covers(domain, host))
    ? ok(`certificate: issued in ${region} for ${domains.join(", ")}`)
    : wrong(`certificate: it is for ${domains.join(", ")}, not for ${host}`, `request one for ${host} in ${region}`);
}

/** Route 53's client is a package that this project does not have. */
export const uncheckedZone = (id: string): Line =>
  unknown(`zone ${id}: this command does not read it`, `aws route53 get-hosted-zone --id ${id}`);

/** Region, account, repository and reference of an image in ECR; undefined for any other registry. */
export function parseEcrImage(image: string) {
  const groups =
    /^(?<account>\d{12})\.dkr\.ecr\.(?<region>[a-z0-9-]+)\.amazonaws\.(?:com(?:\.cn)?|eu)\/(?<repository>[^:@]+)(?::(?<tag>[^@]+))?(?:@(?<digest>.+))?$/.exec(
      image,
    )?.groups;
  if (groups === undefined) return undefined;
  const { account = "", region = "", repository = "", tag, digest } = groups;
  return {
    account,
    region,
    repository,
    ...(digest === undefined ? { imageTag: tag ?? "latest" } : { imageDigest: digest }),
  };
}
