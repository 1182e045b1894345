import { expect, it } from "vitest";
import { diffPlans } from "../../../infra/preview/diff.ts";
import { dangers, stepsOfDiff } from "../../../infra/preview/guard.ts";
import { planOf } from "../../../infra/preview/plan.ts";
import { renderDiff } from "../../../infra/preview/render-diff.ts";
import { runStack } from "../support/stacks.ts";
import { configured, describeStack } from "./suite.ts";

const captures = describeStack("aws-dev");

it("a changed instance type of one node group shows as exactly that, and as a danger", async () => {
  const nodes = configured("aws-dev", "nodes");
  const changed = await runStack("aws-dev", "preview", {
    "lakehead:nodes": { ...nodes, head: { ...nodes.head, instanceTypes: ["m7i.4xlarge"] } },
  });
  const diff = diffPlans(planOf(captures().preview), planOf(changed));
  expect(renderDiff(diff, "main")).toBe(`aws-dev against main: 6 likely replaced, ${diff.unchanged} unchanged

± aws:eks:NodeGroup  nodes-ray-head  (likely replaced)
    instanceTypes[0]: m7i.2xlarge -> m7i.4xlarge  [replaces: the AWS provider replaces on this input]
    and with it 5 aws:autoscaling:Tag, by their autoscalingGroupName
`);
  expect(dangers(stepsOfDiff(diff)).map(({ what }) => what)).toEqual(["node group"]);
});
