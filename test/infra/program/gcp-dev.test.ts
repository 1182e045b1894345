import { expect, it } from "vitest";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
import { runStack } from "../support/stacks.ts";
import { configured, describeStack } from "./suite.ts";

const captures = describeStack("gcp-dev");

it("a changed machine type of one pool shows as exactly that", async () => {
  const nodes = configured("gcp-dev", "nodes");
  const changed = await runStack("gcp-dev", "preview", {
    "lakehead:nodes": { ...nodes, cpu: { ...nodes.cpu, machineType: "n2-standard-32" } },
  });
  expect(
    renderDiff(diffPlans(planOf(captures().preview), planOf(changed)), "main"),
  ).toBe(`gcp-dev against main: 1 changed, ${captures().preview.resources.length - 2} unchanged

~ gcp:container:NodePool  cpu-pool  (changed)
    nodeConfig.machineType: n2-standard-16 -> n2-standard-32
`);
});
