import { expect, test } from "vitest";
import { renderGolden } from "../../../infra/offline-plan/golden.ts";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { renderTree } from "../../../infra/offline-plan/tree.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { leaks, openSecrets } from "./checks/secrets.ts";

const tokens = "token-that-must-not-show";
const storage = "storage-key-that-must-not-show";
const certificate = "client-key-that-must-not-show";

test("every secret that a stack can be given stays one, in a preview and in an update", async () => {
  const overrides = {
    "lakehead:context": undefined,
    "lakehead:database": { uri: "s3://tables/lance" },
  };
  const secrets = {
    "lakehead:staticTokens": tokens,
    "lakehead:storageOptions": JSON.stringify({ secret_access_key: storage }),
    "lakehead:kubeconfig": `apiVersion: v1\nkind: Config\nusers: [{name: a, user: {client-key-data: ${certificate}}}]\n`,
  };
  const captures = await Promise.all(
    (["preview", "update"] as const).map((mode) => runStack("local", mode, overrides, secrets)),
  );
  for (const capture of captures) {
    expect(capture.failure).toBeUndefined();
    expect(leaks(capture, [tokens, storage, certificate])).toEqual([]);
    expect(openSecrets(capture)).toEqual([]);
    const plan = planOf(capture);
    for (const text of [renderGolden(plan), renderTree(plan, { full: true }), JSON.stringify(plan)])
      expect(text).not.toMatch(/must-not-show/);
  }
});
