/** `npm run verify -- <stack>`: checks a running stack after `pulumi up`, and prints one line for each check. */

import { resolve } from "node:path";
import { type Line, renderLine, renderSummary } from "../check-line.ts";
import { readArguments, runCommand, UsageError } from "../command-line.ts";
import { ConfigError } from "../config/report.ts";
import { PriceError, type PriceRow, readPrices } from "../offline-plan/prices.ts";
import { ProjectError } from "../offline-plan/project.ts";
import { checkAccess, expectations } from "./checks/access.ts";
import { checkAccounts } from "./checks/accounts.ts";
import { checkBucket } from "./checks/bucket.ts";
import { checkNodes } from "./checks/nodes.ts";
import { checkOperator } from "./checks/operator.ts";
import { checkRay } from "./checks/ray.ts";
import { checkTableService } from "./checks/table-service.ts";
import { podCosts, podsOfApiServer, renderPodCosts } from "./cost/cost.ts";
import { type Prometheus, PrometheusError, podsOfPrometheus } from "./cost/prometheus.ts";
import {
  gatherAccess,
  gatherAccounts,
  gatherBucket,
  gatherNodes,
  gatherOperator,
  gatherPods,
  gatherRayClusters,
  gatherTableService,
  type ServiceOptions,
} from "./gather.ts";
import { Kubectl, KubectlError } from "./kubectl.ts";
import { readStack, type Stack, StackError } from "./stack.ts";

const usage = `usage: npm run verify -- <stack> [options]

  --table <id>            an existing table, such as prod$docs
  --service-url <url>     address of the table service (default: a port-forward to its pods)
  --operations-url <url>  the same for its operations port
  --config-file <path>    the stack's configuration, when it is not in Pulumi.<stack>.yaml
  --root <folder>         the project's folder (default: this repository)
  --cost                  print what the pods of the last days cost, by job and owner, in place of the checks
  --days <n>              the days of --cost (default: 7)
  --prices <file>         newer prices for --cost, as rows of infra/offline-plan/prices.json
  --prometheus <url>      the Prometheus of --cost (default: a port-forward to that of the stack)

  LAKEHEAD_TOKEN             a bearer token of the stack's issuer, for one request
  LAKEHEAD_PROMETHEUS_TOKEN  a bearer token for --prometheus
`;

interface CostOptions {
  readonly days: number;
  readonly prices: readonly PriceRow[];
  readonly prometheus: Prometheus | undefined;
}

/** The stack's Prometheus, by the Service that its operator makes. */
async function ownPrometheus({ config: { monitoring } }: Stack, kubectl: Kubectl): Promise<Prometheus | undefined> {
  if (monitoring.mode !== "stack" && monitoring.mode !== "existing") return undefined;
  const ports = await kubectl.forward(monitoring.namespace, "service/prometheus-operated", [9090]);
  return { url: `http://127.0.0.1:${ports.get(9090)}`, token: undefined };
}

async function costs(
  name: string,
  stack: Stack,
  kubectl: Kubectl,
  { days, prices, prometheus }: CostOptions,
): Promise<string> {
  const { config } = stack;
  const source = prometheus ?? (await ownPrometheus(stack, kubectl));
  const now = Date.now();
  const pods =
    source === undefined
      ? podsOfApiServer(await gatherPods(kubectl, config.namespace), await gatherNodes(kubectl), {
          from: now - days * 86_400_000,
          now,
        })
      : await podsOfPrometheus(source, config.namespace, days);
  const market = { cloud: config.cloud, region: "region" in config ? config.region : "" };
  return renderPodCosts(name, podCosts(pods, prices, market), {
    days,
    source:
      source === undefined ? "the API server, which forgets deleted pods; monitoring.mode keeps them" : "Prometheus",
  });
}

/** Yields each group of lines when it is known. A fault in one group can cause faults in the groups after it. */
async function* verify(stack: Stack, kubectl: Kubectl, service: ServiceOptions): AsyncGenerator<readonly Line[]> {
  const nodes = await gatherNodes(kubectl);
  yield checkNodes(stack, nodes);
  yield checkAccess(expectations(stack, stack.outputs), await gatherAccess(kubectl, stack));
  yield checkAccounts(stack, await gatherAccounts(kubectl, stack));
  yield checkOperator(stack, await gatherOperator(kubectl));
  const pods = await gatherPods(kubectl);
  yield checkRay(stack, { clusters: await gatherRayClusters(kubectl, stack), pods, nodes });
  yield (await gatherBucket(kubectl, stack, pods)).map(checkBucket);
  if (stack.config.tableService.enabled) yield checkTableService(await gatherTableService(kubectl, stack, service));
}

async function main(): Promise<void> {
  const { values: given, positionals } = readArguments({
    table: { type: "string" },
    "service-url": { type: "string" },
    "operations-url": { type: "string" },
    "config-file": { type: "string" },
    cost: { type: "boolean", default: false },
    days: { type: "string", default: "7" },
    prices: { type: "string" },
    prometheus: { type: "string" },
  });
  if (given.help) return void process.stdout.write(usage);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("name exactly one stack");
  const days = Number(given.days);
  if (!Number.isInteger(days) || days < 1 || days > 365)
    throw new UsageError(`--days "${given.days}" is not a number of days from 1 to 365`);
  if (!given.cost && (given.prices !== undefined || given.prometheus !== undefined))
    throw new UsageError("--prices and --prometheus work with --cost only");
  const prices = given.cost ? readPrices(given.prices) : [];
  const stack = await readStack(resolve(given.root), name, given["config-file"]);
  const kubectl = new Kubectl(stack.reach);
  const lines: Line[] = [];
  try {
    if (given.cost) {
      const { LAKEHEAD_PROMETHEUS_TOKEN: bearer } = process.env;
      const prometheus = given.prometheus === undefined ? undefined : { url: given.prometheus, token: bearer };
      return void process.stdout.write(await costs(name, stack, kubectl, { days, prices, prometheus }));
    }
    const token = process.env.LAKEHEAD_TOKEN;
    const service = {
      token: token === "" ? undefined : token,
      table: given.table,
      url: given["service-url"],
      operationsUrl: given["operations-url"],
    };
    for await (const found of verify(stack, kubectl, service)) {
      for (const line of found) process.stdout.write(`${renderLine(line)}\n`);
      lines.push(...found);
    }
  } finally {
    kubectl.close();
  }
  process.stdout.write(`\n${name}: ${renderSummary(lines)}\n`);
  if (stack.config.tableService.enabled)
    process.stdout.write("next: npm run acceptance -- --url <address of the table service> --token-file <file>\n");
  if (lines.some(({ result }) => result === "wrong")) process.exitCode = 1;
}

await runCommand(usage, [StackError, KubectlError, ProjectError, ConfigError, PriceError, PrometheusError], main);
