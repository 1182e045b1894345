import { expect, test } from "vitest";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { configured, describeStack } from "./suite.ts";

const captures = describeStack("gcp-dev");

test("a pool with zones has nodes in those only", () => {
  const pools = captures().preview.resources.filter(({ type }) => type === "gcp:container/nodePool:NodePool");
  expect(Object.fromEntries(pools.map(({ name, inputs }) => [name, inputs.nodeLocations]))).toEqual({
    "system-pool": ["europe-west4-a"],
    "head-pool": ["europe-west4-a"],
    "cpu-pool": undefined,
    "gpu-pool": ["europe-west4-a", "europe-west4-b"],
  });
});

test("a changed machine type of one pool is the only change", async () => {
  const nodes = configured("gcp-dev", "nodes");
  const changed = await runStack("gcp-dev", "preview", {
    "lakehead:nodes": { ...nodes, cpu: { ...nodes.cpu, machineType: "n2-standard-32" } },
  });
  expect(
    renderDiff(diffPlans(planOf(captures().preview), planOf(changed)), "main"),
  ).toBe(`gcp-dev against main: 1 changed, ${captures().preview.resources.length - 2} unchanged

~ gcp:container:NodePool  cpu-pool  (changed)
    note: replaces the pool's nodes one after another; jobs on them end
    nodeConfig.machineType: n2-standard-16 -> n2-standard-32
`);
});
