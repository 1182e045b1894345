import { expect, it } from "vitest";
import { runStack } from "../support/stacks.ts";

const outcome = async (stack: string, overrides: Record<string, unknown>) => {
  const { failure, resources } = await runStack(stack, "preview", overrides);
  return { failure, resources: resources.filter(({ kind }) => kind !== "stack").map(({ urn }) => urn) };
};

it("ends with every error at once, before the first resource", async () => {
  expect(
    await outcome("aws-dev", {
      "lakehead:nodes": { head: { spot: true }, gpu: { enabled: false } },
      "lakehead:bucket": { name: "Not_A_Bucket" },
      "lakehead:colour": "blue",
      "lakehead:deployerArn": undefined,
    }),
  ).toEqual({
    resources: [],
    failure: `The stack's configuration has 4 errors:
  lakehead:deployerArn is missing: the key is required; expected an ARN such as arn:aws:iam::111122223333:role/team/deployer
  lakehead:nodes.head.spot = true: the value does not fit; expected false: losing this node ends every job
  lakehead:bucket.name = "Not_A_Bucket": the value does not fit; expected 3 to 63 lower-case letters, digits and inner hyphens
  lakehead:colour = "blue": there is no such key; remove it, or correct it by docs/stack-configuration.md`,
  });
});

it("names the clouds when none is chosen", async () => {
  expect(await outcome("local", { "lakehead:cloud": "azure" })).toEqual({
    resources: [],
    failure: `The stack's configuration has an error:
  lakehead:cloud = "azure": the value does not fit; expected one of aws, gcp, kubeconfig`,
  });
});

it("judges what one key alone cannot tell", async () => {
  const { failure, resources } = await outcome("gcp-dev", {
    "lakehead:nodes": { head: { machineType: "n2-standard-4" }, cpu: { min: 5, max: 2 } },
  });
  expect(resources).toEqual([]);
  expect(failure).toBe(`The stack's configuration has 2 errors:
  lakehead:nodes.cpu.min = 5: more than nodes.cpu.max, which is 2; lower min or raise max
  lakehead:ray.head = {"cpus":5,"memory":"9Gi"}: the head (with the autoscaler sidecar's 1 CPU and 1Gi) asks for 5 CPUs, 9Gi, a node of nodes.head has 3.47 CPUs, 12.6Gi for it; ask for less, or set nodes.head to n2-standard-8 (7.46 CPUs, 27.7Gi), the smallest that does`);
});
