import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { allowLabel, commentMarker } from "../../../infra/pull-request/comment.ts";
import { root } from "../../support/infra/stacks.ts";

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}
interface Job {
  uses?: string;
  steps?: Step[];
  permissions?: Record<string, string>;
  environment?: string;
  "runs-on"?: string;
  "timeout-minutes"?: number;
  needs?: string | string[];
  strategy?: { matrix: { stack?: string; include?: string } };
  if?: string;
  outputs?: Record<string, string>;
}
interface Workflow {
  name: string;
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const folder = join(root, ".github/workflows");
const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), "utf8");
  return { name, text, workflow: parse(text, { version: "1.2" }) as Workflow };
});
const actionPath = join(root, ".github/actions/stack/action.yml");
const action = readFileSync(actionPath, "utf8");
const jobs = workflows.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([id, job]) => ({ id: `${name} ${id}`, job })),
);
const steps = [
  ...jobs.flatMap(({ id, job }) => (job.steps ?? []).map((step) => ({ id, step }))),
  ...(parse(action) as { runs: { steps: Step[] } }).runs.steps.map((step) => ({ id: "action", step })),
];
const job = (name: string, id: string) => workflows.find((item) => item.name === name)?.workflow.jobs[id];

describe("the workflows", () => {
  test("pin each foreign action to one commit, with its version in a comment", () => {
    const uses = [...workflows.map(({ text }) => text), action].flatMap((text) => text.match(/uses: .*/g) ?? []);
    const foreign = uses.filter((line) => !line.startsWith("uses: ./"));
    expect(foreign.length).toBeGreaterThan(10);
    for (const line of foreign) expect(line).toMatch(/^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const commits = Map.groupBy(foreign, (line) => line.replace(/@.*/, ""));
    for (const [name, lines] of commits) expect(new Set(lines).size, name).toBe(1);
  });

  test("use files of this repository that exist", () => {
    for (const { step } of steps)
      if (step.uses?.startsWith("./")) expect(existsSync(join(root, step.uses, "action.yml"))).toBe(true);
    for (const { job } of jobs) if (job.uses?.startsWith("./")) expect(existsSync(join(root, job.uses))).toBe(true);
    const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts as Record<string, string>;
    for (const { step } of steps) {
      for (const [, script = ""] of (step.run ?? "").matchAll(/npm run (?:--silent )?([\w:]+)/g))
        expect(scripts).toHaveProperty([script]);
      for (const [, path = ""] of (step.run ?? "").matchAll(/node ([\w/.-]+\.ts)/g))
        expect(existsSync(join(root, path))).toBe(true);
    }
  });

  test("never run on pull_request_target or workflow_run, which give foreign code access to secrets", () => {
    for (const { workflow, name } of workflows)
      expect(Object.keys(workflow.on), name).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/pull_request_target|workflow_run/)]),
      );
  });

  test("may only read the code, unless a job declares more", () => {
    for (const { workflow, name } of workflows) expect(workflow.permissions, name).toEqual({ contents: "read" });
    for (const { id, job } of jobs) {
      const writes = Object.entries(job.permissions ?? {})
        .filter(([, level]) => level === "write")
        .map(([scope]) => scope);
      expect(["", "id-token", "packages", "pull-requests"], id).toContain(writes.join(" and "));
    }
  });

  test("give cloud credentials to jobs in an environment only, and never to one that may comment", () => {
    for (const { id, job } of jobs) {
      if (job.uses !== undefined) continue;
      const federated = job.permissions?.["id-token"] === "write";
      expect(job.environment !== undefined, id).toBe(federated);
      expect(
        (job.steps ?? []).some(({ uses }) => uses === "./.github/actions/stack"),
        id,
      ).toBe(federated);
    }
  });

  test("preview a pull request, read on main and update with three different credentials", () => {
    const environments = jobs.flatMap(({ id, job }) => {
      if (job.environment === undefined) return [];
      const runs = (job.steps ?? []).map(({ run }) => run ?? "").join("\n");
      const purpose = /pulumi (up|destroy|refresh)\b/.test(runs)
        ? ""
        : id.startsWith("preview.yml ")
          ? "-preview"
          : "-drift";
      return [[id, job.environment.replace(/^\$\{\{ \w+\.stack \}\}/, ""), purpose] as const];
    });
    expect(environments.map(([id]) => id)).toEqual([
      "drift.yml drift",
      "preview.yml preview",
      "up.yml plan",
      "up.yml apply",
    ]);
    for (const [id, environment, purpose] of environments) expect(environment, id).toBe(purpose);
  });

  test("reach a private cluster from a runner in its network", () => {
    for (const { id, job } of jobs)
      if (job.environment !== undefined)
        expect(job["runs-on"], id).toMatch(
          /^\$\{\{ fromJSON\(vars\.RUNNERS \|\| '\{\}'\)\[\w+\.stack\] \|\| 'ubuntu-24\.04' \}\}$/,
        );
  });

  test("keep the token out of the checkout, and expressions out of scripts", () => {
    for (const { id, step } of steps) {
      if (step.uses?.startsWith("actions/checkout@")) expect(step.with?.["persist-credentials"], id).toBe(false);
      expect(step.run ?? "", id).not.toContain("${{");
    }
  });

  test("have a timeout", () => {
    for (const { id, job } of jobs)
      if (job.uses === undefined) expect(job["timeout-minutes"], id).toBeLessThanOrEqual(120);
  });

  test.each([
    ["preview.yml", "preview"],
    ["drift.yml", "drift"],
    ["deploy.yml", "check"],
  ])("do nothing to stacks in a fork that does not set STACKS: %s %s", (name, id) => {
    expect(job(name, id)?.if).toMatch(/^vars\.STACKS != ''(?: &&|$)/);
  });

  test("use no stack that STACKS does not name", () => {
    expect(job("deploy.yml", "cloud")?.strategy?.matrix.include).toBe(`\${{ fromJSON(needs.stacks.outputs.clouds) }}`);
    expect(job("deploy.yml", "stacks")?.needs).toBe("check");
    for (const stage of ["development", "production"])
      expect(job("cloud.yml", stage)?.strategy?.matrix.stack).toBe(`\${{ fromJSON(inputs.${stage}) }}`);
    for (const name of ["preview", "drift"])
      expect(job(`${name}.yml`, name)?.strategy?.matrix.stack).toBe(`\${{ fromJSON(vars.STACKS) }}`);
  });

  test("hold up the production of a cloud by the development of the same cloud only", () => {
    expect(job("deploy.yml", "cloud")).toMatchObject({
      uses: "./.github/workflows/cloud.yml",
      needs: "stacks",
      strategy: { "fail-fast": false },
    });
    expect(job("cloud.yml", "production")).toMatchObject({
      needs: "development",
      if: expect.stringMatching(/^\$\{\{ !failure\(\) && !cancelled\(\) && /),
    });
  });

  test("divide STACKS by cloud and stage", () => {
    const script = job("deploy.yml", "stacks")?.steps?.[0]?.run ?? "";
    const output = join(mkdtempSync(join(tmpdir(), "deploy-")), "output");
    const stacks = ["gcp-dev", "aws-prod", "aws-dev", "aws-test", "local-prod"];
    execFileSync("bash", ["-e", "-c", script], {
      env: { PATH: process.env.PATH, STACKS: JSON.stringify(stacks), GITHUB_OUTPUT: output },
    });
    expect(JSON.parse(readFileSync(output, "utf8").replace(/^clouds=/, ""))).toEqual([
      { cloud: "aws", development: '["aws-dev","aws-test"]', production: '["aws-prod"]' },
      { cloud: "gcp", development: '["gcp-dev"]', production: "[]" },
      { cloud: "local", development: "[]", production: '["local-prod"]' },
    ]);
  });

  test("give no pull request a passphrase", () => {
    const requested = workflows.filter(({ workflow }) => "pull_request" in workflow.on);
    expect(requested.map(({ name }) => name)).toContain("preview.yml");
    for (const { name, text } of requested) expect(text, name).not.toContain("PASSPHRASE");
  });

  test("print why a preview failed", () => {
    const previews = steps.filter(({ step }) => /pulumi preview/.test(step.run ?? ""));
    expect(previews.length).toBeGreaterThanOrEqual(3);
    for (const { id, step } of previews)
      expect(step.run, id).toContain('infra/pull-request/main.ts --diagnostics "$RUNNER_TEMP/preview.json"');
  });

  test("apply the preview that was approved, and stop at any other", { timeout: 120_000 }, () => {
    expect(job("up.yml", "plan")?.outputs).toEqual({ digest: `\${{ steps.preview.outputs.digest }}` });
    const own = job("up.yml", "apply")?.steps ?? [];
    const at = (part: string) => own.findIndex(({ run }) => run?.includes(part));
    expect(at("$APPROVED")).toBeGreaterThan(0);
    expect(at("$APPROVED")).toBeLessThan(at("pulumi up"));
    const place = mkdtempSync(join(tmpdir(), "approved-"));
    writeFileSync(join(place, "npx"), "#!/bin/sh\necho '{\"steps\":[]}'\n", { mode: 0o755 });
    const run = (approved: string) =>
      spawnSync("bash", ["-e", "-c", own[at("$APPROVED")]?.run ?? ""], {
        cwd: root,
        encoding: "utf8",
        env: {
          PATH: `${place}:${dirname(process.execPath)}:${process.env.PATH}`,
          STACK: "dev",
          APPROVED: approved,
          RUNNER_TEMP: place,
          GITHUB_STEP_SUMMARY: join(place, "summary"),
        },
      });
    // SHA-256 of nothing: the preview has no step.
    expect(run("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").status).toBe(0);
    const other = run("0".repeat(64));
    expect(other.status).toBe(1);
    expect(other.stdout).toContain("::error::dev would get other changes than were approved");
    expect(readFileSync(join(place, "summary"), "utf8")).toContain("dev: no change");
  });

  test("verify a stack after its update", () => {
    const runs = (job("up.yml", "apply")?.steps ?? []).map(({ run }) => run ?? "");
    const at = (part: string) => runs.findIndex((run) => run.includes(part));
    expect(at("pulumi up")).toBeGreaterThan(0);
    expect(at("npm run --silent verify")).toBeGreaterThan(at("pulumi up"));
    expect(runs[at("npm run --silent verify")], "a failure passes through the pipe").toContain("set -o pipefail");
  });

  test("check what .ci/run checks", () => {
    expect(job("check.yml", "test")?.steps?.map(({ run }) => run)).toContain(".ci/run");
  });

  test("publish an image only after the checks", () => {
    expect(job("release.yml", "build")?.needs).toBe("check");
    expect(job("release.yml", "publish")?.needs).toBe("build");
  });

  test("fail, not skip, the required check of a pull request whose preview failed", () => {
    const comment = workflows.find(({ name }) => name === "preview.yml")?.workflow.jobs.comment;
    expect(comment?.if).toMatch(/^\$\{\{ !cancelled\(\) && needs\.preview\.result != 'skipped' \}\}$/);
    expect(comment?.steps?.[0]).toMatchObject({
      env: { RESULT: expect.stringContaining(" needs.preview.result ") },
      run: 'test "$RESULT" = success',
    });
  });

  test("look for the comment's marker and for the label that the guard names", () => {
    const preview = workflows.find(({ name }) => name === "preview.yml")?.text ?? "";
    expect(preview).toContain(`startswith("${commentMarker}")`);
    expect(preview.match(new RegExp(`'${allowLabel}'`, "g"))).toHaveLength(2);
  });
});
