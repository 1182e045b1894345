import { beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { everyKey } from "../../support/infra/every-key.ts";
import { exampleStacks, runBootstrap, runStack } from "../../support/infra/stacks.ts";
import { captureOf, resource } from "../support/captures.ts";
import { rules, textFaults } from "./checks/texts.ts";

const longest = `l${"ong-".repeat(9)}est`;
const service = {
  image: "registry.example.com/lakehead:0.2.0",
  auth: { issuer: "https://login.example.com/", audience: "lakehead" },
};
const clouds = exampleStacks.filter((stack) => stack !== "local");

/** The examples, and what they leave out: other networks, every exposure, the caches, and the longest name of a cluster. */
const plans: Readonly<Record<string, () => Promise<Capture>>> = {
  ...Object.fromEntries(clouds.map((stack) => [stack, () => runStack(stack, "update")])),
  ...Object.fromEntries(
    Object.entries(everyKey).map(([name, { stack, overrides }]) => [
      name,
      () => runStack(stack, "update", { ...overrides, "lakehead:clusterName": longest }),
    ]),
  ),
  "bootstrap aws": () => runBootstrap("aws", "update"),
  "bootstrap gcp": () => runBootstrap("gcp", "update"),
  "aws: adopted network, internal": () =>
    runStack(
      "aws-dev",
      "update",
      {
        // The prefix of its cache in ECR limits this one.
        "lakehead:clusterName": longest.slice(0, 19).replace(/-$/, "g"),
        "lakehead:network": {
          mode: "adopt",
          vpcId: "vpc-0a1b",
          cidr: "10.0.0.0/16",
          privateSubnetIds: ["subnet-0a", "subnet-0b"],
          privateRouteTableIds: ["rtb-0a"],
        },
        "lakehead:dockerHub": { cache: true, username: "lakehead" },
        "lakehead:endpoint": { publicCidrs: [] },
        "lakehead:tableService": {
          ...service,
          writes: true,
          exposure: { mode: "internal", allowedCidrs: ["10.0.0.0/8"] },
        },
      },
      { "lakehead:dockerHubToken": "hub-token" },
    ),
  "aws: no NAT, zone": () =>
    runStack("aws-dev", "update", {
      "lakehead:clusterName": longest,
      "lakehead:network": { mode: "create", zones: ["a", "b"], nat: "none", flowLogs: true },
      "lakehead:bucket": { name: "example-throwaway", forceDestroy: true, encryption: "aws:kms" },
      "lakehead:tableService": {
        ...service,
        exposure: {
          mode: "public",
          host: "tables.example.com",
          zone: "Z0123456789ABCDEFGHIJ",
        },
      },
    }),
  "gcp: adopted network, zone": () =>
    runStack(
      "gcp-dev",
      "update",
      {
        // The prefix of its cache in ECR limits this one.
        "lakehead:clusterName": longest.slice(0, 19).replace(/-$/, "g"),
        "lakehead:network": {
          mode: "adopt",
          network: "shared-vpc",
          subnetwork: "ray",
          podRange: "pods",
          serviceRange: "services",
        },
        "lakehead:dockerHub": { cache: true, username: "lakehead" },
        "lakehead:tableService": {
          ...service,
          exposure: {
            mode: "public",
            host: "tables.example.com",
            zone: "projects/dns-host/managedZones/example",
            allowedCidrs: ["198.51.100.0/24"],
          },
        },
      },
      { "lakehead:dockerHubToken": "hub-token" },
    ),
  "gcp: internal": () =>
    runStack("gcp-dev", "update", {
      "lakehead:clusterName": longest,
      "lakehead:tableService": { ...service, exposure: { mode: "internal", allowedCidrs: ["10.0.0.0/8"] } },
    }),
};

describe.each(Object.keys(plans))("%s", (name) => {
  let capture: Capture;
  beforeAll(async () => {
    capture = (await plans[name]?.()) as Capture;
  }, 300_000);

  test("has texts that the cloud accepts: names, descriptions, tags and labels", () => {
    expect(capture.failure).toBeUndefined();
    const { findings, compared } = textFaults(capture);
    expect(findings).toEqual([]);
    expect(compared).toBeGreaterThan(10);
  });
});

describe("the check", () => {
  const found = (type: string, inputs: object) =>
    textFaults(captureOf([resource(type, "r", { inputs: inputs as never })])).findings;
  const egress = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule";

  test("finds a character that the cloud does not allow", () =>
    expect(found(egress, { description: "port 80 of the service's pods" })).toEqual([
      expect.stringContaining(`${egress} r description: "port 80 of the service's pods" has a character`),
    ]));

  test("finds a text that is too long, with the name that Pulumi makes", () => {
    expect(found(egress, { description: "d".repeat(256) })).toEqual([
      expect.stringContaining("256 characters, 255 are"),
    ]);
    const role = resource("aws:iam/role:Role", "r".repeat(57));
    expect(textFaults(captureOf([role])).findings).toEqual([expect.stringContaining("65 characters, 64 are")]);
  });

  test("finds a text without a rule", () =>
    expect(found("aws:s3/bucket:Bucket", { displayName: "x" })).toEqual([expect.stringContaining("no rule says")]));

  test("finds tags and labels", () => {
    expect(found("aws:s3/bucket:Bucket", { bucket: "abc", tags: { "aws:x": "a", y: "it's" } })).toHaveLength(2);
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`t${index}`, ""]));
    expect(found("aws:s3/bucket:Bucket", { bucket: "abc", tags: many })).toEqual([
      expect.stringContaining("51 of at most 50"),
    ]);
    expect(found("gcp:storage/bucket:Bucket", { name: "abc", labels: { CostCenter: "a" } })).toHaveLength(1);
  });

  test("names a document of the cloud for each rule", () => {
    const sources = Object.values(rules).flatMap((paths) => Object.values(paths).map(({ source }) => source));
    expect(sources.length).toBeGreaterThan(50);
    for (const source of sources) expect(source).toMatch(/^(docs\.aws\.amazon|cloud\.google)\.com\/\S+$/);
  });
});
