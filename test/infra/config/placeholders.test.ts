import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { awsRegions } from "../../../infra/clouds/aws/regions.ts";
import { findForeignKeys } from "../../../infra/config/load.ts";
import { findPlaceholders } from "../../../infra/config/placeholders.ts";
import { describeFinding } from "../../../infra/config/report.ts";

/** Foreign part: the partitions of AWS's SDK. */
test("the regions of AWS are those of its SDK", () => {
  const load = createRequire(createRequire(import.meta.url).resolve("@aws-sdk/client-ec2"));
  const { partition } = load("@aws-sdk/core/client") as { partition(region: string): { name: string } };
  expect(partition("eu-central-1").name).toBe("aws");
  const source = load("node:fs").readFileSync(load.resolve("@aws-sdk/core/client"), "utf8") as string;
  const known = new Set(source.match(/"[a-z]{2,4}-(?:[a-z]+-)+\d"(?=: \{)/g)?.map((name) => name.slice(1, -1)));
  expect(known.size).toBeGreaterThan(30);
  expect(awsRegions.filter((region) => !known.has(region))).toEqual([]);
  const ours = (region: string) => ["aws", "aws-cn", "aws-us-gov", "aws-eusc"].includes(partition(region).name);
  expect([...known].filter((region) => ours(region) && !awsRegions.includes(region))).toEqual([]);
});

describe("a placeholder", () => {
  const lines = (raw: Record<string, unknown>) =>
    findPlaceholders(raw).map((finding) => describeFinding(finding).trim());

  test("is found at every depth, with its key and what to write", () => {
    expect(
      lines({
        account: "444455556666",
        viewerArns: ["arn:aws:iam::444455556666:role/preview"],
        endpoint: { publicCidrs: ["203.0.113.7/32", "198.51.100.0/24", "8.8.8.8/32"] },
        bucket: { name: "example-lakehead-dev", versioning: true },
        client: { members: ["group:data@example.com"] },
        tableService: { image: "registry.example.com/lakehead:0.2.0", auth: { issuer: "https://login.example.com/" } },
      }),
    ).toEqual([
      "lakehead:account = \"444455556666\": the account id is a placeholder of AWS's documentation; write your own account's id",
      "lakehead:viewerArns = \"arn:aws:iam::444455556666:role/preview\": the account id is a placeholder of AWS's documentation; write your own account's id",
      'lakehead:endpoint.publicCidrs = "203.0.113.7/32": the network is reserved for documentation (RFC 5737); write your own network',
      'lakehead:endpoint.publicCidrs = "198.51.100.0/24": the network is reserved for documentation (RFC 5737); write your own network',
      'lakehead:bucket.name = "example-lakehead-dev": the name is a placeholder of the example stacks; write your own name',
      'lakehead:client.members = "group:data@example.com": the domain is reserved for documentation (RFC 2606); write your own domain',
      'lakehead:tableService.image = "registry.example.com/lakehead:0.2.0": the domain is reserved for documentation (RFC 2606); write your own domain',
      'lakehead:tableService.auth.issuer = "https://login.example.com/": the domain is reserved for documentation (RFC 2606); write your own domain',
    ]);
  });

  test("is no other name that contains one", () => {
    expect(
      lines({
        bucket: { name: "my-example-tables" },
        issuer: "https://example.company.dev/",
        tags: { a: "1111222233334" },
      }),
    ).toEqual([]);
  });
});

describe("a key of another namespace", () => {
  const lines = (all: Record<string, string>) =>
    findForeignKeys(all, "lakehead").map((finding) => describeFinding(finding).trim());

  test("is refused with the key to write", () => {
    expect(lines({ "lakehaed:region": "eu-central-1", "lakehead:cloud": "aws" })).toEqual([
      'lakehaed:region = "eu-central-1": no program reads the namespace lakehaed; write lakehead:region',
    ]);
  });

  test("of a provider is refused with where the provider's settings come from", () => {
    expect(lines({ "aws:region": "eu-central-1" })).toEqual([
      'aws:region = "eu-central-1": the stack\'s aws provider does not read this key; write lakehead:region and lakehead:account, and select credentials by AWS_PROFILE',
    ]);
    expect(lines({ "gcp:project": "p" })[0]).toContain("write lakehead:project and lakehead:region");
    expect(lines({ "kubernetes:context": "c" })[0]).toContain("lakehead:context");
  });

  test("of the engine is accepted", () => {
    expect(lines({ "pulumi:disable-default-providers": '["*"]' })).toEqual([]);
  });
});
