/**
 * `npm run setup -- <stack>`: finds out what a stack's file must say, asks for what it cannot find out, and writes the file and
 * that of `bootstrap/`. It creates nothing, and no answer is a secret.
 */

import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { type Document, parse, parseDocument } from "yaml";
import { attempt, type Line, ok, renderLine, unknown } from "../check-line.ts";
import { type CloudName, stackDefinition } from "../clouds/schema.ts";
import type { Answers, CloudSetup, Field, Keys } from "../clouds/setup.ts";
import { readArguments, runCommand, UsageError } from "../command-line.ts";
import { parseConfig, rawConfig } from "../config/parse.ts";
import { findPlaceholders } from "../config/placeholders.ts";
import { ConfigError, describeFinding } from "../config/report.ts";
import { flattenConfig, ProjectError, readProject, stackNames } from "../offline-plan/project.ts";

/** A change of a stack's file, whose comments stay. */
interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** `lakehead`, `bucket.name` → `config`, `lakehead:bucket`, `name`. */
const pathOf = (namespace: string, key: string): string[] => {
  const [first, ...rest] = key.split(".");
  return ["config", `${namespace}:${first}`, ...rest];
};

const readKey = (file: Document, namespace: string, key: string): unknown => {
  const value = file.getIn(pathOf(namespace, key));
  return typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
    ? value.toJSON()
    : value;
};

/** The file's text with the keys, and what that changes. */
function withKeys(text: string, namespace: string, keys: Keys): { text: string; changes: readonly Change[] } {
  const file = parseDocument(text);
  const changes = Object.entries(keys)
    .map(([key, after]): Change => ({ key, before: readKey(file, namespace, key), after }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
  for (const { key, after } of changes) {
    const path = pathOf(namespace, key);
    if (after === undefined) file.deleteIn(path);
    else file.setIn(path, file.createNode(after, { flow: true }));
  }
  return { text: changes.length === 0 ? text : file.toString({ lineWidth: 0 }), changes };
}

const usage = `usage: npm run setup -- <stack> [options]

  --yes              ask nothing: every value is given, found, or in the file already
  --region, --bucket, --issuer, --audience, --repository, --state-bucket
  --account, --zones, --cidrs, --principals, --deployer          on AWS; lists with commas
  --project, --zones, --members                                  on Google Cloud
  --context                                                      on a cluster that exists
  --root <folder>    the project's folder (default: this repository)

The secrets of a stack are none of these: npx pulumi config set --secret. See docs/stack-configuration.md.
`;

const clouds: Readonly<Record<CloudName, () => Promise<CloudSetup>>> = {
  aws: async () => (await import("../clouds/aws/setup.ts")).awsSetup,
  gcp: async () => (await import("../clouds/gcp/setup.ts")).gcpSetup,
  kubeconfig: async () => (await import("../clouds/existing/setup.ts")).existingSetup,
};

const options = [
  ...["region", "bucket", "issuer", "audience", "repository", "state-bucket", "account", "zones", "cidrs"],
  ...["principals", "deployer", "project", "members", "context"],
];

const print = (text: string): boolean => process.stdout.write(`${text}\n`);
const isMissing = (value: string | undefined): value is undefined => value === undefined || value === "";

/** The file of a stack, or of the example that a new one begins with: `aws-prod` for `aws-eu-prod`, else `aws-dev`. */
function readStackFile(root: string, stack: string): string {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stack))
    throw new UsageError(`"${stack}" is no name of a stack: write lower-case letters, digits and inner hyphens`);
  const [cloud = ""] = stack.split("-");
  const example = [stack, `${cloud}-${stack.endsWith("-prod") ? "prod" : "dev"}`]
    .map((name) => join(root, `Pulumi.${name}.yaml`))
    .find(existsSync);
  if (example !== undefined) return readFileSync(example, "utf8");
  throw new ProjectError(
    `the stack "${stack}" has no file and no example: begin its name with aws- or gcp-, or choose one of ${stackNames(root).join(", ")}`,
  );
}

