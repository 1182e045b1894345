/**
 * A language host for Node programs, as thin as the engine allows: it starts the SDK's own runner with the arguments that
 * Pulumi's language host gives it. It stands in where that one, a Go program without a release of its own, cannot be built.
 */

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import grpc from "@pulumi/pulumi/proto/language_grpc_pb.js";
import language from "@pulumi/pulumi/proto/language_pb.js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import { pluginServer, servePlugin, unary } from "../plugin.ts";

interface ProviderPackage {
  readonly name: string;
  readonly version: string;
}

/** The provider packages that a project's `node_modules` holds: those whose package.json says so. */
function providerPackages(root: string): ProviderPackage[] {
  const scope = join(root, "node_modules", "@pulumi");
  if (!existsSync(scope)) return [];
  return readdirSync(scope).flatMap((folder) => {
    const file = join(scope, folder, "package.json");
    if (!existsSync(file)) return [];
    const { version, pulumi } = JSON.parse(readFileSync(file, "utf8")) as {
      version: string;
      pulumi?: { resource?: boolean; name?: string; version?: string };
    };
    return pulumi?.resource === true ? [{ name: pulumi.name ?? folder, version: pulumi.version ?? version }] : [];
  });
}

/** The runner's exit code after it has reported the error to the engine. */
const toldAlready = 32;

type RunRequest = InstanceType<typeof language.RunRequest>;

const engineAddress = process.argv.at(-1) ?? "";

const rootOf = (request: { getInfo(): { getRootDirectory(): string } | undefined }): string =>
  request.getInfo()?.getRootDirectory() ?? process.cwd();

function runnerArguments(request: RunRequest): string[] {
  const info = request.getInfo();
  const flags = {
    monitor: request.getMonitorAddress(),
    engine: engineAddress,
    organization: request.getOrganization(),
    project: request.getProject(),
    "root-directory": rootOf(request),
    stack: request.getStack(),
    pwd: request.getPwd(),
    parallel: String(request.getParallel()),
  };
  return [
    ...Object.entries(flags).flatMap(([flag, value]) => (value === "" ? [] : [`--${flag}`, value])),
    ...(request.getDryrun() ? ["--dry-run"] : []),
    info?.getEntryPoint() || ".",
    ...request.getArgsList(),
  ];
}

async function run(request: RunRequest): Promise<InstanceType<typeof language.RunResponse>> {
  const runner = createRequire(join(rootOf(request), "package.json")).resolve("@pulumi/pulumi/cmd/run");
  const child = spawn(process.execPath, [runner, ...runnerArguments(request)], {
    cwd: request.getPwd(),
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      PULUMI_CONFIG: JSON.stringify(Object.fromEntries(request.getConfigMap().entries())),
      PULUMI_CONFIG_SECRET_KEYS: JSON.stringify(request.getConfigsecretkeysList()),
    },
  });
  const ending = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal ?? "SIGKILL"));
  });
  const response = new language.RunResponse();
  if (ending === toldAlready) response.setBail(true);
  else if (ending !== 0) response.setError(`the program ended with ${ending}`);
  return response;
}

function requiredPackages(root: string): InstanceType<typeof plugin.PackageDependency>[] {
  return providerPackages(root).map(({ name, version }) => {
    const dependency = new plugin.PackageDependency();
    dependency.setName(name);
    dependency.setVersion(`v${version}`);
    dependency.setKind("resource");
    return dependency;
  });
}

const server = pluginServer();
server.addService(grpc.LanguageRuntimeService, {
  handshake: unary(() => new language.LanguageHandshakeResponse()),
  getPluginInfo: unary(() => {
    const info = new plugin.PluginInfo();
    info.setVersion("0.0.0");
    return info;
  }),
  getRequiredPackages: unary((request: InstanceType<typeof language.GetRequiredPackagesRequest>) => {
    const response = new language.GetRequiredPackagesResponse();
    response.setPackagesList(requiredPackages(rootOf(request)));
    return response;
  }),
  run: unary(run),
  about: unary(() => new language.AboutResponse()),
  cancel: unary(() => new empty.Empty()),
} as never);
await servePlugin(server);
