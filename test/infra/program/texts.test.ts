import { beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { everyKey } from "../../support/infra/every-key.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { captureOf, resource } from "../support/captures.ts";
import { rules, textFaults } from "./checks/texts.ts";

/** The examples and the variants judge their own texts; here, those with the longest name of a cluster. */
describe.each(Object.entries(everyKey))("%s, with a long name", (_, { stack, overrides }) => {
  let capture: Capture;
  beforeAll(async () => {
    capture = await runStack(stack, "update", { ...overrides, "lakehead:clusterName": `l${"ong-".repeat(9)}est` });
  }, 300_000);

  test("has texts that the cloud accepts: names, descriptions, tags and labels", () => {
    expect(capture.failure).toBeUndefined();
    expect(textFaults(capture).findings).toEqual([]);
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