/** What the schema and the checks refuse in a text. */
function findingsIn(root: string, text: string) {
  const project = readProject(root);
  const { values, secretKeys } = flattenConfig(project, (parse(text) as { config?: Keys }).config ?? {});
  const raw = rawConfig(stackDefinition, values, project.name);
  const secrets = new Set(secretKeys.map((key) => key.slice(project.name.length + 1)));
  try {
    return {
      config: parseConfig(stackDefinition, raw, { secrets, found: findPlaceholders(raw) }).config,
      findings: [],
    };
  } catch (error) {
    if (error instanceof ConfigError) return { findings: error.findings.filter(({ level }) => level === "error") };
    throw error;
  }
}

/** The repository's numbers, which tokens of GitHub name since July 2026. */
async function readRepository(repository: string): Promise<{ line: Line; keys: Keys }> {
  const found = await attempt(async () => {
    const query = "{ownerId: .owner.id, repositoryId: .id}";
    const { stdout } = await promisify(execFile)("gh", ["api", `repos/${repository}`, "--jq", query], {
      timeout: 20_000,
    });
    return JSON.parse(stdout) as { ownerId: number; repositoryId: number };
  });
  const { ownerId, repositoryId } = "value" in found ? found.value : { ownerId: undefined, repositoryId: undefined };
  return {
    line:
      "value" in found
        ? ok(`repository: ${repository}, number ${repositoryId} of owner ${ownerId}`)
        : unknown(
            `repository: its numbers are not known (${found.failure.trim().split("\n").at(-1)})`,
            "without them the identities trust names alone: gh auth login, then repeat this command",
          ),
    keys: { "github.repository": repository, "github.ownerId": ownerId, "github.repositoryId": repositoryId },
  };
}

const ownRepository = (root: string) =>
  attempt(async () => {
    const { stdout } = await promisify(execFile)("git", ["-C", root, "remote", "get-url", "origin"]);
    const [, repository] = /github\.com[:/]([\w-]+\/[\w.-]+?)(?:\.git)?\s*$/.exec(stdout) ?? [];
    if (repository === undefined) throw new Error("origin is not on github.com");
    return repository;
  });

const shown = (value: unknown): string => (value === undefined ? "none" : JSON.stringify(value));
const printChanges = (file: string, changes: readonly Change[]): void => {
  print(`\n${file}: ${changes.length === 0 ? "nothing to change" : `${changes.length} values`}`);
  for (const { key, before, after } of changes) print(`  ${key}: ${shown(before)} → ${shown(after)}`);
};

