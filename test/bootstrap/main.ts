/**
 * `npm run test:bootstrap`: the identities of `bootstrap/` in an account of moto's server, which enforces their policies, and
 * Pulumi's engine with their credentials on the state and the key that the program prints.
 */

import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AssumeRoleWithWebIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { StackAccess, Variables } from "../../bootstrap/github.ts";
import type { Capture } from "../../infra/offline-plan/capture.ts";
import { mask } from "../../infra/offline-plan/values.ts";
import { goPart, unbuilt } from "../../tools/parts/control-plane/go.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { root, runBootstrap } from "../support/infra/stacks.ts";
import { startProcess } from "../support/process.ts";

const run = promisify(execFile);
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const count = { passed: 0, failed: 0, skipped: 0 };

async function check(title: string, test: () => Promise<string | undefined>): Promise<void> {
  const fault = await test().catch((error: unknown) => (error instanceof Error ? (error.stack ?? "") : String(error)));
  count[fault === undefined ? "passed" : "failed"]++;
  print(fault === undefined ? `ok      ${title}` : `FAILED  ${title}\n${fault.replaceAll(/^/gm, "          ")}`);
}

const account = "210987654321";
const bucket = "lakehead-state";

interface Printed {
  readonly environments: Readonly<Record<string, Variables>>;
  readonly commands: string;
}

const printed = ({ resources }: Capture): Printed =>
  mask(resources.find(({ kind }) => kind === "stack")?.outputs ?? {}) as unknown as Printed;

/** The backend and the key of a stack, read from the commands that the program prints. */
function accessOf(commands: string, stack: string): StackAccess {
  const pattern = new RegExp(
    `^npx pulumi login '(.*)'\\nnpx pulumi stack init ${stack} --secrets-provider '(.*)'$`,
    "m",
  );
  const [, backend = "", secretsProvider = ""] = pattern.exec(commands) ?? [];
  return { backend, secretsProvider };
}

/** Creates the recorded resources. @returns the keys' ARNs by those that the recorded run made up */
async function createIn(python: string, endpoint: string, capture: Capture): Promise<Record<string, string>> {
  const { commands } = printed(capture);
  const child = spawn(python, [here("account.py"), endpoint], { stdio: ["pipe", "pipe", "inherit"] });
  const wanted = capture.resources
    .filter(({ type, kind }) => type.startsWith("aws:") && kind === "custom")
    .map(({ type, name, inputs }) => {
      const [arn] = /arn:[^?]+/.exec(accessOf(commands, name.replace(/-secrets$/, "")).secretsProvider) ?? [];
      return { type, name, inputs: mask(inputs), arn };
    });
  child.stdin.end(JSON.stringify(wanted));
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, string>;
}

async function credentialsOf(endpoint: string, roleArn: string): Promise<Record<string, string>> {
  const client = new STSClient({
    endpoint,
    region: "eu-central-1",
    credentials: { accessKeyId: "", secretAccessKey: "" },
  });
  const { Credentials } = await client.send(
    new AssumeRoleWithWebIdentityCommand({
      RoleArn: roleArn,
      RoleSessionName: "trial",
      // moto does not read the token: what a role trusts is compared by the tests of the documents.
      WebIdentityToken: "token",
    }),
  );
  return {
    AWS_ACCESS_KEY_ID: Credentials?.AccessKeyId ?? "",
    AWS_SECRET_ACCESS_KEY: Credentials?.SecretAccessKey ?? "",
    AWS_SESSION_TOKEN: Credentials?.SessionToken ?? "",
  };
}

/** A project whose state holds a secret. */
const program = `import * as pulumi from "@pulumi/pulumi";
export const token = new pulumi.Config().requireSecret("token");
`;

