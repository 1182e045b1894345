/** Finds out on AWS what a stack's file must say. It only reads. */

import { DescribeAvailabilityZonesCommand, EC2Client } from "@aws-sdk/client-ec2";
import { GetRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { STSClient } from "@aws-sdk/client-sts";
import { attempt, type Line, ok, unknown, wrong } from "../../check-line.ts";
import { clusterModel } from "../schema.ts";
import { type Answers, bootstrapFields, type CloudSetup, listOf, tokenFields, tokenKeys } from "../setup.ts";
import { partitionOf } from "./identity/arn.ts";
import { assumedRole } from "./preflight/checks.ts";
import { settings } from "./preflight/client.ts";
import { ownTags } from "./preflight/names.ts";
import { readCaller } from "./preflight/preflight.ts";
import { quotaLines } from "./preflight/usage.ts";

/** STS prints an assumed role without its path, which IAM refuses in a policy. */
async function principalOf(region: string, arn: string): Promise<string | undefined> {
  const role = assumedRole(arn);
  if (role === undefined) return arn.endsWith(":root") ? undefined : arn;
  const found = await attempt(async () => {
    const { Role } = await new IAMClient(settings(region)).send(new GetRoleCommand({ RoleName: role }));
    return Role?.Arn;
  });
  return "value" in found ? found.value : undefined;
}

/** AWS's own service for this. */
const readAddress = () =>
  attempt(async () => {
    const response = await fetch("https://checkip.amazonaws.com/", { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.text()).trim();
  });

const lineOf = (what: string, outcome: { value: string } | { failure: string }, remedy: string): Line =>
  "value" in outcome ? ok(`${what}: ${outcome.value}`) : unknown(`${what}: ${outcome.failure}`, remedy);

async function look(stack: string, { region = "" }: Answers) {
  const caller = await readCaller(region);
  const account = "value" in caller ? caller.value.account : undefined;
  const [principal, zones, address] = await Promise.all([
    "value" in caller ? principalOf(region, caller.value.arn) : undefined,
    attempt(async () => {
      const command = new DescribeAvailabilityZonesCommand({
        Filters: [{ Name: "zone-type", Values: ["availability-zone"] }],
      });
      const { AvailabilityZones = [] } = await new EC2Client(settings(region)).send(command);
      const letters = AvailabilityZones.map(({ ZoneName = "" }) => ZoneName.slice(region.length)).sort();
      if (letters.length < 2) throw new Error(`${region} has ${letters.length} zones for this account`);
      return letters.slice(0, 2).join(",");
    }),
    readAddress(),
  ]);
  const lines = [
    "value" in caller
      ? ok(`caller: ${caller.value.arn} in account ${caller.value.account}`)
      : wrong(`caller: ${caller.failure}`, "set AWS_PROFILE, or run aws sso login"),
    lineOf("zones", zones, "--zones a,b"),
    lineOf("public address", address, "--cidrs <address>/32"),
  ];
  const found = {
    ...(account === undefined
      ? {}
      : {
          account,
          bucket: `lakehead-${account}-${stack}`,
          "state-bucket": `lakehead-${account}-state`,
          deployer: `arn:${partitionOf(region)}:iam::${account}:role/lakehead-${stack}`,
        }),
    ...(principal === undefined ? {} : { principals: principal }),
    ...("value" in zones ? { zones: zones.value } : {}),
    ...("value" in address ? { cidrs: `${address.value}/32` } : {}),
  };
  return { lines, found };
}

/** The role that `bootstrap/` makes for a stack has two others beside it. */
const besides = (deployer: string, stack: string, purpose: string): string[] =>
  deployer.endsWith(`:role/lakehead-${stack}`) ? [`${deployer}-${purpose}`] : [];

export const awsSetup: CloudSetup = {
  place: [{ option: "region", question: "Region", key: "region", asked: true }],
  fields: [
    { option: "account", question: "AWS account id", key: "account", asked: false },
    { option: "zones", question: "Letters of the zones", key: "network.zones", asked: false },
    { option: "cidrs", question: "Networks that you deploy and work from", key: "endpoint.publicCidrs", asked: false },
    { option: "bucket", question: "Bucket for the tables", key: "bucket.name", asked: true },
    {
      option: "principals",
      question: "IAM roles and users that deploy first, and that use Geneva's client",
      key: "client.principals",
      asked: true,
    },
    { option: "deployer", question: "Role that runs pulumi up", key: "deployerArn", asked: false },
    ...tokenFields,
    ...bootstrapFields,
  ],
  here: async () => {
    const region = await attempt(() => new STSClient({}).config.region());
    return "value" in region ? { region: region.value } : {};
  },
  look,
  stackKeys: (stack, answers) => {
    const { region, account, zones = "", cidrs = "", bucket, principals = "", deployer = "" } = answers;
    return {
      region,
      account,
      deployerArn: deployer,
      viewerArns: besides(deployer, stack, "preview"),
      auditorArns: besides(deployer, stack, "drift"),
      "endpoint.publicCidrs": listOf(cidrs),
      "network.zones": listOf(zones),
      "bucket.name": bucket,
      "client.principals": listOf(principals),
      ...tokenKeys(answers),
    };
  },
  bootstrapKeys: (stack, answers) =>
    answers.deployer?.endsWith(`:role/lakehead-${stack}`) === true
      ? {
          region: answers.region,
          account: answers.account,
          "bucket.name": answers["state-bucket"],
          deployers: listOf(answers.principals ?? ""),
        }
      : undefined,
  quotas: async (config, stack) =>
    config.cloud === "aws" ? quotaLines(config, clusterModel(config), ownTags(config, stack)) : [],
};