async function main(): Promise<void> {
  const { values: given, positionals } = readArguments({
    yes: { type: "boolean", short: "y", default: false },
    ...Object.fromEntries(options.map((name) => [name, { type: "string" }] as const)),
  });
  if (given.help) return void process.stdout.write(usage);
  const [stack, ...more] = positionals;
  if (stack === undefined || more.length > 0) throw new UsageError("name exactly one stack");
  const root = resolve(given.root);
  const text = readStackFile(root, stack);
  const { name: namespace } = readProject(root);
  const cloud = readKey(parseDocument(text), namespace, "cloud") as CloudName;
  const setup = await (
    clouds[cloud] ?? (() => Promise.reject(new ProjectError(`lakehead:cloud = ${cloud}: unknown`)))
  )();
  const { place, fields } = setup;
  const flags = given as Readonly<Record<string, string | boolean | undefined>>;
  const foreign = options.filter(
    (option) => flags[option] !== undefined && ![...place, ...fields].some((field) => field.option === option),
  );
  if (foreign.length > 0) throw new UsageError(`--${foreign[0]} is no option of a stack of the cloud ${cloud}`);
  const interactive = !given.yes && process.stdin.isTTY === true;

  /** What is wrong with an answer, with the key, the value and the remedy. */
  const problemOf = ({ key, form, option }: Field, answer: string, answers: Answers): string | undefined => {
    if (answer === "") return "an answer is required";
    if (form !== undefined) return form[0].test(answer) ? undefined : `--${option} "${answer}": write ${form[1]}`;
    const all = { ...answers, [option]: answer };
    // With the answers before it, because checks compare keys.
    const decided = [...place, ...fields].flatMap((field) =>
      Object.hasOwn(all, field.option) ? (field.key ?? []) : [],
    );
    const isDecided = (name: string): boolean => decided.some((own) => name === own || name.startsWith(`${own}.`));
    const own = Object.fromEntries(Object.entries(setup.stackKeys(stack, all)).filter(([name]) => isDecided(name)));
    const { findings } = findingsIn(root, withKeys(text, namespace, own).text);
    const fault = findings.find((finding) => finding.key === key || finding.key.startsWith(`${key}.`));
    return fault === undefined ? undefined : `${describeFinding(fault).trim()} (--${option})`;
  };

  /** A value that the file already has counts where it is no placeholder. */
  const current = ({ key }: Field): string | undefined => {
    const value = key === undefined ? undefined : readKey(parseDocument(text), namespace, key);
    const isPlain =
      typeof value === "string" || (Array.isArray(value) && value.every((item) => typeof item === "string"));
    return isPlain && findPlaceholders({ value }).length === 0 ? String(value) : undefined;
  };

  const answer = async (wanted: readonly Field[], known: Answers, found: Answers): Promise<Answers> => {
    const answers: Record<string, string> = { ...known };
    for (const field of wanted) {
      const { option, question, asked } = field;
      const flag = flags[option];
      const proposal = typeof flag === "string" ? flag : (current(field) ?? found[option]);
      const isOpen = isMissing(proposal) || (asked && flag === undefined);
      if (interactive && isOpen) {
        const { input } = await import("@inquirer/prompts");
        answers[option] = await input({
          message: question,
          ...(isMissing(proposal) ? {} : { default: proposal }),
          validate: (value) => problemOf(field, value, answers) ?? true,
        });
        continue;
      }
      if (isMissing(proposal)) throw new UsageError(`--${option} is missing, and not found out: ${question}`);
      const problem = problemOf(field, proposal, answers);
      if (problem !== undefined) throw new UsageError(problem);
      answers[option] = proposal;
    }
    return answers;
  };

  const where = await answer(place, {}, await setup.here());
  const { lines, found } = await setup.look(stack, where);
  for (const line of lines) print(renderLine(line));
  const repository = await ownRepository(root);
  const answers = await answer(fields, where, {
    ...found,
    ...("value" in repository ? { repository: repository.value } : {}),
  });

  const own = withKeys(text, namespace, setup.stackKeys(stack, answers));
  const { config, findings } = findingsIn(root, own.text);
  if (config === undefined) throw new ConfigError(findings, namespace);
  const files = [{ name: `Pulumi.${stack}.yaml`, ...own }];

  const bootstrapKeys = setup.bootstrapKeys(stack, answers);
  if (bootstrapKeys !== undefined) {
    const name = `bootstrap/Pulumi.${cloud}.yaml`;
    const before = readFileSync(join(root, name), "utf8");
    const github = await readRepository(answers.repository ?? "");
    print(renderLine(github.line));
    files.push({
      name,
      ...withKeys(before, "lakehead-bootstrap", bootstrapFor(stack, before, bootstrapKeys, github.keys)),
    });
  }
  for (const line of await setup.quotas(config, stack)) print(renderLine(line));
  for (const { name, changes } of files) printChanges(name, changes);
  if (interactive) {
    const { confirm } = await import("@inquirer/prompts");
    if (!(await confirm({ message: "Write these files?", default: true }))) return void print("nothing is written");
  }
  for (const file of files) writeFileSync(join(root, file.name), file.text);
  print(`\nwritten: ${files.map(({ name }) => name).join(", ")}`);
}

/** The program is run once for an account: its file keeps what an earlier stack wrote. @throws UsageError for another account */
function bootstrapFor(stack: string, text: string, keys: Keys, github: Keys): Keys {
  const file = parseDocument(text);
  const read = (key: string) => readKey(file, "lakehead-bootstrap", key);
  const account = "account" in keys ? "account" : "project";
  if (findPlaceholders({ account: read(account) }).length > 0) return { ...keys, ...github, stacks: [stack] };
  if (read(account) !== keys[account])
    throw new UsageError(
      `bootstrap/Pulumi.*.yaml: lakehead-bootstrap:${account} = ${read(account)}, this stack's is ${keys[account]}: copy the file for each`,
    );
  const stacks = read("stacks") as string[];
  return { stacks: stacks.includes(stack) ? stacks : [...stacks, stack] };
}

await runCommand(usage, [ProjectError, ConfigError], main);
