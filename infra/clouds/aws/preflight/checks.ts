/** What AWS must have before the first `up`. Pure: the facts are input. */

import { type Line, type Outcome, ok, unknown, wrong } from "../../../check-line.ts";
import type { Pool } from "../../../model/cluster.ts";
import type { AwsConfig } from "../schema.ts";

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
