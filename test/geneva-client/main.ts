/**
 * `npm run test:geneva`: what the stacks output for Geneva's client, against the client itself. It resolves and installs the
 * emitted requirements from PyPI, and runs the emitted programs with the installed client until they create their RayCluster.
 * The client's license is proprietary: it is installed and called, and nothing of it is here.
 */
import { execFile, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ClientParameters } from "../../infra/model/client-parameters.ts";
import { type Amount, defaultFunction, defaultJob } from "../../infra/model/fit.ts";
import { parseMemory } from "../../infra/model/quantity.ts";
import { ray } from "../../infra/versions.ts";
import { findingsFor } from "../infra/config/minimal.ts";
import { manifests } from "../infra/kubernetes/manifests.ts";
import { parametersOf } from "../infra/program/checks/client.ts";
import { startMotoServer } from "../stores/moto.ts";
import { runStack } from "../support/infra/stacks.ts";
import { bucketName } from "../support/object-store.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { type Job, operationsByCatalog, runByCatalog } from "./catalog.ts";
import { findUv, installClient, unresolved } from "./install.ts";

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

interface Seen {
  readonly calls: readonly string[];
  readonly roles: readonly string[];
  readonly posted: RayCluster | null;
  readonly database: Readonly<Record<string, unknown>> | null;
  readonly faults: readonly string[];
  readonly keywords: number;
  readonly error: string | null;
  /** The client's own calculation for a function without sizes. */
  readonly job: { readonly function: Requests } & Requests;
  /** Whether the client refuses that job, for each of the workers. */
  readonly refused: readonly boolean[];
}
interface Requests {
  readonly cpus: number;
  readonly memory: number;
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

/** Sizes around what a job with default sizes needs. */
const workerSizes = [1, 1.5, 2].flatMap((cpus) =>
  ["4Gi", "5Gi", "6Gi"].flatMap((memory) => [1, 2].map((maxReplicas) => ({ cpus, memory, maxReplicas }))),
);

/** Whether the plan-time check warns of the workers. */
const warns = (cpuWorkers: object): boolean =>
  findingsFor("aws", { ray: { cpuWorkers } }).some((finding) =>
    finding.includes("a job of the client with default sizes"),
  );

async function judgeProgram(python: string, one: Stack): Promise<void> {
  const { stack, outputs, parameters, profile } = one;
  const given = {
    snippet: outputs.clientSnippet,
    credentials: profile === undefined ? "" : outputs.clientCredentials,
    profile,
    workers: workerSizes.map(({ memory, ...sizes }) => ({ ...sizes, memory: parseMemory(memory) })),
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
  conclude(`${stack}: a default job requests what the plan-time check assumes`, [
    ...unequal("a function", seen.job.function, defaultFunction),
    ...unequal("a job", seen.job, defaultJob),
  ]);
  const differing = workerSizes.filter((sizes, at) => warns(sizes) !== seen.refused[at]);
  const refused = seen.refused.filter(Boolean).length;
  conclude(`${stack}: the plan-time check warns of the workers on which the client refuses that job`, [
    ...unless(
      seen.refused.length === workerSizes.length && refused > 0 && refused < workerSizes.length,
      "it has no opinion",
    ),
    ...differing.map((sizes) => `they differ on ${JSON.stringify(sizes)}`),
  ]);
}

const unequal = (what: string, { cpus, memory }: Requests, assumed: Amount): string[] =>
  unless(
    Math.abs(cpus - assumed.cpus) < 1e-9 && memory === assumed.memoryBytes,
    `${what} requests ${cpus} CPUs and ${memory} bytes`,
  );

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

/** How a program ended that ran to its end. */
interface Ended {
  readonly created: boolean;
  readonly deleted: boolean;
  readonly exit: number | string | null;
  readonly output: string;
}

/** The stack `local` with its tables on an S3 server. */
async function onObjectStore(endpoint: string) {
  const keys = JSON.stringify({ aws_access_key_id: "lakehead", aws_secret_access_key: "of-no-account" });
  const options = { region: "us-east-1", endpoint, allow_http: "true" };
  const uri = `s3://${bucketName}/lance`;
  const capture = await runStack(
    "local",
    "update",
    {
      "lakehead:database": { uri, storageOptions: options },
      // Port-forwarding takes a kubelet.
      "lakehead:client": { portForwarding: false },
    },
    { "lakehead:storageOptions": keys },
  );
  if (capture.failure !== undefined) throw new Error(capture.failure);
  const outputs = capture.resources.find(({ kind }) => kind === "stack")?.outputs as Outputs | undefined;
  if (outputs === undefined) throw new Error("local: no outputs");
  return { uri, keys, options: { ...options, ...JSON.parse(keys) }, snippet: outputs.clientSnippet };
}

/** Runs a program to its end on Ray. @returns what is wrong with that */
async function runJob(python: string, job: Omit<Job, "mounts"> & Partial<Job>): Promise<readonly string[]> {
  const text = await call(python, ["-P", join(here, "job.py")], {
    ...job,
    // The client refuses a job that the cluster's maximum could not hold. By default it warns and waits.
    environment: { ...job.environment, GENEVA_ADMISSION__STRICT: "true" },
  });
  const ended = JSON.parse(text.trim().split("\n").at(-1) ?? "") as Ended;
  return [
    ...unless(ended.exit === 0, `it ended with ${ended.exit}: ${ended.output.trim().split("\n").slice(-6).join("\n")}`),
    ...unless(ended.output.includes("100 rows computed on the cluster"), "it did not read its result"),
    ...unless(ended.created && ended.deleted, "it left its RayCluster"),
  ];
}

/** A job of `local` runs to its end on Ray, and the table service counts what it computed. */
async function judgeJob(python: string): Promise<void> {
  const store = await startMotoServer(print);
  if (store.base === undefined) {
    count.skipped++;
    print(`skipped: a job on Ray: ${store.missing}`);
    return;
  }
  try {
    const { snippet, uri, keys, options } = await onObjectStore(store.base);
    const begun = performance.now();
    const faults = await runJob(python, { snippet, environment: { LAKEHEAD_STORAGE_OPTIONS: keys }, seconds: 480 });
    const took = Math.round((performance.now() - begun) / 1000);
    conclude(
      `local: the program ends well on Ray ${ray.default}, with one worker of the stack's size, in ${took} s`,
      faults,
    );
    const service = await startReadyServiceProcess({
      environment: { LAKEHEAD_DATABASE: uri, LAKEHEAD_STORAGE_OPTIONS: JSON.stringify(options) },
    });
    try {
      const counted = async (predicate: string) =>
        (await service.call("count_rows", "geneva_sample", { predicate })).body;
      const [all, right] = [await counted("doubled IS NOT NULL"), await counted("doubled = 2 * n")];
      conclude("the table service counts the rows of the job", [
        ...unless(
          all === 100 && right === 100,
          `${JSON.stringify(all)} rows have a value, ${JSON.stringify(right)} the right one`,
        ),
      ]);
    } finally {
      await service.stop();
    }
  } finally {
    await store.stop();
  }
}

async function judgeCatalog(python: string): Promise<void> {
  const judged = await runByCatalog((job) => runJob(python, job), print);
  if ("missing" in judged) {
    count.skipped++;
    print(`skipped: a job with a token alone: ${judged.missing}`);
  } else conclude(`gcp-dev with tableService.catalog: the program ends well on Ray, ${judged.seen}`, judged.faults);
}

async function judgeOperations(python: string): Promise<void> {
  const judged = await operationsByCatalog(python, print);
  if ("missing" in judged) {
    count.skipped++;
    print(`skipped: operations with a token alone: ${judged.missing}`);
  } else conclude(`with a token alone, by namespace: ${judged.seen}`, judged.faults);
}

const { uv, missing: missingUv } = await findUv(print);
if (uv === undefined) {
  count.skipped++;
  print(`skipped: ${missingUv}`);
} else {
  const stacks: Stack[] = [];
  for (const stack of ["aws-dev", "gcp-dev", "local"]) stacks.push(await outputsOf(stack));
  for (const { stack, outputs } of stacks) {
    const fault = await unresolved(uv, outputs.clientRequirements);
    conclude(`${stack}: the requirements resolve for Python ${ray.python}`, fault === undefined ? [] : [fault]);
  }
  const requirements = stacks[0]?.outputs.clientRequirements ?? "";
  const planted = await unresolved(uv, requirements.replace(/^(ray\S*)==.*$/m, "$1==2.53.0"));
  conclude("uv finds a Ray that the client refuses", unless(planted?.includes("2.53.0") === true, `${planted}`));
  const { python, missing } = await installClient(uv, requirements, print);
  if (python === undefined) {
    count.skipped++;
    print(`skipped: the client with Python ${ray.python}: ${missing}`);
  } else {
    for (const stack of stacks) await judgeProgram(python, stack);
    await judgeStorage(python);
    await judgeJob(python);
    await judgeCatalog(python);
    await judgeOperations(python);
  }
}
print(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exitCode = count.failed > 0 ? 1 : 0;
