import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../../support/infra/stacks.ts";

const folder = mkdtempSync(join(tmpdir(), "plan-test-"));
const git = (...args: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    encoding: "utf8",
  });
const plan = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, "infra/offline-plan/main.ts"), "--root", folder, ...args], {
    encoding: "utf8",
  });
const leftBehind = () => readdirSync(tmpdir()).filter((name) => name.startsWith("lakehead-plan-"));

beforeAll(() => {
  cpSync(join(import.meta.dirname, "fixtures/project"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, ".gitignore"), "node_modules\n");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "first");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("npm run plan", () => {
  test("prints the tree", () => {
    const { stdout, stderr, status } = plan("dev");
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toContain(`├─ fixture:index:Store  store
│  ├─ aws:s3:Bucket  store-bucket  [protected]
│  │       bucket  fixture-tables
│  └─ aws:s3:BucketVersioning  store-versioning  [kept on destroy]
│          bucket                          <computed>
│          versioningConfiguration.status  Enabled
`);
    expect(stdout).toContain("value        <secret>");
    expect(stdout).toContain("Sample results instead of a cloud's: aws:index/getCallerIdentity");
  });

  test("compares with a revision, input by input, and removes its temporary folder", () => {
    const path = join(folder, "Pulumi.dev.yaml");
    const before = readFileSync(path, "utf8");
    writeFileSync(path, `${before}  bucket: fixture-other\n`);
    const text = plan("dev", "--against", "HEAD");
    writeFileSync(path, before);
    expect(text.stdout).toBe(`dev against HEAD: 2 likely replaced, 5 unchanged

± aws:s3:Bucket  store-bucket  (likely replaced; PROTECTED: up fails instead of replacing it)
    bucket: fixture-tables -> fixture-other  [replaces: the AWS provider replaces on this input]

± aws:s3:BucketVersioning  store-versioning  (likely replaced)
    because bucket comes from fixture:index:Store$aws:s3/bucket:Bucket::store-bucket, which is replaced
`);
    expect(leftBehind()).toEqual([]);
  });

  test("shows a stack that the revision does not have as new", () => {
    writeFileSync(join(folder, "Pulumi.new.yaml"), readFileSync(join(folder, "Pulumi.dev.yaml"), "utf8"));
    const { stdout } = plan("new", "--against", "HEAD", "--json");
    rmSync(join(folder, "Pulumi.new.yaml"));
    const { resources, ...rest } = JSON.parse(stdout);
    expect(rest).toMatchObject({ stack: "new", unchanged: 0 });
    expect(resources.map(({ op }: { op: string }) => op)).toEqual(Array.from({ length: 7 }, () => "add"));
  });

  test.each([
    [["prod"], 1, 'stack "prod" does not exist: no file Pulumi.prod.yaml; choose one of dev'],
    [["dev", "--against", "no-such-revision"], 1, 'revision "no-such-revision" does not exist'],
    [[], 2, "name a stack: dev"],
    [["dev", "--json", "--graph"], 2, "choose one of --json, --yaml, --graph, --cost and --stats"],
    [["dev", "--prices", "own.json"], 2, "--prices works with --cost only"],
    [["dev", "--cost", "--prices", "none.json"], 1, "none.json is not read: ENOENT"],
    [["dev", "--timeout", "soon"], 2, '--timeout "soon" is not a number of seconds above 0'],
    [["dev", "--timeout", "0.05"], 1, "stopped after 0.05 s; --timeout <seconds> allows more"],
    [["dev", "--agianst", "HEAD"], 2, "Unknown option '--agianst'"],
  ])("refuses %j", (args, code, message) => {
    const { stderr, stdout, status } = plan(...args);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
    expect(stdout).toBe("");
    expect(status).toBe(code);
  });

  test("prints the program's message when it fails", () => {
    const path = join(folder, "Pulumi.dev.yaml");
    const before = readFileSync(path, "utf8");
    writeFileSync(path, `${before}  fault: refuse\n`);
    const { stderr, status } = plan("dev");
    writeFileSync(path, before);
    expect(stderr).toBe("dev: the program failed\nbucket: no such place; write one that exists\n");
    expect(status).toBe(1);
  });
});
