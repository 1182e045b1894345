/**
 * `npm run test:schemas`: what every example stack would create, against what the clouds publish of their own APIs. Nothing here
 * knows what this project thinks of a value: cfn-lint carries AWS's schemas, parliament its actions, and Google's client
 * library the discovery documents.
 */
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Capture } from "../../infra/offline-plan/capture.ts";
import { readProject, readStackConfig } from "../../infra/offline-plan/project.ts";
import { eks } from "../../infra/versions.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { everyKey } from "../support/infra/every-key.ts";
import {
  type ExampleStack,
  exampleStacks,
  functionsSecrets,
  root,
  runBootstrap,
  runStack,
  servingFunctions,
} from "../support/infra/stacks.ts";
import { judgeCharts } from "./charts.ts";
import { type Template, toTemplate } from "./cloudformation.ts";
import { factsScript, judgeMachines, judgePlaces } from "./facts.ts";
import { type Discovery, judgeGoogle } from "./google.ts";
import { judgePermissions } from "./permissions.ts";
import { type Policy, policiesOf } from "./policies.ts";
import type { Posture } from "./scanners/findings.ts";
import { judgePosture } from "./scanners/judge.ts";
import { objectsOf } from "./scanners/objects.ts";
import { toTerraform } from "./terraform.ts";
import { judgeWaits } from "./waits.ts";

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const count = { passed: 0, failed: 0, skipped: 0 };

const conclude = (what: string, faults: readonly string[]): void => {
  if (faults.length === 0) {
    count.passed++;
    print(`ok      ${what}`);
  } else {
    count.failed++;
    print(`FAILED  ${what}\n${faults.map((fault) => `          ${fault}`).join("\n")}`);
  }
};

/** Findings that stay, each with its reason. */
const acceptedRules: Readonly<Record<string, string>> = {
  W3010: "zones are written in the stack's configuration, so that a plan asks the cloud nothing",
};
const acceptedPolicies: readonly { readonly issue: string; readonly detail: RegExp; readonly reason: string }[] = [
  {
    issue: "UNKNOWN_ACTION",
    detail: /^Unknown action elasticloadbalancing:((Create|Delete)WebACLAssociation|GetLoadBalancerWebACL)$/,
    reason: "AWS's schema of a web firewall's association names them; parliament's list is older",
  },
  {
    issue: "UNKNOWN_CONDITION_FOR_ACTION",
    detail:
      /^Unknown condition oidc\.eks\.[\w-]+\.amazonaws\.com\/id\/[0-9A-F]+:(aud|sub) for action sts:AssumeRoleWithWebIdentity$/,
    reason: "the keys of the cluster's own identity provider, which no list of AWS can hold",
  },
  {
    issue: "UNKNOWN_CONDITION_FOR_ACTION",
    detail:
      /^Unknown condition token\.actions\.githubusercontent\.com:(aud|sub|ref|job_workflow_ref|repository_id) for action sts:AssumeRoleWithWebIdentity$/,
    reason: "the keys of GitHub's identity provider; STS compares the last three since January 2026",
  },
  {
    issue: "RESOURCE_POLICY_PRIVILEGE_ESCALATION",
    detail:
      /^Possible resource policy privilege escalation on arn:aws:s3:::\* due to s3:(Get|Put|Delete)Object not being allowed/,
    reason: "the deployer sets the bucket's policy and lifecycle; docs/bootstrap.md says that it is an administrator",
  },
  {
    issue: "RESOURCE_STAR",
    detail: /^\['ec2:GetSecurityGroupsForVpc'\]$/,
    reason: "the load balancer controller's documented policy; the action takes a VPC that is not known to the policy",
  },
];

interface LintMatch {
  readonly Rule: { readonly Id: string };
  readonly Message: string;
  readonly Location: { readonly Path: readonly (string | number)[] | null };
}

