/** What the program of `bootstrap/` decides, without a run of it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  deployerPolicies,
  deployerPolicy,
  readerPolicy,
  statePolicy,
  trust,
} from "../../../bootstrap/aws-permissions.ts";
import { type BootstrapConfig, bootstrapDefinition } from "../../../bootstrap/config.ts";
import { bearer, tokenCondition } from "../../../bootstrap/gcp-permissions.ts";
import { commandsOf, environmentsOf, type SetUp, subjectOf } from "../../../bootstrap/github.ts";
import { parseConfig } from "../../../infra/config/parse.ts";
import { root } from "../../support/infra/stacks.ts";

const aws = {
  cloud: "aws",
  region: "eu-central-1",
  account: "210987654321",
  bucket: { name: "lakehead-state" },
  github: { repository: "acme/lakehead" },
  stacks: ["aws-dev"],
};
const gcp = {
  cloud: "gcp",
  project: "acme-lakehead",
  region: "europe-west4",
  bucket: { name: "lakehead-state" },
  github: { repository: "acme/lakehead" },
  stacks: ["gcp-dev"],
};

const parse = (raw: object): BootstrapConfig => parseConfig(bootstrapDefinition, raw).config;

describe("a configuration", () => {
  test.each([aws, gcp])("is accepted with its required keys: $cloud", (raw) => {
    expect(parse(raw)).toMatchObject({ ...raw, deployers: [] });
  });

  test.each([
    [
      "region",
      { ...aws, region: "eu-central-9" },
      /lakehead-bootstrap:region = "eu-central-9": the cloud has no such region/,
    ],
    [
      "region",
      { ...gcp, region: "eu-central-1" },
      /lakehead-bootstrap:region = "eu-central-1": the cloud has no such region/,
    ],
    [
      "bucket.name",
      { ...aws, bucket: { name: "xn--state" } },
      /lakehead-bootstrap:bucket\.name = "xn--state": the cloud reserves/,
    ],
    [
      "bucket.name",
      { ...gcp, bucket: { name: "google-state" } },
      /lakehead-bootstrap:bucket\.name = "google-state": the cloud reserves/,
    ],
    ["account", { ...aws, account: "21098765432" }, /lakehead-bootstrap:account = .* expected the twelve digits/],
    ["project", { ...gcp, project: "1234567890" }, /lakehead-bootstrap:project = .* not its number or name/],
    [
      "github.repository",
      { ...aws, github: { repository: "lakehead" } },
      /github\.repository = "lakehead": .*<owner>\/<repository>/,
    ],
    [
      "github.repositoryId",
      { ...aws, github: { repository: "acme/lakehead", ownerId: 7 } },
      /github\.repositoryId is missing: .*write both, or neither/,
    ],
    [
      "github.ownerId",
      { ...gcp, github: { repository: "acme/lakehead", repositoryId: 7 } },
      /github\.ownerId is missing/,
    ],
    [
      "github.createProvider",
      { ...gcp, github: { repository: "acme/lakehead", createProvider: true } },
      /github\.createProvider = true: the key does not exist; .*docs\/bootstrap\.md/,
    ],
    ["stacks", { ...aws, stacks: [] }, /lakehead-bootstrap:stacks = \[\]: .*at least one stack/],
    ["stacks", { ...aws, stacks: ["dev"] }, /stacks\.0 = "dev": .*its first part names the cloud/],
    ["stacks", { ...aws, stacks: ["gcp-dev"] }, /stacks\.0 = "gcp-dev": .*such as aws-dev/],
    [
      "stacks",
      { ...aws, stacks: ["aws-dev", "aws-dev-preview"] },
      /environment aws-dev-preview would belong to two stacks/,
    ],
    [
      "stacks",
      { ...gcp, stacks: ["gcp-a-long-name-of-a-stack"] },
      /identity lakehead-gcp-a-long-name-of-a-stack is longer than 30/,
    ],
    [
      "stacks",
      { ...gcp, github: { repository: `acme/${"lakehead-".repeat(12)}` } },
      /the subject of its tokens, .* is longer than 127/,
    ],
    [
      "deployers",
      { ...aws, deployers: ["arn:aws-cn:iam::210987654321:role/a"] },
      /deployers = .*write an ARN that begins with arn:aws:/,
    ],
    ["deployers", { ...gcp, deployers: ["someone@acme.test"] }, /deployers\.0 = .*an IAM member/],
    ["cloud", { ...aws, cloud: "azure" }, /lakehead-bootstrap:cloud = "azure": .*one of aws, gcp/],
  ])("is refused by the key %s", (_key, raw, message) => {
    expect(() => parse(raw)).toThrow(message);
  });
});

describe("the subject of a job's token", () => {
  test("has names alone for an older repository", () =>
    expect(subjectOf({ repository: "octocat/my-repo" }, "aws-dev")).toBe("repo:octocat/my-repo:environment:aws-dev"));

  test("has the numbers of owner and repository where they are immutable", () =>
    expect(subjectOf({ repository: "octocat/my-repo", ownerId: 123456, repositoryId: 456789 }, "aws-dev")).toBe(
      "repo:octocat@123456/my-repo@456789:environment:aws-dev",
    ));
});

const environments = environmentsOf(["aws-dev", "aws-prod"], { repository: "acme/lakehead" });
const account = { partition: "aws", region: "eu-central-1", account: "210987654321" };

describe("on AWS", () => {
  test("each role trusts one environment and audience, by equality", () => {
    expect(environments.map(({ name }) => name)).toEqual([
      ...["aws-dev", "aws-dev-preview", "aws-dev-drift"],
      ...["aws-prod", "aws-prod-preview", "aws-prod-drift"],
    ]);
    for (const environment of environments) {
      const [statement, ...others] = trust("arn:provider", environment, []).Statement;
      expect(others).toEqual([]);
      expect(statement?.Condition).toEqual({
        StringEquals: {
          "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
          "token.actions.githubusercontent.com:sub": `repo:acme/lakehead:environment:${environment.name}`,
          ...Object.fromEntries(
            Object.entries(environment.claims).map(([claim, value]) => [
              `token.actions.githubusercontent.com:${claim}`,
              value,
            ]),
          ),
        },
      });
    }
  });

  test("deployments and the drift check are jobs of main's own workflows, and every job is of the repository's number", () => {
    const numbered = environmentsOf(["aws-dev"], { repository: "acme/lakehead", ownerId: 1, repositoryId: 2 });
    const file = (name: string) => `acme/lakehead/.github/workflows/${name}@refs/heads/main`;
    const main = { repository_id: "2", ref: "refs/heads/main" };
    expect(Object.fromEntries(numbered.map(({ name, claims }) => [name, claims]))).toEqual({
      "aws-dev": { ...main, job_workflow_ref: [file("up.yml")] },
      "aws-dev-preview": { repository_id: "2" },
      "aws-dev-drift": { ...main, job_workflow_ref: [file("up.yml"), file("drift.yml")] },
    });
    // The workflows that these names mean have an environment.
    for (const name of ["up.yml", "drift.yml"])
      expect(readFileSync(join(root, ".github/workflows", name), "utf8")).toMatch(/^ {4}environment: .*stack/m);
  });

  test.each([
    ["aws", "eu-central-1", "ec2.amazonaws.com"],
    ["aws-us-gov", "us-gov-west-1", "ec2.amazonaws.com"],
    ["aws-cn", "cn-north-1", "ec2.amazonaws.com.cn"],
  ])("the deployer passes roles to the services of its partition: %s", (partition, region, ec2) => {
    const { Condition } =
      deployerPolicy({ ...account, partition, region }).Statement.find(({ Sid }) => Sid === "PassRoles") ?? {};
    expect(Condition?.StringEquals?.["iam:PassedToService"]).toEqual([
      "eks.amazonaws.com",
      ec2,
      "vpc-flow-logs.amazonaws.com",
      "s3.amazonaws.com",
    ]);
  });

  test("only reads for previews and drift: no object, no secret", () => {
    const actions = readerPolicy(account, false).Statement.flatMap(({ Action }) => Action);
    const refreshing = readerPolicy(account, true).Statement.flatMap(({ Action }) => Action);
    expect(refreshing.filter((action) => !actions.includes(action))).toEqual(["s3:ListBucket"]);
    expect(actions.length).toBeGreaterThan(50);
    expect(actions.filter((action) => !/:(Describe|Get|List|View|BatchGet|BatchCheck)/.test(action))).toEqual([]);
    expect(actions.filter((action) => /s3:(GetObject|List)|SecretValue|kms:Decrypt|ssm:/.test(action))).toEqual([
      // Of AWS's own, public parameters.
      "ssm:GetParameter",
      "s3:ListTagsForResource",
    ]);
    const { Resource } = readerPolicy(account, false).Statement.find(({ Sid }) => Sid === "MachineImages") ?? {};
    expect(Resource).toEqual(["arn:aws:ssm:eu-central-1:*:parameter/aws/service/eks/optimized-ami/*"]);
  });

  test("keeps the states of two stacks apart", () => {
    const resources = (stack: string) =>
      statePolicy(account, { bucket: "state", stack, keyArn: `arn:key-of-${stack}` }, true)
        .Statement.slice(1)
        .flatMap(({ Resource = [] }) => Resource);
    expect(resources("aws-dev")).toEqual(["arn:aws:s3:::state/aws-dev/*", "arn:key-of-aws-dev"]);
    expect(resources("aws-prod")).toEqual(["arn:aws:s3:::state/aws-prod/*", "arn:key-of-aws-prod"]);
  });

  test("lets the deployer ask all that preflight asks, by its page", () => {
    const page = readFileSync(new URL("../../../docs/preflight.md", import.meta.url), "utf8");
    const asked = [...(page.split("\n## Permissions\n")[1] ?? "").matchAll(/`(\w+:[A-Z]\w+)`/g)].map(
      ([, name = ""]) => name,
    );
    const granted = new Set(deployerPolicy(account).Statement.flatMap(({ Action }) => Action));
    // The caller's identity is no permission, and of EC2 the page names what is described.
    const open = asked.filter(
      (name) => !granted.has(name) && !["sts:GetCallerIdentity", "ec2:Describe"].includes(name),
    );
    expect(asked.length).toBeGreaterThan(10);
    expect(open).toEqual([]);
    const described = ["Addresses", "Instances", "InstanceTypeOfferings", "NatGateways", "RouteTables", "Subnets"];
    for (const what of [...described, "VpcAttribute", "VpcEndpoints", "Vpcs"])
      expect(granted, what).toContain(`ec2:Describe${what}`);
  });

  test("has inline policies within a role's 10,240 characters", () => {
    const state = statePolicy(account, { bucket: "b".repeat(63), stack: "s".repeat(50), keyArn: "k".repeat(90) }, true);
    const length = [readerPolicy(account, true), state].reduce((sum, one) => sum + JSON.stringify(one).length, 0);
    expect(length).toBeLessThanOrEqual(10_240);
  });

  test("has managed policies of the deployer within IAM's 6,144 characters and ten of a role, with all statements", () => {
    const parts = deployerPolicies({ ...account, region: "ap-northeast-1" });
    for (const part of parts) expect(JSON.stringify(part).length).toBeLessThanOrEqual(6144);
    expect(parts.length).toBeLessThanOrEqual(10);
    const sids = ({ Statement }: ReturnType<typeof deployerPolicy>) => Statement.map(({ Sid }) => Sid);
    expect(parts.flatMap(sids)).toEqual(sids(deployerPolicy(account)));
  });
});

describe("on Google Cloud", () => {
  const ofGoogle = environmentsOf(["gcp-dev"], { repository: "acme/lakehead" });

  test("the identity provider takes tokens of the environments only, and of deployments and drift only from main", () =>
    expect(tokenCondition(ofGoogle)).toBe(
      "assertion.sub in ['repo:acme/lakehead:environment:gcp-dev-preview'] || (assertion.ref == 'refs/heads/main' && " +
        "assertion.sub in ['repo:acme/lakehead:environment:gcp-dev', 'repo:acme/lakehead:environment:gcp-dev-drift'])",
    ));

  test("a service account is for one subject", () =>
    expect(bearer("projects/7/locations/global/workloadIdentityPools/p", { subject: "repo:a/b:environment:c" })).toBe(
      "principal://iam.googleapis.com/projects/7/locations/global/workloadIdentityPools/p/subject/repo:a/b:environment:c",
    ));
});

describe("the commands", () => {
  const setUp: SetUp = {
    bootstrap: { stack: "aws", backend: "s3://state/bootstrap?region=eu-central-1" },
    repository: { repository: "acme/lakehead" },
    environments,
    variables: { "aws-dev": { AWS_REGION: "eu-central-1" }, "aws-dev-preview": { AWS_REGION: "it's" } },
    stacks: { "aws-dev": { backend: "s3://state/aws-dev?region=eu-central-1", secretsProvider: "awskms:///arn" } },
  };
  const lines = commandsOf(setUp).split("\n");

  test("move the program's own state while its stack is found, then log in to each state and create the stack with its key", () =>
    expect(lines.filter((line) => line.startsWith("npx pulumi"))).toEqual([
      "npx pulumi -C bootstrap stack export --stack aws --file bootstrap.json",
      "npx pulumi login 's3://state/bootstrap?region=eu-central-1'",
      "npx pulumi -C bootstrap stack select aws --create",
      "npx pulumi -C bootstrap stack import --stack aws --file bootstrap.json",
      "npx pulumi login 's3://state/aws-dev?region=eu-central-1'",
      "npx pulumi stack select aws-dev --create --secrets-provider 'awskms:///arn'",
    ]));

  test("quote the values for a shell", () =>
    expect(lines).toContain("gh variable set AWS_REGION --repo acme/lakehead --env aws-dev-preview --body 'it'\\''s'"));

  test("limit every environment but that of previews to main", () => {
    const limited = lines.flatMap((line) => /environments\/(\S+)\/deployment-branch-policies/.exec(line)?.[1] ?? []);
    expect(limited).toEqual(["aws-dev", "aws-dev-drift", "aws-prod", "aws-prod-drift"]);
  });
});

test("names the environments as the workflows do", () => {
  const folder = join(root, ".github/workflows");
  const used = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/^ +environment: \$\{\{ \w+\.stack \}\}(.*)$/gm)].map(
      ([, suffix]) => suffix,
    ),
  );
  expect(new Set(used)).toEqual(new Set(environmentsOf(["x"], { repository: "a/b" }).map(({ name }) => name.slice(1))));
});
