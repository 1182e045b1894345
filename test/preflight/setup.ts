/** `npm run setup` as a process, against moto's server of AWS and without a cloud. */

import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { bootstrapDefinition } from "../../bootstrap/config.ts";
import { parseConfig } from "../../infra/config/parse.ts";
import { findPlaceholders } from "../../infra/config/placeholders.ts";
import { mask } from "../../infra/offline-plan/values.ts";
import { root as repository, runBootstrap } from "../support/infra/stacks.ts";
import { startProcess } from "../support/process.ts";

export type Check = (title: string, test: () => Promise<string | undefined>) => Promise<void>;

const program = fileURLToPath(new URL("../../infra/setup/main.ts", import.meta.url));
const terminal = fileURLToPath(new URL("terminal.py", import.meta.url));
const given = ["--issuer", "https://login.tables.invalid/", "--repository", "octocat/tables"];

/** A copy of the files that the command reads and writes. */
class Copy {
  readonly #environment: Readonly<Record<string, string>>;
  folder = "";

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  async open(): Promise<this> {
    this.folder = await mkdtemp(join(tmpdir(), "lakehead-setup-"));
    for (const name of ["Pulumi.yaml", "Pulumi.aws-dev.yaml", "Pulumi.gcp-dev.yaml", "Pulumi.local.yaml"])
      await this.#take(name);
    for (const name of ["Pulumi.aws.yaml", "Pulumi.gcp.yaml"]) await this.#take(join("bootstrap", name));
    return this;
  }

