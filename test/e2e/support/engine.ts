/** Pulumi's engine on a project folder and a state of its own, so that the repository and its stacks stay as they are. */

import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse, stringify } from "yaml";
import { goPart } from "../../../tools/parts/control-plane/go.ts";
import { endingWithUs, temporaryFolder } from "./daemon.ts";
import { type Account, accountOf } from "./events.ts";

const exec = promisify(execFile);
const repository = fileURLToPath(new URL("../../../", import.meta.url));
const standIns = fileURLToPath(new URL("./bin/", import.meta.url));

const outer = (process.env.PATH ?? "").split(delimiter);
/** Without npm's own `pulumi`, which downloads the CLI and would stand before the one that is built here. */
const withoutNpm = outer.filter((folder) => !folder.includes(join("node_modules", ".bin")));

/** Whether PATH has a Pulumi CLI that runs, npm's downloader among them. */
export const isPulumiInstalled = (): Promise<boolean> =>
  exec("pulumi", ["version"]).then(
    () => true,
    () => false,
  );

export interface EngineOptions {
  readonly log: (line: string) => void;
  /** Folders of plugins, such as `pulumi-resource-aws`. */
  readonly plugins?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Path of Pulumi's Kubernetes provider, in place of this project's stand-in. */
  readonly kubernetesProvider?: string | undefined;
  /** The `pulumi` of PATH with the plugins that it downloads itself, in place of the one that is built here. */
  readonly installed?: boolean;
}

export interface StackOptions {
  /** The repository's stack whose file it has; default: the one of its own name. */
  readonly like?: string;
  /** Keys of the stack's configuration in place of, or beside, those of `Pulumi.<stack>.yaml`; undefined removes one. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
}

export interface Outcome extends Account {
  readonly ok: boolean;
  readonly seconds: number;
  /** What the CLI printed. */
  readonly output: string;
}

type Operation = "preview" | "up" | "refresh" | "destroy";

/** An operation that failed and was not meant to. */
export class OperationFailed extends Error {
  override readonly name = "OperationFailed";
  readonly outcome: Outcome;

  constructor(operation: Operation, outcome: Outcome) {
    const errors = outcome.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
    const words = errors.length > 0 ? errors.join("\n") : outcome.output.trim().split("\n").slice(-20).join("\n");
    super(`pulumi ${operation} failed:\n${words}`);
    this.outcome = outcome;
  }
}

export class Engine {
  readonly folder: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** What `pulumi version` says. */
  readonly version: string;

  private constructor(folder: string, project: string, env: NodeJS.ProcessEnv, version: string) {
    this.folder = folder;
    this.project = project;
    this.env = env;
    this.version = version;
  }

