import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Wire } from "../../../infra/offline-plan/recorder.ts";
import { awsCloud } from "../../e2e/providers/aws.ts";
import { Journal } from "../../e2e/providers/journal.ts";
import { StandIn } from "../../e2e/providers/provider.ts";

let folder: string;
let journal: Journal;
let standIn: StandIn;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lakehead-stand-in-"));
  journal = new Journal(join(folder, "aws.jsonl"));
  const settings = {
    folder,
    apiHost: "",
    apiCa: "",
    apiToken: "",
    account: "",
    principal: "",
    minute: 0,
    fail: undefined,
  };
  const nothing = async () => {};
  standIn = new StandIn(awsCloud(""), journal, settings, { created: nothing, updated: nothing, deleted: nothing });
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Something that is there already. */
function exists(type: string, id: string, inputs: Wire): void {
  const urn = `urn:pulumi:s::p::${type}::${id}`;
  journal.append({ operation: "create", phase: "done", type, urn, id, inputs, outputs: inputs });
}

const update = (type: string, id: string, inputs: Wire) =>
  standIn.update(type, `urn:pulumi:s::p::${type}::${id}`, id, inputs);

describe("the stand-in for AWS refuses", () => {
  const group = "aws:eks/nodeGroup:NodeGroup";
  const sizes = (minSize: number, maxSize: number, desiredSize: number) => ({
    scalingConfig: { minSize, maxSize, desiredSize },
  });

  test("a least number of nodes above the number that is sent along, and takes it once that is as large", async () => {
    exists(group, "cpu", sizes(0, 4, 0));
    await expect(update(group, "cpu", sizes(2, 4, 0))).rejects.toThrow(
      "Minimum capacity 2 can't be greater than desired size 0",
    );
    expect(standIn.read(group, "cpu")?.inputs).toEqual(sizes(0, 4, 0));
    await expect(update(group, "cpu", sizes(2, 4, 2))).resolves.toBeDefined();
  });

  test("a control plane's subnet in a zone that it was not made with, and takes another one of its zones", async () => {
    const cluster = "aws:eks/cluster:Cluster";
    const vpcConfig = (...subnetIds: string[]) => ({ vpcConfig: { subnetIds } });
    for (const [id, availabilityZone] of Object.entries({ one: "xa", two: "xb", other: "xb", third: "xc" }))
      exists("aws:ec2/subnet:Subnet", id, { availabilityZone });
    exists(cluster, "main", vpcConfig("one", "two"));
    await expect(update(cluster, "main", vpcConfig("one", "two", "third"))).rejects.toThrow(
      "provide subnets of xa, xb",
    );
    await expect(update(cluster, "main", vpcConfig("one", "other"))).resolves.toBeDefined();
  });
});