async function checkState(python: string, engine: string): Promise<void> {
  const server = startProcess(python, [here("server.py"), "{}"], {
    PYTHONDONTWRITEBYTECODE: "1",
    MOTO_ACCOUNT_ID: account,
  });
  const folder = await mkdtemp(join(tmpdir(), "lakehead-bootstrap-"));
  try {
    const [, port] = await server.printed(/^(\d+)\n/);
    const endpoint = `http://127.0.0.1:${port}`;
    const capture = await runBootstrap("aws", "update", {
      "lakehead-bootstrap:account": account,
      "lakehead-bootstrap:bucket": { name: bucket },
      "lakehead-bootstrap:deployers": [],
    });
    if (capture.failure !== undefined) throw new Error(capture.failure);
    const { environments, commands } = printed(capture);

    let keys: Record<string, string> = {};
    await check("moto takes every bucket, key, identity provider, role, trust and policy", async () => {
      keys = await createIn(python, endpoint, capture);
      return Object.keys(keys).length === 2 ? undefined : JSON.stringify(keys);
    });
    const access = (stack: string): StackAccess => {
      const { backend, secretsProvider } = accessOf(commands, stack);
      const made = Object.entries(keys).find(([fabricated]) => secretsProvider.includes(fabricated));
      return { backend, secretsProvider: secretsProvider.replace(made?.[0] ?? "", made?.[1] ?? "") };
    };

    const project = join(folder, "project");
    for (const name of ["project", "home", "bin"]) await mkdir(join(folder, name));
    await writeFile(join(folder, "home", "logs"), "");
    await symlink(process.execPath, join(folder, "bin", "node"));
    await symlink(join(root, "node_modules"), join(project, "node_modules"));
    await writeFile(join(project, "package.json"), '{ "type": "module" }\n');
    await writeFile(join(project, "program.ts"), program);
    const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
    await writeFile(join(project, "Pulumi.yaml"), `name: lakehead\nmain: program.ts\n${runtime}`);

    const environment = (backend: string) => ({
      PATH: [join(folder, "bin"), engine, here("../e2e/support/bin"), process.env.PATH].join(delimiter),
      HOME: folder,
      PULUMI_HOME: join(folder, "home"),
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_BACKEND_URL: backend,
      AWS_ENDPOINT_URL: endpoint,
      AWS_EC2_METADATA_DISABLED: "true",
    });
    const command = (env: NodeJS.ProcessEnv, args: readonly string[]) =>
      run("pulumi", [...args, "--non-interactive"], { cwd: project, env }).then(
        ({ stdout, stderr }) => ({ code: 0, output: `${stdout}${stderr}` }),
        (error: { code?: number; stdout?: string; stderr?: string }) => ({
          code: error.code ?? 1,
          output: `${error.stdout}${error.stderr}`,
        }),
      );

    await check("the program's own state moves from the machine into the bucket", async () => {
      await mkdir(join(folder, "state"));
      const own = {
        PULUMI_CONFIG_PASSPHRASE: "planted",
        AWS_ACCESS_KEY_ID: "planted",
        AWS_SECRET_ACCESS_KEY: "planted",
      };
      const local = { ...environment(`file://${join(folder, "state")}`), ...own };
      const moved = { ...environment(`s3://${bucket}/bootstrap?region=eu-central-1`), ...own };
      const file = join(folder, "bootstrap.json");
      for (const [env, args] of [
        [local, ["stack", "init", "aws"]],
        [local, ["config", "set", "--stack", "aws", "--secret", "token", "planted-secret"]],
        [local, ["up", "--stack", "aws", "--yes"]],
        [local, ["stack", "export", "--stack", "aws", "--file", file]],
        [moved, ["stack", "init", "aws"]],
        [moved, ["stack", "import", "--stack", "aws", "--file", file]],
        [moved, ["preview", "--stack", "aws", "--expect-no-changes"]],
      ] as const) {
        const { code, output } = await command(env, args);
        if (code !== 0) return `pulumi ${args.join(" ")}: exit code ${code}\n${output}`;
      }
      return undefined;
    });

    const roleOf = (name: string) => `arn:aws:iam::${account}:role/lakehead-${name}`;
    const credentials = Object.fromEntries(
      await Promise.all(
        Object.keys(environments).map(async (name) => [name, await credentialsOf(endpoint, roleOf(name))] as const),
      ),
    );
    // From here on, moto compares each request with the caller's policies.
    await fetch(`${endpoint}/moto-api/reset-auth`, { method: "POST", body: "0" });

    /** Runs the CLI with the credentials of a GitHub environment, on the state of its stack unless another one is given. */
    const pulumi = (name: string, args: readonly string[], stack = name.replace(/-(preview|drift)$/, "")) =>
      command({ ...environment(access(stack).backend), ...credentials[name] }, args);
    const passes = async (...args: Parameters<typeof pulumi>): Promise<string | undefined> => {
      const { code, output } = await pulumi(...args);
      return code === 0 ? undefined : `pulumi ${args[1].join(" ")} as ${args[0]}: exit code ${code}\n${output}`;
    };
    const isRefused = async (...args: Parameters<typeof pulumi>): Promise<string | undefined> => {
      const { code, output } = await pulumi(...args);
      const denied = /AccessDenied|Forbidden|not authorized|Access Denied/i.test(output);
      return code !== 0 && denied
        ? undefined
        : `pulumi ${args[1].join(" ")} as ${args[0]}: exit code ${code}\n${output}`;
    };

    await check("the deployer creates the stack with the printed state and key", () =>
      passes("aws-dev", ["stack", "init", "aws-dev", "--secrets-provider", access("aws-dev").secretsProvider]),
    );
    await check("the deployer encrypts a secret, and updates the stack", async () => {
      const set = await passes("aws-dev", [
        "config",
        "set",
        "--stack",
        "aws-dev",
        "--secret",
        "token",
        "planted-secret",
      ]);
      return set ?? passes("aws-dev", ["up", "--stack", "aws-dev", "--yes"]);
    });
    await check("the state is below the stack's folder, and holds no readable secret", async () => {
      const { output } = await pulumi("aws-dev", ["stack", "export", "--stack", "aws-dev"]);
      return output.includes("ciphertext") && !output.includes("planted-secret") ? undefined : output;
    });
    for (const [name, args] of [
      ["aws-dev-preview", ["preview", "--stack", "aws-dev"]],
      ["aws-dev-drift", ["preview", "--stack", "aws-dev", "--refresh", "--expect-no-changes"]],
    ] as const) {
      await check(`${name} runs: pulumi ${args.join(" ")}`, () => passes(name, args));
      await check(`${name} cannot update the stack`, () => isRefused(name, ["up", "--stack", "aws-dev", "--yes"]));
    }
    await check("the deployer of another stack cannot read this one's state", () =>
      isRefused("aws-prod", ["stack", "export", "--stack", "aws-dev"], "aws-dev"),
    );
    await check("nothing is left locked", async () => {
      const { output } = await pulumi("aws-dev", ["stack", "ls"]);
      return output.includes("aws-dev*") && !output.includes("in progress") ? undefined : output;
    });
  } finally {
    server.child.kill("SIGKILL");
    await server.exited();
    await rm(folder, { recursive: true, force: true });
  }
}

const { python, missing } = await pythonWith(here("../preflight/requirements.txt"), print);
if (python === undefined || unbuilt(["pulumi"]).length > 0) {
  count.skipped++;
  print(`skipped: ${python === undefined ? missing : "Pulumi's engine is not built: run npm run build:e2e"}`);
} else await checkState(python, await goPart("pulumi", print));
print(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
if (count.failed > 0) process.exitCode = 1;
