import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const program = fileURLToPath(new URL("../../infra/steps.ts", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lakehead-steps-"));
  // Notes how it was called, prints its last word but one, and fails where told.
  const tool =
    '#!/bin/sh\necho "$0 $*" | sed "s|.*/||" >> "$LOG"\ncase "$*" in *"$FAIL"*) exit 7;; esac\necho "of $*"\n';
  for (const name of ["npx", "npm"]) {
    writeFileSync(join(folder, name), tool);
    chmodSync(join(folder, name), 0o755);
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

const runSteps = (words: readonly string[], fail = "nothing fails") =>
  new Promise<{ code: number; out: string; err: string; called: string[] }>((settle) => {
    const log = join(folder, "log");
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, LOG: log, FAIL: fail };
    execFile(process.execPath, [program, ...words, "--root", folder], { env }, (error, out, err) => {
      const called = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
      settle({ code: error === null ? 0 : Number(error.code), out, err, called });
    });
  });

describe("npm run deploy", () => {
  test("checks the account, creates, and checks the stack", async () => {
    const { code, called, out } = await runSteps(["deploy", "aws-dev"]);
    expect(called).toEqual([
      "npm run preflight -- aws-dev",
      "npx pulumi up --stack aws-dev",
      "npm run verify -- aws-dev",
    ]);
    expect(out).toMatch(/^\$ npm run preflight -- aws-dev$/m);
    expect(code).toBe(0);
  });

  test("creates nothing where preflight fails", async () => {
    const { code, called, err } = await runSteps(["deploy", "aws-dev"], "preflight");
    expect(called).toEqual(["npm run preflight -- aws-dev"]);
    expect(err).toBe("it ended with code 7; the commands after it did not run:\n$ npm run preflight -- aws-dev\n");
    expect(code).toBe(1);
  });
});

describe("npm run bootstrap", () => {
  test("saves what the program prints, for its owner alone", async () => {
    const { called } = await runSteps(["bootstrap", "aws"]);
    expect(called).toHaveLength(5);
    expect(readFileSync(join(folder, "bootstrap.sh"), "utf8")).toBe(
      "of pulumi -C bootstrap stack output commands --stack aws\n",
    );
    expect(statSync(join(folder, "deployers.txt")).mode & 0o777).toBe(0o600);
  });

  test("leaves no file of a command that failed", async () => {
    const { code } = await runSteps(["bootstrap", "aws"], "output commands");
    expect(existsSync(join(folder, "deployers.txt"))).toBe(true);
    expect(existsSync(join(folder, "bootstrap.sh"))).toBe(false);
    expect(code).toBe(1);
  });
});

test("npm run client writes the program, and prints who may run it", async () => {
  const { out } = await runSteps(["client", "gcp-dev"]);
  expect(readFileSync(join(folder, "first.py"), "utf8")).toContain("clientSnippet");
  expect(out).toContain("of pulumi stack output clientCredentials --stack gcp-dev");
});

test("prints the commands and runs none with --print", async () => {
  const { called, out } = await runSteps(["deploy", "aws-dev", "--print"]);
  expect(called).toEqual([]);
  expect(out.split("\n").filter((line) => line.startsWith("$ "))).toHaveLength(3);
});

test.each([[["deploy"]], [["deploy", "a", "b"]], [["destroy", "a"]]])("refuses %j", async (words) => {
  const { code, err } = await runSteps(words);
  expect(err).toContain("name a step of bootstrap, deploy, client, and exactly one stack");
  expect(code).toBe(2);
});