  /** @throws MissingPart when the CLI can neither be found nor built */
  static async open(options: EngineOptions): Promise<Engine> {
    const { log, plugins = [], env = {}, installed = false, kubernetesProvider } = options;
    const paths = installed
      ? [...plugins, ...outer]
      : [await goPart("pulumi", log), standIns, ...plugins, ...withoutNpm];
    const folder = await temporaryFolder("engine");
    const project = join(folder, "project");
    for (const part of ["project", "state", "home", "bin"]) await mkdir(join(folder, part));
    // The engine keeps a log of every property of every resource, unasked, and takes twice as long for it. There is no
    // option against that, but it goes without where its folder cannot be made.
    await writeFile(join(folder, "home", "logs"), "");
    // The Node that runs the suite, which strips types, whatever `node` the machine has.
    await symlink(process.execPath, join(folder, "bin", "node"));
    if (kubernetesProvider !== undefined)
      await symlink(kubernetesProvider, join(folder, "bin", "pulumi-resource-kubernetes"));
    await copyFile(join(repository, "Pulumi.yaml"), join(project, "Pulumi.yaml"));
    for (const name of ["infra", "service", "node_modules", "package.json", "Dockerfile", ".dockerignore"])
      await symlink(join(repository, name), join(project, name));
    const environment: NodeJS.ProcessEnv = {
      ...process.env,
      PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: "lakehead-e2e",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // Without it the CLI has no --event-log.
      PULUMI_DEBUG_COMMANDS: "true",
      ...(installed ? {} : { PULUMI_HOME: join(folder, "home"), PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" }),
      ...env,
      PATH: [join(folder, "bin"), ...paths].join(delimiter),
    };
    const { stdout } = await exec("pulumi", ["version"], { env: environment });
    return new Engine(folder, project, environment, stdout.trim());
  }

  /** A new stack with the configuration of a stack of the repository. */
  async stack(name: string, { like = name, overrides = {}, secrets = {} }: StackOptions = {}): Promise<Stack> {
    const stack = new Stack(this, name, like);
    await stack.configure(overrides);
    await exec("pulumi", ["stack", "init", name, "--non-interactive"], { cwd: this.project, env: this.env });
    for (const [key, value] of Object.entries(secrets)) await stack.setSecret(key, value);
    return stack;
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const openEngine = (options: EngineOptions): Promise<Engine> => Engine.open(options);

export class Stack {
  readonly engine: Engine;
  readonly name: string;
  readonly #example: string;
  #operations = 0;

  /** @param like the repository's stack whose file it has */
  constructor(engine: Engine, name: string, like: string) {
    this.engine = engine;
    this.name = name;
    this.#example = join(repository, `Pulumi.${like}.yaml`);
  }

  get configFile(): string {
    return join(this.engine.project, `Pulumi.${this.name}.yaml`);
  }

  /** Writes the repository's file of the stack, untouched. */
  async configureExample(): Promise<void> {
    await copyFile(this.#example, this.configFile);
  }

  /** Writes the configuration anew, keeping the secrets and the key they are encrypted with. */
  async configure(overrides: Readonly<Record<string, unknown>>): Promise<void> {
    const original = parse(await readFile(this.#example, "utf8")) as { config: Record<string, unknown> };
    const held = existsSync(this.configFile)
      ? (parse(await readFile(this.configFile, "utf8")) as { config: Record<string, unknown> })
      : { config: {} };
    const isSecret = (value: unknown) => typeof value === "object" && value !== null && "secure" in value;
    const secrets = Object.fromEntries(Object.entries(held.config).filter(([, value]) => isSecret(value)));
    const config = Object.fromEntries(
      Object.entries({ ...original.config, ...overrides, ...secrets }).filter(([, value]) => value !== undefined),
    );
    await writeFile(this.configFile, stringify({ ...original, ...held, config }));
  }

  async setSecret(key: string, value: string): Promise<void> {
    await this.#pulumi(["config", "set", "--secret", key, "--non-interactive"], value);
  }

  preview = (expect: "success" | "failure" = "success") => this.#operate("preview", expect);
  up = (expect: "success" | "failure" = "success") => this.#operate("up", expect);
  refresh = (expect: "success" | "failure" = "success") => this.#operate("refresh", expect);
  destroy = (expect: "success" | "failure" = "success") => this.#operate("destroy", expect);

  /** The stack's state as `pulumi stack export` prints it: secrets encrypted. */
  async state(): Promise<{ deployment: { resources?: readonly Record<string, unknown>[] } }> {
    return JSON.parse(await this.#pulumi(["stack", "export"])) as { deployment: { resources?: [] } };
  }

  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse(await this.#pulumi(["stack", "output", "--json", "--show-secrets"])) as Record<string, unknown>;
  }

  /** Any other command on this stack. @returns what it printed */
  async run(args: readonly string[]): Promise<string> {
    return this.#pulumi(args);
  }

  async #pulumi(args: readonly string[], input?: string): Promise<string> {
    const promise = exec("pulumi", [...args, "--stack", this.name], {
      cwd: this.engine.project,
      env: this.engine.env,
      maxBuffer: 256 * 2 ** 20,
    });
    promise.child.stdin?.end(input);
    return (await promise).stdout;
  }

  async #operate(operation: Operation, expect: "success" | "failure"): Promise<Outcome> {
    const eventLog = join(this.engine.folder, `${this.name}-${++this.#operations}-${operation}.events`);
    const flags = operation === "preview" ? [] : ["--yes", "--skip-preview"];
    const started = performance.now();
    const child = endingWithUs(
      spawn(
        "pulumi",
        [
          operation,
          ...flags,
          "--stack",
          this.name,
          "--non-interactive",
          "--color=never",
          "--diff",
          "--event-log",
          eventLog,
        ],
        { cwd: this.engine.project, env: this.engine.env, stdio: ["ignore", "pipe", "pipe"] },
      ),
    );
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const outcome: Outcome = {
      ...accountOf(existsSync(eventLog) ? await readFile(eventLog, "utf8") : ""),
      ok: code === 0,
      seconds: (performance.now() - started) / 1000,
      output: Buffer.concat(chunks).toString("utf8"),
    };
    if (!outcome.ok && expect === "success") throw new OperationFailed(operation, outcome);
    if (outcome.ok && expect === "failure")
      throw new Error(`pulumi ${operation} succeeded, though it was meant to fail:\n${outcome.output}`);
    return outcome;
  }
}
