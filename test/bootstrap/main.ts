/**
 * `npm run test:bootstrap`: the identities of `bootstrap/` in an account of moto's server, which enforces their policies, and
 * Pulumi's engine with their credentials on the state and the key that the program prints. The printed script runs in a shell.
 */

import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
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
import { settingsEnvironment } from "../e2e/providers/settings.ts";
import { root, runBootstrap, runStack } from "../support/infra/stacks.ts";
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
  readonly deployerCredentials: string;
}

const printed = ({ resources }: Capture): Printed =>
  mask(resources.find(({ kind }) => kind === "stack")?.outputs ?? {}) as unknown as Printed;

/** The backend and the key of a stack, read from the commands that the program prints. */
function accessOf(commands: string, stack: string): StackAccess {
  const pattern = new RegExp(
    `^npx pulumi login '(.*)'\\nnpx pulumi stack select ${stack} --create --secrets-provider '(.*)'$`,
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

const place = { partition: "aws", region: "eu-central-1", account, cluster: "lancedb" };
const from = (file: string): string => JSON.stringify(new URL(`../../infra/clouds/aws/${file}`, import.meta.url).href);

/** A part of the stack, and a secret in its state. */
const program = `import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { Bucket } from ${from("storage/bucket.ts")};
import { serviceTrust } from ${from("identity/policy.ts")};
import { Role } from ${from("identity/role.ts")};

class Part extends pulumi.ComponentResource {
  constructor() {
    super("lakehead:test:Part", "part", {}, { providers: [new aws.Provider("aws", { region: "eu-central-1" })] });
    const config = { create: true, name: "lakehead-tables", prefix: "", encryption: "AES256", forceDestroy: false, versioning: true };
    const parent = { parent: this };
    new Bucket("tables", { config: { ...config, noncurrentDays: 7 }, place: ${JSON.stringify(place)}, protect: false }, parent);
    const policies = { read: JSON.stringify({
        Version: "2012-10-17",
        Statement: [{ Effect: "Allow", Action: "s3:ListBucket", Resource: "arn:aws:s3:::lakehead-tables" }],
      }) };
    const names = { roleName: "lakehead-part", description: "Part" };
    new Role("role", { ...names, trust: serviceTrust("eks.amazonaws.com"), policies }, parent);
    new aws.cloudwatch.LogGroup("logs", { name: "/lakehead/part", retentionInDays: 7 }, parent);
  }
}
new Part();
export const token = new pulumi.Config().requireSecret("token");
`;

/** Executables by name, each a line of a shell. */
async function writeExecutables(folder: string, lines: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, line] of Object.entries(lines))
    await writeFile(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

const failed = (capture: Capture): Capture => {
  if (capture.failure !== undefined) throw new Error(capture.failure);
  return capture;
};

const trial = {
  "lakehead-bootstrap:account": account,
  "lakehead-bootstrap:bucket": { name: bucket },
  "lakehead-bootstrap:deployers": [],
};

interface Moto {
  readonly endpoint: string;
  readonly capture: Capture;
}

async function withMoto(python: string, test: (moto: Moto) => Promise<void>): Promise<void> {
  const server = startProcess(python, [here("server.py"), "{}"], {
    PYTHONDONTWRITEBYTECODE: "1",
    MOTO_ACCOUNT_ID: account,
  });
  try {
    const [, port] = await server.printed(/^(\d+)\n/);
    const capture = failed(await runBootstrap("aws", "update", trial));
    await test({ endpoint: `http://127.0.0.1:${port}`, capture });
  } finally {
    server.child.kill("SIGKILL");
    await server.exited();
  }
}

async function checkProfiles(python: string, { endpoint, capture }: Moto): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-profiles-"));
  try {
    for (const principals of [[], [`arn:aws:iam::${account}:user/analyst`]])
      await check(
        `botocore reads the profiles of deployer and client in one file: ${principals.length} principals`,
        async () => {
          const stack = failed(
            await runStack("aws-dev", "update", {
              "lakehead:account": account,
              "lakehead:deployerArn": `arn:aws:iam::${account}:role/lakehead-aws-dev`,
              "lakehead:viewerArns": [],
              "lakehead:auditorArns": [],
              "lakehead:client": { principals },
            }),
          );
          const { outputs = {} } = stack.resources.find(({ kind }) => kind === "stack") ?? {};
          const file = join(folder, "config");
          const own =
            "[default]\naws_access_key_id = planted\naws_secret_access_key = planted\nregion = eu-central-1\n";
          await writeFile(
            file,
            [
              own,
              printed(capture).deployerCredentials.replaceAll(/\d{12}/g, account),
              String(outputs.clientCredentials),
            ].join("\n"),
          );
          const { stdout } = await run(python, [here("profiles.py"), endpoint, file]);
          const callers = JSON.parse(stdout) as Record<string, string>;
          const expected = {
            "lakehead-aws-dev": "lakehead-aws-dev",
            "lakehead-aws-prod": "lakehead-aws-prod",
            "lakehead-aws-dev-client": "geneva-client-role",
          };
          const wrong = Object.entries(expected).filter(
            ([profile, role]) => !callers[profile]?.includes(`:assumed-role/${role}/`),
          );
          return wrong.length === 0 ? undefined : stdout;
        },
      );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checkState(python: string, engine: string, { endpoint, capture }: Moto): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-bootstrap-"));
  try {
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
    for (const name of ["project", "project/bootstrap", "home", "bin", "state"]) await mkdir(join(folder, name));
    await writeFile(join(folder, "home", "logs"), "");
    await symlink(process.execPath, join(folder, "bin", "node"));
    await writeExecutables(join(folder, "bin"), {
      npx: 'exec "$@"',
      gh: `echo "$*" >> ${join(folder, "gh.log")}`,
      "pulumi-resource-aws": `exec ${process.execPath} ${here("provider.ts")} ${python}`,
    });
    await symlink(join(root, "node_modules"), join(project, "node_modules"));
    await writeFile(join(project, "package.json"), '{ "type": "module" }\n');
    await writeFile(join(project, "program.ts"), program);
    const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
    await writeFile(join(project, "Pulumi.yaml"), `name: lakehead\nmain: program.ts\n${runtime}`);
    await writeFile(join(project, "bootstrap", "program.ts"), 'export const made = "planted";\n');
    await writeFile(
      join(project, "bootstrap", "Pulumi.yaml"),
      `name: lakehead-bootstrap\nmain: program.ts\n${runtime}`,
    );

    const environment = (backend?: string) => ({
      PATH: [join(folder, "bin"), engine, here("../e2e/support/bin"), process.env.PATH].join(delimiter),
      HOME: folder,
      PULUMI_HOME: join(folder, "home"),
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ...(backend === undefined ? {} : { PULUMI_BACKEND_URL: backend }),
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: "eu-central-1",
      AWS_DEFAULT_REGION: "eu-central-1",
      AWS_EC2_METADATA_DISABLED: "true",
      ...settingsEnvironment({
        folder,
        apiHost: "127.0.0.1:1",
        apiCa: "none",
        apiToken: "none",
        account,
        principal: "",
        minute: 0,
        fail: undefined,
      }),
    });
    const shell = (env: NodeJS.ProcessEnv, file: string, args: readonly string[]) =>
      run(file, [...args], { cwd: project, env }).then(
        ({ stdout, stderr }) => ({ code: 0, output: `${stdout}${stderr}` }),
        (error: { code?: number; stdout?: string; stderr?: string }) => ({
          code: error.code ?? 1,
          output: `${error.stdout}${error.stderr}`,
        }),
      );
    const command = (env: NodeJS.ProcessEnv, args: readonly string[]) =>
      shell(env, "pulumi", [...args, "--non-interactive"]);
    const administrator = {
      ...environment(),
      PULUMI_CONFIG_PASSPHRASE: "planted",
      AWS_ACCESS_KEY_ID: "planted",
      AWS_SECRET_ACCESS_KEY: "planted",
    };

    await check(
      "the printed script, run in a shell, moves the program's own state and creates the stacks",
      async () => {
        const own = ["--stack", "aws", "--cwd", "bootstrap"];
        for (const args of [
          ["login", `file://${join(folder, "state")}`],
          ["stack", "init", ...own],
          ["up", "--yes", ...own],
        ]) {
          const { code, output } = await command(administrator, args);
          if (code !== 0) return `pulumi ${args.join(" ")}: exit code ${code}\n${output}`;
        }
        const script = Object.entries(keys).reduce((text, [made, arn]) => text.replaceAll(made, arn), commands);
        await writeFile(join(folder, "commands.sh"), script);
        // Twice: a stack that is added later gets its state by the same script.
        for (const [time, backend] of [
          ["first", `file://${join(folder, "state")}`],
          ["second", `s3://${bucket}/bootstrap?region=eu-central-1`],
        ] as const) {
          await command(administrator, ["login", backend]);
          const { code, output } = await shell(administrator, "sh", [join(folder, "commands.sh")]);
          if (code !== 0) return `the ${time} time: exit code ${code}\n${output}`;
        }
        const said = await readFile(join(folder, "gh.log"), "utf8");
        const moved = { ...administrator, PULUMI_BACKEND_URL: `s3://${bucket}/bootstrap?region=eu-central-1` };
        const { code, output } = await command(moved, ["preview", "--expect-no-changes", ...own]);
        return code === 0 && said.includes("variable set STACKS") ? undefined : `${said}\n${output}`;
      },
    );
    await check("the stack's file has its key, for a commit", async () => {
      const text = await readFile(join(project, "Pulumi.aws-dev.yaml"), "utf8");
      return /^secretsprovider: awskms:/m.test(text) ? undefined : text;
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

    await check("the deployer selects the stack that the script created", () =>
      passes("aws-dev", ["stack", "select", "aws-dev"]),
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
    await rm(folder, { recursive: true, force: true });
  }
}

const { python, missing } = await pythonWith(here("../preflight/requirements.txt"), print);
if (python === undefined) {
  count.skipped++;
  print(`skipped: ${missing}`);
} else
  await withMoto(python, async (moto) => {
    await checkProfiles(python, moto);
    if (unbuilt(["pulumi"]).length === 0) return checkState(python, await goPart("pulumi", print), moto);
    count.skipped++;
    print("skipped: Pulumi's engine is not built: run npm run build:e2e");
  });
print(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
if (count.failed > 0) process.exitCode = 1;
