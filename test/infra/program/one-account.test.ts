import { expect, test } from "vitest";
import { runStack } from "../../support/infra/stacks.ts";

/** The types whose names the stack gives, with the input that is unique in an account and region. */
const unique: Readonly<Record<string, string>> = {
  "aws:cloudwatch/logGroup:LogGroup": "name",
  "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": "ecrRepositoryPrefix",
  "aws:ecr/repository:Repository": "name",
  "aws:eks/cluster:Cluster": "name",
  "aws:iam/role:Role": "name",
  "aws:kms/alias:Alias": "name",
  "aws:s3/bucket:Bucket": "bucket",
  "aws:secretsmanager/secret:Secret": "name",
};

test("the two stacks of AWS share no name, so that bootstrap/ can serve both in one account", async () => {
  // With the names that only a cache of Docker Hub has.
  const cache = { "lakehead:dockerHub": { cache: true, username: "octocat" } };
  const names = await Promise.all(
    ["aws-dev", "aws-prod"].map(async (stack) => {
      const { resources, failure } = await runStack(stack, "preview", cache, {
        "lakehead:dockerHubToken": "dckr_pat_0",
      });
      expect(failure).toBeUndefined();
      return resources.flatMap(({ type, inputs }) => {
        const name = inputs[unique[type] ?? ""];
        return typeof name === "string" ? [`${type} ${name}`] : [];
      });
    }),
  );
  const [dev = [], prod = []] = names;
  expect(dev.length).toBeGreaterThan(6);
  expect(dev.filter((name) => prod.includes(name))).toEqual([]);
});
