import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { readProject, readStackConfig, secretPlaceholder } from "../../../infra/offline-plan/project.ts";
import { runProgram } from "../../../infra/offline-plan/run.ts";
import { mask } from "../../../infra/offline-plan/values.ts";
import { fabricate } from "../../support/infra/fabricate.ts";

const project = readProject(join(import.meta.dirname, "fixtures/project"));
const config = readStackConfig(project, "dev");
const run = (extra: Record<string, string> = {}, options: Partial<Parameters<typeof runProgram>[0]> = {}) =>
  runProgram({ project, stack: "dev", config: { ...config, values: { ...config.values, ...extra } }, ...options });

describe("a dry run of an unmodified program", () => {
  test("records the program's requests", async () => {
    const capture = await run();
    expect(capture.failure).toBeUndefined();
    expect(capture.peakBytes).toBeGreaterThan(2 ** 20);
    const plan = planOf(capture);
    expect(Object.fromEntries(plan.entries.map(({ id, ...entry }) => [id, entry]))).toMatchObject({
      "fixture:index:Store::store": { kind: "component", aliases: ["fixture:index:Store::shop"] },
      "fixture:index:Store$aws:s3/bucket:Bucket::store-bucket": {
        parent: "fixture:index:Store::store",
        inputs: { bucket: "fixture-tables", tags: { team: "lake" } },
        options: { protect: true, provider: "aws" },
        aliases: [
          "fixture:index:Store$aws:s3/bucket:Bucket::old-bucket",
          "fixture:index:Store$aws:s3/bucket:Bucket::shop-bucket",
        ],
      },
      "fixture:index:Store$aws:s3/bucketVersioning:BucketVersioning::store-versioning": {
        inputs: { bucket: "<computed>" },
        options: { retainOnDelete: true, provider: "aws" },
        dependsOn: ["fixture:index:Store$aws:s3/bucket:Bucket::store-bucket"],
      },
      "aws:ssm/parameter:Parameter::password": {
        inputs: { description: "set by a transform", name: "/fixture/password", value: "<secret>" },
        options: { protect: true, provider: "aws" },
        dependsOn: ["fixture:index:Store$aws:s3/bucketVersioning:BucketVersioning::store-versioning"],
      },
      "aws:s3/bucket:Bucket::logs": { inputs: { bucket: "fixture-logs-123456789012" } },
      "pulumi:pulumi:StackReference::organization/other/dev": {
        kind: "read",
        options: { id: "organization/other/dev" },
      },
    });
    expect(plan.outputs).toEqual({ address: "<computed>", bucketArn: "<computed>", password: "<secret>" });
    expect(plan.madeUp).toEqual(["aws:index/getCallerIdentity:getCallerIdentity"]);
    expect(JSON.stringify(plan)).not.toContain(secretPlaceholder);
  });
});

describe("an unknown identifier", () => {
  const inputsOf = async (fault: string) => {
    const capture = await run({ "fixture:fault": fault });
    expect(capture.failure).toBeUndefined();
    const { entries } = planOf(capture);
    expect(JSON.stringify(entries)).not.toContain(secretPlaceholder);
    return (name: string) => entries.find((entry) => entry.name === name)?.inputs;
  };

  test("is a placeholder inside a document, which stays secret if it holds a secret", async () => {
    const inputs = await inputsOf("documents");
    expect(inputs("reader")).toEqual({
      policy: {
        Version: "2012-10-17",
        Statement: [
          { Sid: "Read", Effect: "Allow", Action: ["s3:GetObject"], Resource: ["<computed Bucket store-bucket.arn>"] },
        ],
      },
    });
    expect(inputs("settings")).toEqual({ value: "<secret>" });
    expect(inputs("store-versioning")?.bucket).toBe("<computed>");
  });

  test("is unknown to a program that fails with the placeholder", async () => {
    expect((await inputsOf("shape"))("partition")).toEqual({ value: "<computed>" });
  });
});

test("runs as an update with fabricated ids", async () => {
  const capture = await run({}, { create: fabricate });
  const versioning = capture.resources.find(({ name }) => name === "store-versioning");
  expect(mask(versioning?.inputs.bucket ?? null)).toBe("fixture-tables");
  expect(capture.mode).toBe("update");
});

describe("a program that fails", () => {
  test("gets no credentials, region or kubeconfig of its caller", async () => {
    process.env.AWS_SECRET_ACCESS_KEY = "must-not-travel";
    const { failure } = await run({ "fixture:fault": "environment" });
    delete process.env.AWS_SECRET_ACCESS_KEY;
    expect(failure).toMatch(/^\["HOME",.*"PATH","PULUMI_CONFIG"/);
    expect(failure).not.toContain("AWS");
  });

  test.each([
    ["duplicate", /duplicate resource URN "urn:pulumi:dev::fixture::aws:s3\/bucket:Bucket::logs"/],
    ["invoke", /no sample result for the function "aws:ec2\/getAmi:getAmi".*infra\/offline-plan\/answers\.ts/],
    ["throw", /the sky is falling/],
    ["refuse", /^bucket: no such place; write one that exists$/],
  ])("says so: %s", async (fault, message) => {
    const { failure = "" } = await run({ "fixture:fault": fault });
    expect(failure).toMatch(message);
    expect(failure).not.toContain("\u001b");
  });

  test("is killed when it does not end", async () => {
    const { failure } = await run({ "fixture:fault": "hang" }, { timeout: 500 });
    expect(failure).toBe("the program ended without a message (stopped after 0.5 s; --timeout <seconds> allows more)");
  });
});

describe("a program whose parent is killed", () => {
  const runUrl = new URL("../../../infra/offline-plan/run.ts", import.meta.url).href;
  const script = `const { runProgram } = await import(${JSON.stringify(runUrl)});
    await runProgram(JSON.parse(process.argv[1]));`;

  /** Not by signal 0, which also reaches a process that has ended but is not reaped. */
  const isRunning = (pid: number): boolean => {
    const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
    return /^[^Z\s]/.test(stdout.trim());
  };

  test.each(["wait", "loop"])("ends too, although it would run on: %s", async (fault) => {
    const folder = mkdtempSync(join(tmpdir(), "lakehead-parent-"));
    const pidFile = join(folder, "pid");
    const values = { ...config.values, "fixture:fault": fault, "fixture:pidFile": pidFile };
    const options = JSON.stringify({ project, stack: "dev", config: { ...config, values } });
    const parent = spawn(process.execPath, ["--input-type=module", "--eval", script, options], { stdio: "inherit" });
    let pid = 0;
    try {
      pid = await vi.waitFor(() => {
        const text = readFileSync(pidFile, "utf8");
        expect(text).toMatch(/^\d+$/);
        return Number(text);
      }, 20_000);
      expect(isRunning(pid)).toBe(true);
      parent.kill("SIGKILL");
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 5_000);
    } finally {
      parent.kill("SIGKILL");
      if (pid > 0 && isRunning(pid)) process.kill(pid, "SIGKILL");
      rmSync(folder, { recursive: true });
    }
  });
});
