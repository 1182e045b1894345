/** `npm run verify -- <stack>`: after `pulumi up`, what a careful person would check by hand, one line each. */

import { resolve } from "node:path";
import { readArguments, runCommand, UsageError } from "../command-line.ts";
import { ConfigError } from "../config/report.ts";
import { ProjectError } from "../offline-plan/project.ts";
import { expectations, judgeAccess } from "./checks/access.ts";
import { judgeAccounts } from "./checks/accounts.ts";
import { judgeBucket } from "./checks/bucket.ts";
import { judgeNodes } from "./checks/nodes.ts";
import { judgeOperator } from "./checks/operator.ts";
import { judgeRay } from "./checks/ray.ts";
import { judgeTableService } from "./checks/table-service.ts";
import {
  type Asking,
  gatherAccess,
  gatherAccounts,
  gatherBucket,
  gatherNodes,
  gatherOperator,
  gatherPods,
  gatherRayCluster,
  gatherTableService,
} from "./gather.ts";
import { Kubectl, KubectlError } from "./kubectl.ts";
import { type Line, renderLine, renderSummary } from "./line.ts";
import { readStack, type Stack, StackError } from "./stack.ts";

const usage = `usage: npm run verify -- <stack> [options]

  --table <id>            a table to ask the table service for, such as prod$docs
  --service-url <url>     where the table service answers (default: a port-forward to its pods)
  --operations-url <url>  the same for its operations port
  --config-file <path>    the stack's configuration, when it is not in Pulumi.<stack>.yaml
  --root <folder>         the project's folder (default: this repository)

  LAKEHEAD_TOKEN          a bearer token of the stack's issuer, to ask one operation with
`;

/** Every group of lines as soon as it is known, in the order in which a fault would explain the next. */
async function* verify(stack: Stack, kubectl: Kubectl, asking: Asking): AsyncGenerator<readonly Line[]> {
  const { config, outputs } = stack;
  const nodes = await gatherNodes(kubectl);
  yield judgeNodes(config, nodes);
  yield judgeAccess(expectations(config, outputs), await gatherAccess(kubectl, stack));
  yield judgeAccounts(config, await gatherAccounts(kubectl, stack));
  yield judgeOperator(config, await gatherOperator(kubectl));
  const pods = await gatherPods(kubectl);
  yield judgeRay(config, { cluster: await gatherRayCluster(kubectl, stack), pods, nodes });
  yield (await gatherBucket(kubectl, stack, pods)).map(judgeBucket);
  if (config.tableService.enabled) yield judgeTableService(await gatherTableService(kubectl, stack, asking));
}

async function main(): Promise<void> {
  const { values: given, positionals } = readArguments({
    table: { type: "string" },
    "service-url": { type: "string" },
    "operations-url": { type: "string" },
    "config-file": { type: "string" },
  });
  if (given.help) return void process.stdout.write(usage);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("say which stack, and one alone");
  const stack = await readStack(resolve(given.root), name, given["config-file"]);
  const kubectl = new Kubectl(stack.reach);
  const lines: Line[] = [];
  try {
    const token = process.env.LAKEHEAD_TOKEN;
    const asking = {
      token: token === "" ? undefined : token,
      table: given.table,
      url: given["service-url"],
      operationsUrl: given["operations-url"],
    };
    for await (const found of verify(stack, kubectl, asking)) {
      for (const line of found) process.stdout.write(`${renderLine(line)}\n`);
      lines.push(...found);
    }
  } finally {
    kubectl.close();
  }
  process.stdout.write(`\n${name}: ${renderSummary(lines)}\n`);
  if (lines.some(({ verdict }) => verdict === "wrong")) process.exitCode = 1;
}

await runCommand(usage, [StackError, KubectlError, ProjectError, ConfigError], main);
