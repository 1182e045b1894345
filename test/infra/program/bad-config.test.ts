import { expect, test } from "vitest";
import { runStack } from "../../support/infra/stacks.ts";

const outcome = async (stack: string, overrides: Record<string, unknown>) => {
  const { failure, resources } = await runStack(stack, "preview", overrides);
  return { failure, resources: resources.filter(({ kind }) => kind !== "stack").map(({ urn }) => urn) };
};

test("reports every error at once, before the first resource", async () => {
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
  lakehead:nodes.head.spot = true: the value is invalid; expected false: losing this node ends every job
  lakehead:bucket.name = "Not_A_Bucket": the value is invalid; expected 3 to 63 lower-case letters, digits and inner hyphens
  lakehead:colour = "blue": the key does not exist; remove it, or find its name in docs/stack-configuration.md`,
  });
});

test("lists the clouds for an unknown one", async () => {
  expect(await outcome("local", { "lakehead:cloud": "azure" })).toEqual({
    resources: [],
    failure: `The stack's configuration has an error:
  lakehead:cloud = "azure": the value is invalid; expected one of aws, gcp, kubeconfig`,
  });
});

test("reports errors between keys", async () => {
  const { failure, resources } = await outcome("gcp-dev", {
    "lakehead:nodes": { head: { machineType: "n2-standard-2" }, cpu: { min: 5, max: 2 } },
  });
  expect(resources).toEqual([]);
  expect(failure).toBe(`The stack's configuration has 2 errors:
  lakehead:nodes.cpu.min = 5: more than nodes.cpu.max, which is 2; lower min or raise max
  lakehead:ray.head = {"cpus":3,"memory":"9Gi"}: the head (with the autoscaler sidecar's 1 CPU and 1Gi) requests 3 CPUs, 9Gi, and a node of nodes.head has 1.48 CPUs, 5.4Gi; request less, or write n2-standard-4 under nodes.head, the smallest type that is large enough (3.47 CPUs, 12.6Gi)`);
});
