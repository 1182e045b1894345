import { expect, test } from "vitest";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
import { dangers, stepsOfDiff } from "../../../infra/pull-request/guard.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { configured, describeStack } from "./suite.ts";

const captures = describeStack("aws-dev");

test("the placeholders of the example are one warning that names their keys", () => {
  expect(captures().preview.diagnostics.map(({ severity, message }) => `${severity}: ${message.trim()}`)).toContain(
    "warning: placeholders are left, which pulumi preview and pulumi up refuse: account, deployerArn, viewerArns, auditorArns, endpoint.publicCidrs, bucket.name, client.principals, tableService.auth.issuer",
  );
});

test("one NAT gateway serves the private subnets of both zones", () => {
  const { resources } = captures().preview;
  const gateways = resources.filter(({ type }) => type === "aws:ec2/natGateway:NatGateway");
  expect(gateways).toHaveLength(1);
  const routes = resources.filter(({ type, name }) => type === "aws:ec2/route:Route" && name.endsWith("-nat"));
  expect(routes.map(({ name }) => name)).toEqual(["network-private-a-nat", "network-private-b-nat"]);
  for (const { dependsOn } of routes) expect(dependsOn).toContain(gateways[0]?.urn);
});

test("without aws:kms there is no key for the tables", () => {
  const types = captures()
    .preview.resources.filter(({ name }) => name.startsWith("tables"))
    .map(({ type }) => type);
  expect(types).toContain("aws:s3/bucket:Bucket");
  expect(types).not.toContain("aws:kms/key:Key");
});

test("a changed instance type of one node group is the only change, and a danger", async () => {
  const nodes = configured("aws-dev", "nodes");
  const changed = await runStack("aws-dev", "preview", {
    "lakehead:nodes": { ...nodes, head: { ...nodes.head, instanceTypes: ["m7i.4xlarge"] } },
  });
  const diff = diffPlans(planOf(captures().preview), planOf(changed));
  expect(renderDiff(diff, "main")).toBe(`aws-dev against main: 6 likely replaced, ${diff.unchanged} unchanged

± aws:eks:NodeGroup  nodes-ray-head  (likely replaced)
    instanceTypes[0]: m7i.xlarge -> m7i.4xlarge  [replaces: the AWS provider replaces on this input]
    and with it 5 aws:autoscaling:Tag, by their autoscalingGroupName
`);
  expect(dangers(stepsOfDiff(diff)).map(({ action }) => action)).toEqual(["replaces a node group"]);
});

test("an additional zone replaces only the node groups that name no zones", async () => {
  const nodes = configured("aws-dev", "nodes");
  const changed = await runStack("aws-dev", "preview", {
    "lakehead:network": { ...configured("aws-dev", "network"), zones: ["a", "b", "c"] },
    "lakehead:nodes": { ...nodes, head: { ...nodes.head, zones: ["a", "b"] } },
  });
  const { resources } = diffPlans(planOf(captures().preview), planOf(changed));
  const control = resources.filter(({ type }) => type === "aws:eks/cluster:Cluster");
  expect(
    control.flatMap(({ changes }) => changes.filter(({ path, ignored }) => !path.startsWith("options.") && !ignored)),
  ).toEqual([]);
  const replaced = resources.filter(({ op, type }) => op === "replace" && type === "aws:eks/nodeGroup:NodeGroup");
  expect(replaced.map(({ name }) => name)).toEqual(["nodes-ray-worker-cpu", "nodes-ray-worker-gpu", "nodes-system"]);
  expect(resources.filter(({ op, type }) => op === "replace" && /:(Subnet|Cluster)$/.test(type))).toEqual([]);
});

test("an additional tag is a danger: launch templates have it, so every node is replaced", async () => {
  const changed = await runStack("aws-dev", "preview", { "lakehead:tags": { owner: "another" } });
  const found = dangers(stepsOfDiff(diffPlans(planOf(captures().preview), planOf(changed))));
  expect(found.map(({ step }) => step.name)).toEqual([
    "nodes-ray-head",
    "nodes-ray-worker-cpu",
    "nodes-ray-worker-gpu",
    "nodes-system",
  ]);
});
