/**
 * `npm run test:geneva`: what the stacks output for Geneva's client, against the client itself. It resolves and installs the
 * emitted requirements from PyPI, and runs the emitted programs with the installed client until they create their RayCluster.
 * The client's license is proprietary: it is installed and called, and nothing of it is here.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ClientParameters } from "../../infra/model/client-parameters.ts";
import { defaultFunction, defaultJob } from "../../infra/model/fit.ts";
import { ray } from "../../infra/versions.ts";
import { cachePath } from "../../tools/parts/cache.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { manifests } from "../infra/kubernetes/manifests.ts";
import { parametersOf } from "../infra/program/checks/client.ts";
import { runStack } from "../support/infra/stacks.ts";

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const count = { passed: 0, failed: 0, skipped: 0 };

const conclude = (what: string, faults: readonly string[]): void => {
  count[faults.length === 0 ? "passed" : "failed"]++;
  print(
    `${faults.length === 0 ? "ok     " : "FAILED "} ${what}${faults.map((fault) => `\n          ${fault}`).join("")}`,
  );
};
const unless = (condition: boolean, fault: string): string[] => (condition ? [] : [fault]);

interface Outputs {
  readonly clientSnippet: string;
  readonly clientRequirements: string;
  readonly clientCredentials: string;
}
interface Stack {
  readonly stack: string;
  readonly outputs: Outputs;
  readonly parameters: ClientParameters;
  readonly profile: string | undefined;
}

async function outputsOf(stack: string): Promise<Stack> {
  const capture = await runStack(stack, "update");
  if (capture.failure !== undefined) throw new Error(`${stack}: ${capture.failure}`);
  const outputs = capture.resources.find(({ kind }) => kind === "stack")?.outputs as Outputs | undefined;
  if (outputs === undefined || manifests(capture).length === 0) throw new Error(`${stack}: no outputs`);
  const profile = /^\[profile (.+)\]$/m.exec(outputs.clientCredentials)?.[1];
  return { stack, outputs, parameters: parametersOf(capture), profile };
}

/** What a Python program prints, given JSON on its standard input. */
async function call(python: string, args: readonly string[], input: unknown): Promise<string> {
  const child = spawn(python, [...args], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(input));
  const [out, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  for await (const chunk of child.stdout) out.push(chunk as Buffer);
  const text = Buffer.concat(out).toString("utf8");
  if (text.trim() === "") throw new Error(Buffer.concat(errors).toString("utf8").slice(-2000));
  return text;
}

async function withFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-geneva-"));
  try {
    const file = join(folder, "requirements.txt");
    await writeFile(file, text);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const lastLines = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split("\n").slice(-6).join(" ");
};

/** What does not resolve for the pods' Python; undefined when it does. */
const unresolved = (uv: string, text: string): Promise<string | undefined> =>
  withFile(text, (file) =>
    run(uv, ["pip", "compile", "--quiet", "--native-tls", "--python-version", ray.python, file], {
      maxBuffer: 2 ** 24,
    }).then(() => undefined, lastLines),
  );

/** An interpreter with the packages, made once for its requirements. */
async function installed(uv: string, requirements: string): Promise<{ python?: string; missing?: string }> {
  const key = createHash("sha256").update(requirements).digest("hex").slice(0, 12);
  const home = cachePath(`geneva-${key}`);
  const complete = join(home, "complete");
  const python = join(home, "bin", "python");
  if (existsSync(complete)) return { python };
  print(`installing the client's requirements into ${home} (once) …`);
  try {
    await mkdir(dirname(home), { recursive: true });
    // With pyenv, the name of an interpreter on PATH works only where its version is selected.
    const env = { ...process.env, PYENV_VERSION: ray.python };
    await run(uv, ["venv", "--quiet", "--clear", "--no-python-downloads", "--python", ray.python, home], { env });
    await withFile(requirements, (file) =>
      run(uv, ["pip", "install", "--quiet", "--native-tls", "--python", python, "-r", file], { maxBuffer: 2 ** 24 }),
    );
    await writeFile(complete, "");
    return { python };
  } catch (error) {
    return { missing: lastLines(error) };
  }
}

interface Seen {
  readonly calls: readonly string[];
  readonly roles: readonly string[];
  readonly posted: RayCluster | null;
  readonly database: Readonly<Record<string, unknown>> | null;
  readonly faults: readonly string[];
  readonly keywords: number;
  readonly error: string | null;
  readonly job: { readonly function: number; readonly cpus: number; readonly memory: number };
}
interface RayCluster {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly headGroupSpec: Group;
    readonly workerGroupSpecs: readonly (Group & { readonly groupName: string; readonly replicas: number })[];
  };
}
interface Group {
  readonly template: {
    readonly spec: {
      readonly serviceAccountName: string;
      readonly nodeSelector: Readonly<Record<string, string>>;
      readonly containers: readonly { readonly image: string }[];
    };
  };
}