  async #take(name: string): Promise<void> {
    await mkdir(dirname(join(this.folder, name)), { recursive: true });
    await cp(join(repository, name), join(this.folder, name));
  }

  text = (name: string): Promise<string> => readFile(join(this.folder, name), "utf8");

  async config(name: string): Promise<Record<string, unknown>> {
    return (parse(await this.text(name)) as { config: Record<string, unknown> }).config;
  }

  async run(command: string, args: readonly string[]) {
    const running = startProcess(command, args, { HOME: this.folder, ...this.#environment });
    const code = await running.exited();
    return { code, output: running.output() };
  }

  setup = (...args: readonly string[]) => this.run(process.execPath, [program, ...args, "--root", this.folder]);

  close = (): Promise<void> => rm(this.folder, { recursive: true, force: true });
}

const differences = (actual: unknown, expected: unknown): string | undefined =>
  JSON.stringify(actual) === JSON.stringify(expected)
    ? undefined
    : `${JSON.stringify(actual)}\nis not\n${JSON.stringify(expected)}`;

export async function checkSetup(
  check: Check,
  python: string,
  account: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const within = async (test: (copy: Copy) => Promise<string | undefined>): Promise<string | undefined> => {
    const copy = await new Copy(environment).open();
    try {
      return await test(copy);
    } finally {
      await copy.close();
    }
  };
  const aws = ["aws-dev", "--yes", "--cidrs", "9.9.7.0/24", "--region", "eu-west-1", ...given];

  await check("setup finds out account, caller, zones and quotas, and writes both files", () =>
    within(async (copy) => {
      const { code, output } = await copy.setup(...aws);
      const expected = [
        /^ok +caller: \S+assumed-role\/other\/trial in account 210987654321$/m,
        /^ok +zones: a,b$/m,
        /^(ok|WRONG) +quota /m,
      ];
      const missing = expected.filter((line) => !line.test(output));
      if (code !== 0 || missing.length > 0) return `exit code ${code}, without ${missing.join(", ")}\n${output}`;
      const config = await copy.config("Pulumi.aws-dev.yaml");
      const role = (name: string): string => `arn:aws:iam::${account}:role/${name}`;
      const fault = differences(
        ["region", "account", "deployerArn", "viewerArns", "auditorArns", "client", "endpoint", "bucket"].map(
          (key) => config[`lakehead:${key}`],
        ),
        [
          "eu-west-1",
          account,
          role("lakehead-aws-dev"),
          [role("lakehead-aws-dev-preview")],
          [role("lakehead-aws-dev-drift")],
          { principals: [role("other")] },
          { publicCidrs: ["9.9.7.0/24"] },
          { name: `lakehead-${account}-aws-dev`, prefix: "lance", noncurrentDays: 7 },
        ],
      );
      const comments = (text: string): number => text.split("\n").filter((line) => /^\s*#/.test(line)).length;
      const example = await readFile(join(repository, "Pulumi.aws-dev.yaml"), "utf8");
      const kept = comments(await copy.text("Pulumi.aws-dev.yaml")) === comments(example);
      return fault ?? (kept ? undefined : "a comment is lost");
    }),
  );

  await check("the program of bootstrap/ takes its file, and makes the roles that the stack's file names", () =>
    within(async (copy) => {
      const { code, output } = await copy.setup(...aws);
      if (code !== 0) return output;
      const written = await copy.config("bootstrap/Pulumi.aws.yaml");
      const raw = Object.fromEntries(Object.entries(written).map(([key, value]) => [key.split(":")[1] ?? "", value]));
      parseConfig(bootstrapDefinition, raw, { found: findPlaceholders(raw) });
      const { resources, failure } = await runBootstrap("aws", "update", written);
      if (failure !== undefined) return failure;
      const outputs = mask(resources.find(({ kind }) => kind === "stack")?.outputs ?? {}) as {
        stackKeys?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      };
      const keys = outputs.stackKeys?.["aws-dev"] ?? {};
      const config = await copy.config("Pulumi.aws-dev.yaml");
      const names = Object.keys(keys);
      const plain = (name: string): string => name.replace(/^lakehead:/, "");
      return names.length < 3
        ? JSON.stringify(outputs)
        : differences(
            names.map((name) => config[`lakehead:${plain(name)}`]),
            // The recorded run makes up the ARNs, in an account of its own.
            JSON.parse(JSON.stringify(Object.values(keys)).replaceAll(/(?<=::)\d{12}(?=:)/g, account)),
          );
    }),
  );

  await check("a second run changes nothing", () =>
    within(async (copy) => {
      await copy.setup(...aws);
      const names = ["Pulumi.aws-dev.yaml", "bootstrap/Pulumi.aws.yaml"];
      const before = await Promise.all(names.map(copy.text));
      const { code, output } = await copy.setup(...aws);
      const same = differences(await Promise.all(names.map(copy.text)), before);
      return code === 0 && output.match(/nothing to change/g)?.length === 2 ? same : output;
    }),
  );

  const refused: readonly (readonly [title: string, args: readonly string[], RegExp])[] = [
    [
      "a value that nobody gave",
      aws.filter((part) => !part.includes("issuer") && !part.includes("login.")),
      /--issuer is missing/,
    ],
    [
      "a value that the schema refuses",
      [...aws, "--bucket", "Tables_Of_Ours"],
      /lakehead:bucket\.name = "Tables_Of_Ours": .*; .*\(--bucket\)/,
    ],
    [
      "a placeholder",
      [...aws, "--audience", "example.com"],
      /lakehead:tableService\.auth\.audience = "example\.com": .*\(--audience\)/,
    ],
    [
      "a repository of another form",
      [...aws, "--repository", "tables"],
      /--repository "tables": write <owner>\/<repository>/,
    ],
    [
      "an option of another cloud",
      [...aws, "--project", "tables"],
      /--project is no option of a stack of the cloud aws/,
    ],
    ["a stack without an example", ["azure-dev", "--yes"], /the stack "azure-dev" has no file and no example/],
  ];
  for (const [title, args, message] of refused)
    await check(`setup writes nothing, and names the option: ${title}`, () =>
      within(async (copy) => {
        const names = ["Pulumi.aws-dev.yaml", "bootstrap/Pulumi.aws.yaml"];
        const before = await Promise.all(names.map(copy.text));
        const { code, output } = await copy.setup(...args);
        const same = differences(await Promise.all(names.map(copy.text)), before);
        return code !== 0 && message.test(output) ? same : `exit code ${code}\n${output}`;
      }),
    );

  await check("in a terminal it asks for what it did not find out, and repeats a question with the reason", () =>
    within(async (copy) => {
      const command = [process.execPath, program, "aws-dev", "--root", copy.folder, "--cidrs", "9.9.7.0/24"];
      const answers = {
        "? Region": "",
        "? Bucket for the tables": "",
        "? IAM roles and users": "",
        "? Issuer": "http://nowhere",
        "lakehead:tableService.auth.issuer = ": "\u0015https://login.tables.invalid/",
        "? Audience": "",
        "? Repository": "octocat/tables",
        "? Write these files?": "",
      };
      const { code, output } = await copy.run(python, [terminal, JSON.stringify({ command, answers })]);
      const config = await copy.config("Pulumi.aws-dev.yaml");
      const { auth } = config["lakehead:tableService"] as { auth?: unknown };
      return code === 0 && output.includes("not asked: []")
        ? differences(auth, { issuer: "https://login.tables.invalid/", audience: "lakehead-dev" })
        : `exit code ${code}\n${output}`;
    }),
  );

  await check("setup of a Google project goes on without gcloud, where every value is given", () =>
    within(async (copy) => {
      const place = [
        "--project",
        "tables-of-ours",
        "--region",
        "europe-west1",
        "--zones",
        "europe-west1-b,europe-west1-c",
      ];
      const { code, output } = await copy.setup(
        "gcp-dev",
        "--yes",
        ...place,
        "--members",
        "group:data@tables.invalid",
        ...given,
      );
      const config = await copy.config("Pulumi.gcp-dev.yaml");
      const { system, gpu } = config["lakehead:nodes"] as Record<string, { zones: unknown } | undefined>;
      return code === 0
        ? differences([system?.zones, gpu?.zones], [["europe-west1-b"], ["europe-west1-b", "europe-west1-c"]])
        : output;
    }),
  );

  await check("setup of a cluster that exists writes context and issuer", () =>
    within(async (copy) => {
      const { code, output } = await copy.setup("local", "--yes", "--context", "k3d-trial", ...given.slice(0, 2));
      const config = await copy.config("Pulumi.local.yaml");
      return code === 0 ? differences(config["lakehead:context"], "k3d-trial") : output;
    }),
  );
}
