/** The resource graph of `bootstrap/`'s program, recorded as the offline plan does. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readerPermissions } from "../../../bootstrap/gcp-permissions.ts";
import type { Variables } from "../../../bootstrap/github.ts";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { readProject, stackNames } from "../../../infra/offline-plan/project.ts";
import { mask } from "../../../infra/offline-plan/values.ts";
import { root, runBootstrap } from "../../support/infra/stacks.ts";
import { textFaults } from "../program/checks/texts.ts";

const workflows = [".github/workflows", ".github/actions/stack"]
  .flatMap((folder) => readdirSync(join(root, folder)).map((file) => readFileSync(join(root, folder, file), "utf8")))
  .join("\n");
/** The variables of an environment that the workflows read; STACKS and RUNNERS belong to the repository. */
const read = [...new Set([...workflows.matchAll(/\bvars\.([A-Z_]+)/g)].map(([, name = ""]) => name))].filter(
  (name) => !["STACKS", "RUNNERS"].includes(name),
);

const outputsOf = ({ resources }: Capture) =>
  mask(resources.find(({ kind }) => kind === "stack")?.outputs ?? {}) as {
    environments: Readonly<Record<string, Variables>>;
    stackKeys: Readonly<Record<string, unknown>>;
    commands: string;
  };

test("has an example of each cloud", () => expect(stackNames(join(root, "bootstrap"))).toEqual(["aws", "gcp"]));

test("is a project of its own, so that its state is not that of the stacks", () =>
  expect(readProject(join(root, "bootstrap")).name).not.toBe(readProject(root).name));

test("refuses a configuration before the first resource, with every key named", async () => {
  const { failure, resources } = await runBootstrap("aws", "preview", {
    "lakehead-bootstrap:region": "eu-central-9",
    "lakehead-bootstrap:stacks": ["dev"],
    "aws:region": "eu-central-1",
  });
  expect(resources.filter(({ kind }) => kind !== "stack")).toEqual([]);
  expect(failure).toMatch(/^The stack's configuration has 3 errors:/);
  expect(failure).toContain(
    'aws:region = "eu-central-1": the stack\'s aws provider does not read this key; write lakehead-bootstrap:region',
  );
  expect(failure).toContain('lakehead-bootstrap:stacks.0 = "dev"');
  expect(failure).toContain('lakehead-bootstrap:region = "eu-central-9"');
});

describe.each(["aws", "gcp"] as const)("on %s", (cloud) => {
  let update: Capture;
  let preview: Capture;
  beforeAll(async () => {
    [preview, update] = await Promise.all([runBootstrap(cloud, "preview"), runBootstrap(cloud, "update")]);
  });

  test("has the same resources in a preview as in an update, all of the explicit provider", () => {
    for (const { failure } of [preview, update]) expect(failure).toBeUndefined();
    const urns = ({ resources }: Capture) => resources.map(({ urn }) => urn);
    expect(urns(preview)).toEqual(urns(update));
    expect(update.resources.length).toBeGreaterThan(20);
    const defaulted = update.resources.filter(
      ({ kind, type, provider }) => kind === "custom" && !type.startsWith("pulumi:") && provider === undefined,
    );
    expect(defaulted).toEqual([]);
  });

  test("has texts that the cloud accepts", () => expect(textFaults(update).findings).toEqual([]));

  test("protects the state and the keys that decrypt it", () => {
    const kept = update.resources.filter(({ type }) => /:(Bucket|Key|CryptoKey)$/.test(type));
    expect(kept.length).toBeGreaterThan(1);
    expect(kept.filter(({ protect }) => !protect)).toEqual([]);
  });

  test("gives each environment the variables that the workflows read, and no others", () => {
    const { environments } = outputsOf(update);
    const expected = read.filter((name) => !name.startsWith(cloud === "aws" ? "GOOGLE" : "AWS")).sort();
    expect(expected).toContain("PULUMI_BACKEND_URL");
    expect(Object.keys(environments).length).toBeGreaterThanOrEqual(3);
    for (const variables of Object.values(environments)) {
      expect(Object.keys(variables).sort()).toEqual(expected);
      expect(Object.values(variables).filter((value) => value === "")).toEqual([]);
    }
  });

  test("prints commands with each variable", () => {
    const { environments, commands } = outputsOf(update);
    for (const [name, variables] of Object.entries(environments))
      for (const [variable, value] of Object.entries(variables))
        expect(commands).toContain(
          `gh variable set ${variable} --repo example-lakehead/lakehead --env ${name} --body '${value}'`,
        );
  });
});

test("names the roles in the stack's keys on AWS", async () => {
  const { stackKeys } = outputsOf(await runBootstrap("aws", "update"));
  const role = (name: string) => `arn:aws:iam::123456789012:role/lakehead-${name}`;
  expect(stackKeys["aws-prod"]).toEqual({
    deployerArn: role("aws-prod"),
    viewerArns: [role("aws-prod-preview")],
    auditorArns: [role("aws-prod-drift")],
  });
});

test("uses an existing identity provider of GitHub on AWS", async () => {
  const { resources } = await runBootstrap("aws", "update", {
    "lakehead-bootstrap:github": { repository: "acme/lakehead", createProvider: false },
  });
  expect(resources.filter(({ type }) => type.includes("OpenIdConnectProvider"))).toEqual([]);
  const [role] = resources.filter(({ type }) => type === "aws:iam/role:Role");
  expect(role?.inputs.assumeRolePolicy).toContain(
    '"Federated":"arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"',
  );
});

test("gives every role and policy on AWS the path and the boundary that an organization demands", async () => {
  const permissionsBoundary = "arn:aws:iam::111122223333:policy/boundary";
  const { resources } = await runBootstrap("aws", "update", {
    "lakehead-bootstrap:iam": { path: "/team/", permissionsBoundaryArn: permissionsBoundary },
  });
  const { stackKeys } = outputsOf({ resources } as Capture);
  const of = (type: string) => resources.filter((one) => one.type === type).map(({ inputs }) => inputs);
  expect(of("aws:iam/role:Role")).toHaveLength(6);
  for (const role of of("aws:iam/role:Role")) expect(role).toMatchObject({ path: "/team/", permissionsBoundary });
  expect(of("aws:iam/policy:Policy").length).toBeGreaterThan(1);
  for (const policy of of("aws:iam/policy:Policy")) expect(policy).toMatchObject({ path: "/team/" });
  expect(stackKeys["aws-dev"]).toMatchObject({ deployerArn: expect.stringContaining(":role/team/lakehead-aws-dev") });
});

test("lets a refresh read each type of resource of a stack on Google Cloud", () => {
  const golden = readFileSync(join(root, "test/infra/golden/gcp-prod.yaml"), "utf8");
  const types = new Set([...golden.matchAll(/\bgcp:[\w-]+\/\w+:\w+/g)].map(([type]) => type));
  expect(types.size).toBeGreaterThan(10);
  // compute.viewer, container.viewer and artifactregistry.reader; Google's own accounts are not read.
  const byRole = /^gcp:(compute|container|artifactregistry)\/|ServiceIdentity$/;
  expect([...types].filter((type) => !byRole.test(type) && !(type in readerPermissions))).toEqual([]);
});