function judgeCluster({ parameters }: Stack, posted: RayCluster | null): string[] {
  if (posted === null) return ["no RayCluster was created"];
  const { headGroupSpec, workerGroupSpecs } = posted.spec;
  const groups = [parameters.head_group, ...parameters.worker_groups];
  const pods = [headGroupSpec, ...workerGroupSpecs].map(({ template }) => template.spec);
  const same = (what: string, found: unknown, wanted: unknown): string[] =>
    unless(
      JSON.stringify(found) === JSON.stringify(wanted),
      `${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`,
    );
  return [
    ...same("name", posted.metadata.name, parameters.name),
    ...same("namespace", posted.metadata.namespace, parameters.namespace),
    ...same(
      "replicas",
      workerGroupSpecs.map(({ replicas }) => replicas),
      parameters.worker_groups.map((group) => group.replicas),
    ),
    ...same(
      "selectors",
      pods.map(({ nodeSelector }) => nodeSelector),
      groups.map((group) => group.node_selector),
    ),
    ...same(
      "accounts",
      pods.map((pod) => pod.serviceAccountName),
      groups.map((group) => group.service_account),
    ),
    ...same(
      "images",
      pods.map(({ containers }) => containers[0]?.image),
      groups.map((group) => group.image),
    ),
  ];
}

async function judgeProgram(python: string, one: Stack): Promise<void> {
  const { stack, outputs, parameters, profile } = one;
  const given = {
    snippet: outputs.clientSnippet,
    credentials: profile === undefined ? "" : outputs.clientCredentials,
    profile,
  };
  // The client prints, too.
  const printed = await call(python, ["-P", join(here, "client.py")], given);
  const seen = JSON.parse(printed.trim().split("\n").at(-1) ?? "") as Seen;
  conclude(`${stack}: the client knows the ${seen.keywords} keywords and the names of the program`, [
    ...seen.faults,
    ...unless(seen.keywords > 20, "the program was not read"),
  ]);
  conclude(`${stack}: the program creates the RayCluster of the parameters`, [
    ...judgeCluster(one, seen.posted),
    ...unless(seen.error === null, `it ended with ${seen.error}`),
  ]);
  if (profile !== undefined) {
    const role = `:role/${parameters.role_name}`;
    conclude(`${stack}: under the profile the client assumes the client role, and from it itself`, [
      ...unless(
        seen.roles.length >= 2 && seen.roles.every((arn) => arn.endsWith(role)),
        `assumed ${seen.roles.join()}`,
      ),
      ...unless(seen.calls.includes(`GET /clusters/${parameters.cluster_name}`), "it did not describe the cluster"),
    ]);
  }
  const { memory, cpus } = seen.job;
  conclude(`${stack}: a default job requests what the plan-time check assumes`, [
    ...unless(seen.job.function === defaultFunction.memoryBytes, `a function requests ${seen.job.function} bytes`),
    ...unless(
      Math.abs(cpus - defaultJob.cpus) < 1e-9 && memory === defaultJob.memoryBytes,
      `a job requests ${cpus}, ${memory}`,
    ),
  ]);
}

async function judgeStorage(python: string): Promise<void> {
  const opened = (options: Readonly<Record<string, string>>) =>
    run(python, ["-P", join(here, "impersonation.py"), JSON.stringify(options)]).then(({ stdout }) => stdout.trim());
  const plain = await opened({});
  conclude("Lance's own client of Google's storage refuses impersonated credentials", [
    ...unless(plain.includes("unknown variant `impersonated_service_account`"), `${plain}: leave use_opendal out`),
  ]);
  const opendal = await opened({ use_opendal: "true" });
  conclude("with use_opendal it reads them", [
    ...unless(opendal.includes("failed to load signing credential"), opendal),
  ]);
}

const uvPython = await pythonWith(join(here, "requirements.txt"), print);
if (uvPython.python === undefined) {
  count.skipped++;
  print(`skipped: ${uvPython.missing}`);
} else {
  const uv = join(dirname(uvPython.python), "uv");
  const stacks: Stack[] = [];
  for (const stack of ["aws-dev", "gcp-dev", "local"]) stacks.push(await outputsOf(stack));
  for (const { stack, outputs } of stacks) {
    const fault = await unresolved(uv, outputs.clientRequirements);
    conclude(`${stack}: the requirements resolve for Python ${ray.python}`, fault === undefined ? [] : [fault]);
  }
  const requirements = stacks[0]?.outputs.clientRequirements ?? "";
  const planted = await unresolved(uv, requirements.replace(/^(ray\S*)==.*$/m, "$1==2.53.0"));
  conclude("uv finds a Ray that the client refuses", unless(planted?.includes("2.53.0") === true, `${planted}`));
  const { python, missing } = await installed(uv, requirements);
  if (python === undefined) {
    count.skipped++;
    print(`skipped: the client with Python ${ray.python}: ${missing}`);
  } else {
    for (const stack of stacks) await judgeProgram(python, stack);
    await judgeStorage(python);
  }
}
print(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exitCode = count.failed > 0 ? 1 : 0;
