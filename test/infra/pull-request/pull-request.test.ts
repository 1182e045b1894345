import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { root } from "../../support/infra/stacks.ts";

const folder = mkdtempSync(join(tmpdir(), "pull-request-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, "infra/pull-request/main.ts"), ...args], { encoding: "utf8" });

const preview = file("preview.json", {
  config: { "lakehead:token": "[secret]" },
  steps: [
    { op: "same", urn: "urn:pulumi:aws-prod::lakehead::a:b/c:C::same" },
    {
      op: "replace",
      urn: "urn:pulumi:aws-prod::lakehead::lakehead:aws:Cluster$aws:eks/cluster:Cluster::cluster",
      oldState: {
        inputs: { name: "old-name", login: "value-that-must-not-travel" },
        additionalSecretOutputs: ["login"],
      },
      newState: { inputs: { name: "new-name", login: "another-that-must-not-travel" } },
      replaceReasons: ["name"],
    },
  ],
  changeSummary: { replace: 1, same: 1 },
});

test("stops a preview that replaces a cluster, also in reduced form", () => {
  const direct = run(`aws-prod=${preview}`);
  expect(direct.status).toBe(3);
  expect(direct.stdout).toContain("replaces a cluster");
  const reduced = run("--reduce", `aws-prod=${preview}`);
  expect(reduced.status).toBe(0);
  expect(reduced.stdout).toContain("new-name");
  expect(reduced.stdout).not.toContain("that-must-not-travel");
  const judged = run(`aws-prod=${file("reduced.json", reduced.stdout)}`);
  expect(judged.status).toBe(3);
  expect(judged.stdout).toBe(direct.stdout);
});

test("passes it when it is allowed", () => {
  const { status, stdout } = run("--allowed", `aws-prod=${preview}`);
  expect(status).toBe(0);
  expect(stdout).toContain("Allowed by the label");
});

test.each([
  ["a failed preview", "error: no credentials", /cannot be read/],
  ["an empty file", "", /cannot be read/],
  ["another document", { ok: true }, /it has no list of steps/],
  ["another stack's steps", { stack: "aws-dev", source: "preview", steps: [] }, /belongs to aws-dev, not to aws-prod/],
])("fails for what it cannot read: %s", (_name, content, message) => {
  const { status, stderr, stdout } = run("--allowed", `aws-prod=${file("broken.json", content)}`);
  expect(status).toBe(1);
  expect(stderr).toMatch(message);
  expect(stdout).toBe("");
});

test.each([
  [
    "its errors and warnings",
    {
      diagnostics: [
        { severity: "info", message: "installing" },
        { severity: "error", message: "config: no such zone\n", urn: "urn:pulumi:p::l::a:b/c:C::zone" },
        { severity: "warning", message: "old operator" },
      ],
    },
    "error: zone: config: no such zone\nwarning: old operator\n",
  ],
  ["information where there is nothing else", { diagnostics: [{ severity: "info", message: "a" }] }, "info: a\n"],
  ["where to look", "error: no credentials", "the preview printed no JSON; its standard error has the reason\n"],
  ["where to look", { steps: [] }, "the preview reported no diagnostics; its standard error has the reason\n"],
])("says why a preview failed: %s", (_what, content, said) => {
  expect(run("--diagnostics", file("failed.json", content))).toMatchObject({ status: 0, stdout: said });
});
