import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { knownTypes, replacementSource, tables } from "../../../infra/offline-plan/replacements.ts";
import { root } from "../support/stacks.ts";

/** The declaration of a resource's inputs in the provider's SDK. */
function declaration(type: string): string {
  const [pkg = "", module = ""] = type.split(":");
  // Files spell abbreviations their own way: iAMMember is declared in iammember.d.ts.
  const wanted = `${module.split("/")[1]}.d.ts`.toLowerCase();
  const folder = join(root, "node_modules/@pulumi", pkg, module.split("/")[0] ?? "");
  const file = readdirSync(folder).find((name) => name.toLowerCase() === wanted);
  if (file === undefined) throw new Error(`${type} is no resource of @pulumi/${pkg}`);
  return readFileSync(join(folder, file), "utf8").split(/export interface \w+Args /)[1] ?? "";
}

describe("the table of inputs that replace", () => {
  it.each([...knownTypes])("names real inputs of %s", (type) => {
    const declared = declaration(type);
    for (const path of tables[type] ?? [])
      expect(declared, path).toMatch(new RegExp(`^ +${path.split(".")[0]}\\??:`, "m"));
  });

  it.each([
    ["aws:eks/nodeGroup:NodeGroup", "instanceTypes", true],
    ["aws:eks/nodeGroup:NodeGroup", "scalingConfig.maxSize", false],
    ["aws:eks/nodeGroup:NodeGroup", "launchTemplate.id", true],
    ["aws:eks/nodeGroup:NodeGroup", "launchTemplate.version", false],
    ["aws:eks/cluster:Cluster", "version", false],
    ["aws:ec2/vpc:Vpc", "region", true],
    ["gcp:container/nodePool:NodePool", "nodeConfig.machineType", false],
    ["gcp:container/nodePool:NodePool", "nodeConfig.spot", true],
    ["gcp:storage/bucket:Bucket", "project", true],
    ["kubernetes:apps/v1:Deployment", "spec.replicas", false],
    ["kubernetes:apps/v1:Deployment", "spec.selector.matchLabels.app", true],
    ["kubernetes:ray.io/v1:RayCluster", "metadata.namespace", true],
    ["kubernetes:ray.io/v1:RayCluster", "metadata.labels.a", false],
    ["lakehead:aws:Network", "name", false],
  ])("%s %s: %s", (type, path, replaces) => {
    expect(replacementSource(type, path) !== undefined).toBe(replaces);
  });
});