async function lint(python: string, template: Template, region: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-schemas-"));
  try {
    const file = join(folder, "template.json");
    await writeFile(file, JSON.stringify(template));
    const args = ["--regions", region, "--format", "json", "--template", file];
    // The exit code counts kinds of findings, which the list says in full.
    const { stdout, stderr } = await run(join(dirname(python), "cfn-lint"), args, { maxBuffer: 64 * 2 ** 20 }).catch(
      (error: { stdout?: string; stderr?: string }) => ({ stdout: error.stdout ?? "", stderr: error.stderr ?? "" }),
    );
    if (stdout.trim() === "") throw new Error(`cfn-lint printed nothing: ${stderr}`);
    return (JSON.parse(stdout) as LintMatch[])
      .filter(({ Rule }) => !(Rule.Id in acceptedRules))
      .map(({ Rule, Message, Location }) => `${Rule.Id} ${(Location.Path ?? []).join(".")}: ${Message}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface PolicyFinding {
  readonly name: string;
  readonly issue: string;
  readonly title: string;
  readonly detail: string;
}

async function python(program: string, args: readonly string[], input = ""): Promise<string> {
  const child = spawn(program, [...args], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(input);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function judgePolicies(program: string, policies: readonly Policy[]): Promise<string[]> {
  const findings = JSON.parse(await python(program, [join(here, "policies.py")], JSON.stringify(policies)));
  return (findings as PolicyFinding[])
    .filter(
      ({ issue, detail }) => !acceptedPolicies.some((known) => known.issue === issue && known.detail.test(detail)),
    )
    .map(({ name, title, detail }) => `${name}: ${title}: ${detail}`);
}

/** Values that are wrong on purpose: a suite that accepts one of them proves nothing. */
const planted: readonly { readonly what: string; readonly type: string; readonly change: Record<string, unknown> }[] = [
  { what: "an AMI type that EKS does not have", type: "AWS::EKS::Nodegroup", change: { AmiType: "AL2024_x86_64" } },
  {
    what: "a capacity type that EKS does not have",
    type: "AWS::EKS::Nodegroup",
    change: { CapacityType: "PREEMPTIBLE" },
  },
  {
    what: "an authentication mode that EKS does not have",
    type: "AWS::EKS::Cluster",
    change: { AccessConfig: { AuthenticationMode: "IAM" } },
  },
  {
    what: "a tag mutability that ECR does not have",
    type: "AWS::ECR::Repository",
    change: { ImageTagMutability: "FIXED" },
  },
  {
    what: "a prefix that ECR refuses",
    type: "AWS::ECR::PullThroughCacheRule",
    change: { EcrRepositoryPrefix: "Docker_Hub-for-a-cluster-of-a-long-name" },
  },
  { what: "a property that the bucket does not have", type: "AWS::S3::Bucket", change: { ForceDestroy: true } },
];

const withChange = (template: Template, type: string, change: Record<string, unknown>): Template => {
  const [id, resource] = Object.entries(template.Resources).find(([, { Type }]) => Type === type) ?? [];
  if (id === undefined || resource === undefined) throw new Error(`no ${type} to plant a fault in`);
  return {
    ...template,
    Resources: {
      ...template.Resources,
      [id]: { ...resource, Properties: { ...resource.Properties, ...(change as typeof resource.Properties) } },
    },
  };
};

/** The examples, with what needs a secret besides, and Functions. */
const complete = (stack: ExampleStack, mode: Capture["mode"]) =>
  runStack(
    stack,
    mode,
    { ...servingFunctions(stack), "lakehead:dockerHub": { cache: true, username: "lakehead" } },
    { ...functionsSecrets, "lakehead:dockerHubToken": "token" },
  );

/** @throws Error with the program's own words when it fails */
const resourcesOf = ({ resources, failure, stack }: Capture): Capture["resources"] => {
  if (failure !== undefined) throw new Error(`${stack}: ${failure}`);
  return resources;
};

type Run = (mode: Capture["mode"]) => Promise<Capture>;

async function judgeAws(program: string, stack: string, runIn: Run, region: string): Promise<void> {
  const resources = resourcesOf(await runIn("update"));
  const { template, unknown } = toTemplate(resources);
  const types = new Set(Object.values(template.Resources).map(({ Type }) => Type));
  const what = `${stack}: ${Object.keys(template.Resources).length} resources of ${types.size} types by cfn-lint`;
  conclude(what, [
    ...unknown.map((type) => `${type}: no row of test/cloud-schemas/cloudformation.ts`),
    ...(await lint(program, template, region)),
  ]);
  const { policies, sampled, faults } = policiesOf(resourcesOf(await runIn("preview")));
  conclude(
    `${stack}: ${policies.length} policies and trusts by parliament, ${sampled.length} with samples for unknowns`,
    [...faults, ...(await judgePolicies(program, policies))],
  );
  if (stack !== "aws-prod") return;
  for (const { what, type, change } of planted) {
    const found = await lint(program, withChange(template, type, change), region);
    conclude(`cfn-lint finds ${what}`, found.length > 0 ? [] : ["it did not"]);
  }
  const wrong = { Statement: [{ Effect: "Allow", Action: ["s3:HeadObject"], Resource: ["arn:aws:s3:::tables/*"] }] };
  const found = await judgePolicies(program, [{ name: "planted", document: wrong }]);
  conclude("parliament finds an action that S3 does not have", found.length > 0 ? [] : ["it did not"]);
  const unknowns = policies.filter(({ name }) => sampled.includes(name) && name.includes("rolePolicy"));
  const spoiled = unknowns.map(({ name, document }) => ({
    name,
    document: {
      Statement: [document.Statement].flat().map((statement) => ({ ...Object(statement), Action: ["kms:Open"] })),
    },
  }));
  const missed = await Promise.all(
    spoiled.map(async (policy) => (await judgePolicies(program, [policy])).length === 0),
  );
  conclude(
    "parliament finds a wrong action in each policy with an unknown inside",
    missed.length > 0 && !missed.includes(true) ? [] : [`${missed.filter(Boolean).length} of ${missed.length} missed`],
  );
}

async function judgeGoogleStack(stack: string, capture: Capture, discovery: Discovery): Promise<void> {
  const resources = resourcesOf(capture);
  const { judged, faults } = judgeGoogle(resources, discovery);
  conclude(`${stack}: ${judged} resources by Google's discovery documents`, faults);
  if (stack !== "gcp-prod") return;
  const wrong = resources.map((resource) =>
    resource.type === "gcp:container/cluster:Cluster"
      ? { ...resource, inputs: { ...resource.inputs, releaseChannel: { channel: "SLOW" }, tier: "x" } }
      : resource,
  );
  const found = judgeGoogle(wrong, discovery).faults.length - faults.length;
  conclude("the documents find a channel and a field that GKE does not have", found === 2 ? [] : [`${found} found`]);
}

const regionOf = (stack: string): string => readStackConfig(readProject(root), stack).values["lakehead:region"] ?? "";

const { python: program, missing } = await pythonWith(join(here, "requirements.txt"), print);
if (program === undefined) {
  count.skipped++;
  print(`skipped: ${missing}`);
} else {
  for (const stack of ["aws-dev", "aws-prod"] as const)
    await judgeAws(program, stack, (mode) => complete(stack, mode), regionOf(stack));
  const variants = Object.entries(everyKey).map(([name, { stack, overrides }]) => ({
    name,
    stack,
    runIn: (mode: Capture["mode"]) => runStack(stack, mode, overrides),
  }));
  for (const { name, stack, runIn } of variants.filter(({ stack }) => stack === "aws-dev"))
    await judgeAws(program, name, runIn, regionOf(stack));
  const { "lakehead:tableService": tableService = "{}" } = readStackConfig(readProject(root), "aws-dev").values;
  const catalog = JSON.stringify({ ...JSON.parse(tableService), writes: true, vending: true, catalog: true });
  await judgeAws(
    program,
    "aws-dev with tableService.catalog",
    (mode) => runStack("aws-dev", mode, { "lakehead:tableService": catalog }),
    regionOf("aws-dev"),
  );
  await judgeAws(program, "bootstrap/aws", (mode) => runBootstrap("aws", mode), regionOf("aws-dev"));
  const permissions = (types: readonly string[]) => python(program, [join(here, "permissions.py"), ...types]);
  for (const { what, faults } of await judgePermissions(permissions)) conclude(what, faults);
  const names = [
    "container.v1",
    "compute.v1",
    "cloudkms.v1",
    "iam.v1",
    "storage.v1",
    "artifactregistry.v1",
    "dns.v1",
    "secretmanager.v1",
    "cloudresourcemanager.v1",
  ];
  const discovery = JSON.parse(await python(program, [join(here, "discovery.py"), ...names])) as Discovery;
  for (const stack of ["gcp-dev", "gcp-prod"] as const)
    await judgeGoogleStack(stack, await complete(stack, "update"), discovery);
  for (const { name, runIn } of variants.filter(({ stack }) => stack === "gcp-dev"))
    await judgeGoogleStack(name, await runIn("update"), discovery);
  await judgeGoogleStack("bootstrap/gcp", await runBootstrap("gcp", "update"), discovery);
  for (const { what, faults } of await judgePlaces((...args) => python(program, [factsScript, ...args])))
    conclude(what, faults);
}
// moto, which the tests of the stores use as their S3, carries EC2's instance types.
const moto = await pythonWith(join(here, "../stores/requirements.txt"), print);
if (moto.python === undefined) {
  count.skipped++;
  print(`skipped: instance types by moto: ${moto.missing}`);
} else {
  const { python: interpreter } = moto;
  for (const { what, faults } of await judgeMachines((...args) => python(interpreter, [factsScript, ...args])))
    conclude(what, faults);
}
const waits = await judgeWaits(print);
if ("missing" in waits) {
  count.skipped++;
  print(`skipped: paths that the Kubernetes provider waits for: ${waits.missing}`);
} else for (const { what, faults } of waits.findings) conclude(what, faults);
const everyChart = await Promise.all([
  runStack("aws-prod", "update"),
  runStack("gcp-prod", "update"),
  runStack("local", "update", {
    "lakehead:monitoring": { mode: "stack", openCost: { enabled: true } },
    "lakehead:nodes": {
      head: { cpus: 4, memory: "8Gi" },
      cpu: { cpus: 4, memory: "8Gi" },
      gpu: { cpus: 16, memory: "64Gi", gpus: 1 },
    },
    "lakehead:quota": { cpus: 64, memory: "256Gi", queue: { mode: "install" } },
  }),
]);
for (const judged of await judgeCharts(everyChart, print)) {
  if ("skipped" in judged) {
    count.skipped++;
    print(`skipped: ${judged.skipped}`);
  } else conclude(judged.what, judged.faults);
}
const postures: Record<string, Posture> = {};
for (const stack of exampleStacks) {
  // On a volume, as in `local`, there are no Functions.
  const capture = await (stack === "local"
    ? runStack(stack, "update")
    : runStack(stack, "update", servingFunctions(stack), functionsSecrets));
  const resources = resourcesOf(capture);
  postures[stack] = {
    objects: objectsOf(capture),
    kubernetesVersion: eks.default,
    ...(stack.startsWith("aws") ? { template: toTemplate(resources).template } : {}),
    ...(stack.startsWith("gcp") ? { terraform: toTerraform(resources) } : {}),
  };
}
for (const judged of await judgePosture(postures, print)) {
  if ("skipped" in judged) {
    count.skipped++;
    print(`skipped: ${judged.skipped}`);
  } else conclude(judged.what, judged.faults);
}
print(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exitCode = count.failed > 0 ? 1 : 0;
