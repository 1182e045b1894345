import { z } from "zod";
import { partitionOf } from "../infra/clouds/aws/identity/arn.ts";
import { awsRegions } from "../infra/clouds/aws/regions.ts";
import { governance } from "../infra/clouds/aws/schema.ts";
import { reservedBucketNames as reservedOnAws } from "../infra/clouds/aws/storage/checks.ts";
import { reservedBucketNames as reservedOnGoogle } from "../infra/clouds/gcp/checks.ts";
import { gcpRegions } from "../infra/clouds/gcp/regions.ts";
import { checkBucketName } from "../infra/config/checks/bucket-name.ts";
import { checkRegion } from "../infra/config/checks/regions.ts";
import type { StackDefinition } from "../infra/config/parse.ts";
import { errorIf, type Finding } from "../infra/config/report.ts";
import { environmentsOf } from "./github.ts";

const number = z.number({ error: "the number that `gh api` prints" }).int().positive();

const github = z
  .strictObject({
    repository: z
      .string({ error: "<owner>/<repository>" })
      .regex(/^[A-Za-z0-9-]+\/[\w.-]+$/, { error: "<owner>/<repository> on github.com" })
      .describe("Repository whose workflows act as the identities"),
    ownerId: number.optional().describe("Number of the owner, in tokens with an immutable subject"),
    repositoryId: number.optional().describe("Number of the repository, in tokens with an immutable subject"),
  })
  .describe("The repository on GitHub");

const bucket = z
  .strictObject({
    name: z
      .string({ error: "the bucket's name, unique in the whole cloud" })
      .regex(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/, { error: "3 to 63 lower-case letters, digits and inner hyphens" })
      .describe("Name of the bucket"),
  })
  .describe("The bucket of the stacks' states");

/** The workflows find the cloud of a stack by the first part of its name. */
const stacks = (cloud: string) =>
  z
    .array(
      z.string().regex(new RegExp(`^${cloud}(-[a-z0-9]+)+$`), {
        error: `the name of a stack such as ${cloud}-dev: its first part names the cloud`,
      }),
    )
    .min(1, { error: "at least one stack" })
    .describe("Stacks that get a state, a key and three identities each");

const aws = z.strictObject({
  cloud: z.literal("aws").describe("An AWS account"),
  region: z.string({ error: "an AWS region such as eu-central-1" }).describe("Region of bucket, keys and stacks"),
  account: z
    .string({ error: 'the account\'s id in quotes, such as "111122223333"' })
    .regex(/^\d{12}$/, { error: "the twelve digits of an AWS account id" })
    .describe("AWS account id; credentials of any other account are rejected"),
  bucket,
  github: github.extend({
    createProvider: z
      .boolean()
      .default(true)
      .describe("Create GitHub's identity provider; an account has only one: false uses the existing one"),
  }),
  stacks: stacks("aws"),
  deployers: z
    .array(
      z.string().regex(/^arn:aws[a-z-]*:iam::\d{12}:(role|user)\/[^*]+$/, {
        error: "the full ARN of an IAM role or user, with its path and without wildcards",
      }),
    )
    .default([])
    .describe("IAM roles and users that can act as the deployers, for the first `up`"),
  iam: governance.describe("What an organization demands of the roles; the stacks have `iam` of their own"),
});
export type AwsBootstrap = z.output<typeof aws>;

const gcp = z.strictObject({
  cloud: z.literal("gcp").describe("A Google Cloud project"),
  project: z
    .string({ error: "a Google Cloud project id" })
    .regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, { error: "a Google Cloud project id, not its number or name" })
    .describe("Google Cloud project id"),
  region: z.string({ error: "a Google Cloud region such as europe-west4" }).describe("Region of bucket and keys"),
  bucket,
  github,
  stacks: stacks("gcp"),
  deployers: z
    .array(
      z.string().regex(/^(user|group|serviceAccount|principal|principalSet):\S+$/, {
        error: "an IAM member such as group:platform@example.com",
      }),
    )
    .default([])
    .describe("IAM members that can act as the deployers, for the first `up`"),
});
export type GcpBootstrap = z.output<typeof gcp>;

export const schema = z.discriminatedUnion("cloud", [aws, gcp], { error: "one of aws, gcp" });
export type BootstrapConfig = z.output<typeof schema>;

/** The name of an environment's role or service account. */
export const identityName = (environment: string): string => `lakehead-${environment}`;

/**
 * Maximum lengths of identities' names and, where the cloud has one, of subjects.
 * Sources: docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html;
 * cloud.google.com/iam/docs/workload-identity-federation#mapping, cloud.google.com/iam/docs/service-accounts-create
 */
const limits = {
  aws: { identity: 64, subject: Number.POSITIVE_INFINITY },
  gcp: { identity: 30, subject: 127 },
} as const;

function checkStacks({ cloud, stacks: names, github: repository }: BootstrapConfig): Finding[] {
  const environments = environmentsOf(names, repository);
  const { identity, subject } = limits[cloud];
  const seen = new Set<string>();
  return environments.flatMap(({ name, stack, subject: own }) => [
    ...errorIf(
      seen.size === seen.add(name).size,
      ["stacks", stack],
      `the GitHub environment ${name} would belong to two stacks`,
      "list each stack once, and none that ends in -preview or -drift",
    ),
    ...errorIf(
      identityName(name).length > identity,
      ["stacks", stack],
      `its identity ${identityName(name)} is longer than ${identity} characters`,
      "write a shorter name of the stack",
    ),
    ...errorIf(
      own.length > subject,
      ["stacks", stack],
      `the subject of its tokens, ${own}, is longer than ${subject} characters`,
      "write a shorter name of the stack",
    ),
  ]);
}

function checkNumbers({ github: { ownerId, repositoryId } }: BootstrapConfig): Finding[] {
  const missing = ownerId === undefined ? "github.ownerId" : "github.repositoryId";
  return errorIf(
    (ownerId === undefined) !== (repositoryId === undefined),
    missing,
    "an immutable subject has the numbers of owner and repository",
    "write both, or neither for a subject of names alone",
  );
}

function checkDeployers(config: BootstrapConfig): Finding[] {
  if (config.cloud !== "aws") return [];
  const partition = partitionOf(config.region);
  return config.deployers.flatMap((arn) =>
    errorIf(
      arn.split(":")[1] !== partition,
      ["deployers", arn],
      `${config.region} is in the partition ${partition}`,
      `write an ARN that begins with arn:${partition}:`,
    ),
  );
}

function check(config: BootstrapConfig): Finding[] {
  const isAws = config.cloud === "aws";
  return [
    ...checkRegion(config.region, isAws ? awsRegions : gcpRegions),
    ...checkBucketName(config.bucket.name, isAws ? reservedOnAws : reservedOnGoogle),
    ...checkNumbers(config),
    ...checkStacks(config),
    ...checkDeployers(config),
  ];
}

const valid = {
  bucket: { name: "lakehead-state" },
  github: { repository: "owner/repository" },
};

export const bootstrapDefinition: StackDefinition<BootstrapConfig, never> = {
  namespace: "lakehead-bootstrap",
  page: "docs/bootstrap.md",
  schema,
  secrets: {},
  placeholders: (cloud) =>
    cloud === "gcp"
      ? { ...valid, project: "some-project", region: "europe-west4", stacks: ["gcp-dev"] }
      : { ...valid, account: "000000000000", region: "eu-central-1", stacks: ["aws-dev"] },
  check,
};
