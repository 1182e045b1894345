/** `npm run preflight -- <stack>`: checks what `pulumi up` needs before anything is created. It only reads. */

import { resolve4, resolveNs } from "node:dns/promises";
import { resolve } from "node:path";
import { attempt, type Line, type Outcome, renderLine, renderSummary } from "../check-line.ts";
import { type Config, clusterModel, type SecretKey, stackDefinition } from "../clouds/schema.ts";
import { readArguments, runCommand, UsageError } from "../command-line.ts";
import { parseConfig, rawConfig } from "../config/parse.ts";
import { findPlaceholders } from "../config/placeholders.ts";
import { ConfigError } from "../config/report.ts";
import { buildsServiceImage, servicePlatform } from "../model/service-image.ts";
import { ProjectError, readProject, readStackConfig } from "../offline-plan/project.ts";
import type { DnsFacts } from "./checks.ts";
import { checkAddress, checkBuilder, checkDns, checkImage, requiredImages } from "./checks.ts";
import { readPlatforms } from "./docker.ts";
import { readRegistryImage } from "./registry.ts";

/** No records, by the codes of c-ares. Any other error says nothing about the name. */
async function records(read: () => Promise<string[]>): Promise<string[]> {
  try {
    return await read();
  } catch (error) {
    if (["ENOTFOUND", "ENODATA"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** The host's addresses, or the closest parent domain with name servers below the top-level domain. */
function readDns(host: string): Promise<Outcome<DnsFacts>> {
  return attempt(async () => {
    const addresses = await records(() => resolve4(host));
    const labels = host.split(".");
    const parents = labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
    for (const zone of addresses.length > 0 ? [] : parents)
      if ((await records(() => resolveNs(zone))).length > 0) return { addresses, zone };
    return { addresses, zone: undefined };
  });
}

const usage = `usage: npm run preflight -- <stack> [options]

  --address <ip>    your public IPv4 address (default on AWS: what checkip.amazonaws.com responds)
  --root <folder>   the project's folder (default: this repository)
`;

/** @throws ConfigError with every fault of the configuration, placeholders included */
function readConfig(root: string, stack: string): Config {
  const project = readProject(root);
  const { values, secretKeys } = readStackConfig(project, stack);
  const raw = rawConfig(stackDefinition, values, project.name);
  const secrets = secretKeys.map((key) => key.slice(project.name.length + 1)) as SecretKey[];
  return parseConfig(stackDefinition, raw, { secrets: new Set(secrets), found: findPlaceholders(raw) }).config;
}

/** AWS's own service for this; Google has none, and no third party is asked. */
const readAwsAddress = (): Promise<Outcome<string>> =>
  attempt(async () => {
    const response = await fetch("https://checkip.amazonaws.com/", { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(`checkip.amazonaws.com responded with status ${response.status}`);
    return (await response.text()).trim();
  });

const givenAddress = (address: string | undefined): Outcome<string> =>
  address === undefined ? { failure: "no service of the cloud tells it" } : { value: address };

/** Yields each group of lines when it is known. Each cloud's SDK is loaded only for its own stacks. */
async function* preflight(config: Config, stack: string, address: string | undefined): AsyncGenerator<readonly Line[]> {
  const cluster = clusterModel(config);
  const images = requiredImages(config, cluster);
  switch (config.cloud) {
    case "aws": {
      const { preflightAws, readEcrImage } = await import("../clouds/aws/preflight/preflight.ts");
      yield* preflightAws(config, cluster, stack);
      const { publicCidrs } = config.endpoint;
      const own = address === undefined && publicCidrs.length > 0 ? await readAwsAddress() : givenAddress(address);
      yield [checkAddress(publicCidrs, own)];
      yield await Promise.all(
        images.map(async (image) =>
          checkImage(image, (await readEcrImage(image.image)) ?? (await readRegistryImage(image.image))),
        ),
      );
      break;
    }
    case "gcp": {
      const { artifactRegistryCredentials, preflightGcp } = await import("../clouds/gcp/preflight/preflight.ts");
      yield* preflightGcp(config, cluster, stack);
      if (!config.endpoint.dns) yield [checkAddress(config.endpoint.publicCidrs, givenAddress(address))];
      yield await Promise.all(
        images.map(async (image) =>
          checkImage(image, await readRegistryImage(image.image, await artifactRegistryCredentials(image.image))),
        ),
      );
      break;
    }
    case "kubeconfig":
      // Needs no account. The architecture of its nodes is not known, and images may be loaded into them.
      break;
  }
  if (config.cloud !== "kubeconfig" && buildsServiceImage(config))
    yield [checkBuilder(servicePlatform(cluster), await readPlatforms())];
  const { enabled, exposure } = config.tableService;
  if (enabled && exposure.mode === "public") {
    const pointed = "zone" in exposure && exposure.zone !== undefined;
    yield [checkDns(exposure.host, await readDns(exposure.host), pointed)];
  }
}

async function main(): Promise<void> {
  const { values: given, positionals } = readArguments({ address: { type: "string" } });
  if (given.help) return void process.stdout.write(usage);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("name exactly one stack");
  const config = readConfig(resolve(given.root), name);
  const lines: Line[] = [];
  for await (const found of preflight(config, name, given.address)) {
    for (const line of found) process.stdout.write(`${renderLine(line)}\n`);
    lines.push(...found);
  }
  process.stdout.write(`\n${name}: ${renderSummary(lines)}\n`);
  if (lines.some(({ result }) => result === "wrong")) process.exitCode = 1;
}

await runCommand(usage, [ProjectError, ConfigError], main);
