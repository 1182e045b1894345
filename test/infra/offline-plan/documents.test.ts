/** What the offline plan shows of documents that hold identifiers which only a cloud knows. */

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { type Plan, planOf } from "../../../infra/offline-plan/plan.ts";
import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import { renderDiff } from "../../../infra/offline-plan/render-diff.ts";
import type { RunOptions } from "../../../infra/offline-plan/run.ts";
import { root, runOnce } from "../../support/infra/stacks.ts";

const preview = async (folder: string, stack: string, options: Partial<RunOptions> = {}): Promise<Capture> => {
  const project = readProject(folder);
  const { values, secretKeys } = readStackConfig(project, stack);
  const capture = await runOnce({ project, stack, config: { values, secretKeys }, ...options });
  expect(capture.failure).toBeUndefined();
  return capture;
};

describe.each(["aws-prod", "gcp-prod"])("the plan of %s", (stack) => {
  let shown: Plan;
  let unknown: Plan;
  beforeAll(async () => {
    const captures = await Promise.all([preview(root, stack), preview(root, stack, { placeholders: false })]);
    [shown, unknown] = captures.map((capture) => planOf(capture)) as [Plan, Plan];
  });

  test("differs from one without placeholders in texts that name their source only", () => {
    expect(shown.entries.map(({ id }) => id)).toEqual(unknown.entries.map(({ id }) => id));
    const { resources } = diffPlans(unknown, shown);
    expect(resources.length).toBeGreaterThan(5);
    for (const { id, changes } of resources) {
      const opaque = changes.filter(({ before }) => before === "<computed>").map(({ path }) => path);
      expect(opaque.length, id).toBeGreaterThan(0);
      for (const path of opaque) {
        const known = changes.filter((change) => change.path.startsWith(path) && change.after !== undefined);
        expect(
          known.some((change) => `${change.path} ${change.after}`.includes("<computed ")),
          `${id} ${path} is derived from a placeholder without containing it`,
        ).toBe(true);
      }
    }
  });

  test("shows every policy document", () => {
    const policies = shown.entries.flatMap(({ id, inputs }) =>
      Object.entries(inputs).flatMap(([key, value]) =>
        /policy$/i.test(key) ? [[`${id} ${key}`, value] as const] : [],
      ),
    );
    if (stack === "aws-prod") expect(policies.length).toBeGreaterThan(10);
    expect(policies.filter(([, value]) => value === "<computed>")).toEqual([]);
  });
});

describe("a changed policy that holds an unknown identifier", () => {
  const folder = mkdtempSync(join(tmpdir(), "plan-documents-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const edit = (file: string, from: string, to: string) => {
    const path = join(folder, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  };
  let text: string;
  beforeAll(async () => {
    for (const name of ["infra", "service", "package.json", "Pulumi.yaml", "Pulumi.aws-prod.yaml"])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    edit("infra/clouds/aws/identity/storage-policies.ts", '"s3:GetObject",', '"s3:GetObject",\n        "s3:*",');
    edit(
      "infra/clouds/aws/identity/policy.ts",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
      "StringEquals: {\n        [`${issuer}:aud`]",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
      "StringLike: {\n        [`${issuer}:aud`]",
    );
    const [before, after] = await Promise.all([preview(root, "aws-prod"), preview(folder, "aws-prod")]);
    text = renderDiff(diffPlans(planOf(before), planOf(after)), "HEAD");
  });

  test("shows the added action, by statement", () => {
    expect(text).toMatch(/^ {4}policy\.Statement\[Sid=ReadWriteTables\]\.Action\[1\]: s3:\* \(new\)$/m);
  });

  test("shows the changed operator of a trust policy", () => {
    const condition = "assumeRolePolicy.Statement[Sid=ServiceAccount].Condition";
    expect(text).toContain(`${condition}.StringEquals["<computed OpenIdConnectProvider cluster-oidc.url>:aud"]: `);
    expect(text).toContain(`${condition}.StringLike["<computed OpenIdConnectProvider cluster-oidc.url>:aud"]: `);
  });
});
