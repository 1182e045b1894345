/** `npm run plan`: prints the resources of a stack, or the difference of a change, without cloud, account or CLI. */

import { resolve } from "node:path";
import { markdownHead, markdownRow } from "../../tools/markdown-table.ts";
import { readArguments, runCommand, UsageError } from "../command-line.ts";
import { costOf, renderCost } from "./cost.ts";
import { diffPlans, emptyPlan } from "./diff.ts";
import { renderGolden } from "./golden.ts";
import { renderGraph } from "./graph.ts";
import { type Plan, planOf } from "./plan.ts";
import { PriceError, readPrices } from "./prices.ts";
import { ProjectError, readProject, readStackConfig, stackNames } from "./project.ts";
import { renderDiff } from "./render-diff.ts";
import { RevisionError, withRevision } from "./revision.ts";
import { defaultTimeout, runProgram } from "./run.ts";
import { renderTree } from "./tree.ts";

const usage = `usage: npm run plan -- <stack>... [options]

  --all              every stack that has a Pulumi.<stack>.yaml
  --against <rev>    print what changed since a git revision
  --full             print every input of every resource
  --json             print the plan, or the diff, as JSON
  --yaml             print the plan in the format of the golden files
  --graph            print a Mermaid flowchart of the components
  --cost             print what the stack costs in a month, idle and at maximum
  --prices <file>    newer prices for --cost, as rows of infra/offline-plan/prices.json
  --stats            print only the time and the memory that each stack takes
  --timeout <s>      maximum seconds for one run of the program (default: ${defaultTimeout / 1000})
  --root <folder>    the project's folder (default: this repository)
`;

class ProgramError extends Error {}

interface Planned {
  readonly plan: Plan;
  readonly milliseconds: number;
  readonly peakBytes: number;
}

/** @throws ProgramError with the program's message when it fails */
async function planStack(root: string, stack: string, timeout: number): Promise<Planned> {
  const project = readProject(root);
  const config = readStackConfig(project, stack);
  const capture = await runProgram({ project, stack, config, timeout });
  if (capture.failure !== undefined)
    throw new ProgramError(`${stack}: the program failed\n${capture.failure.replaceAll(`${root}/`, "")}`);
  return {
    plan: planOf(capture, config.warnings),
    milliseconds: capture.milliseconds,
    peakBytes: capture.peakBytes,
  };
}

async function planAgainst(root: string, stack: string, revision: string, timeout: number) {
  return withRevision(root, revision, async (folder) => {
    const [before, after] = await Promise.all([
      stackNames(folder).includes(stack)
        ? planStack(folder, stack, timeout).then(({ plan }) => plan)
        : emptyPlan(stack),
      planStack(root, stack, timeout).then(({ plan }) => plan),
    ]);
    return diffPlans(before, after);
  });
}

async function main(): Promise<void> {
  const { values, positionals: stacks } = readArguments({
    all: { type: "boolean", default: false },
    against: { type: "string" },
    full: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    yaml: { type: "boolean", default: false },
    graph: { type: "boolean", default: false },
    cost: { type: "boolean", default: false },
    prices: { type: "string" },
    stats: { type: "boolean", default: false },
    timeout: { type: "string", default: String(defaultTimeout / 1000) },
  });
  const { all, against, full, json, yaml, graph, cost, stats } = values;
  const root = resolve(values.root);
  if (values.help) return void process.stdout.write(usage);
  const timeout = Number(values.timeout) * 1000;
  if (!(timeout > 0)) throw new UsageError(`--timeout "${values.timeout}" is not a number of seconds above 0`);
  if ([json, yaml, graph, cost, stats].filter(Boolean).length > 1)
    throw new UsageError("choose one of --json, --yaml, --graph, --cost and --stats");
  if (against !== undefined && (yaml || graph || cost || stats))
    throw new UsageError("--against works with --json only, not with --yaml, --graph, --cost or --stats");
  if (values.prices !== undefined && !cost) throw new UsageError("--prices works with --cost only");
  const prices = cost ? readPrices(values.prices) : [];
  const names = all ? stackNames(root) : stacks;
  if (names.length === 0)
    throw new UsageError(`name a stack: ${stackNames(root).join(", ") || "the folder has no Pulumi.<stack>.yaml"}`);
  const documents: unknown[] = [];
  if (stats) process.stdout.write(`${markdownHead(["stack", "resources", "time", "memory of the program"])}\n`);
  for (const stack of names) {
    if (against !== undefined) {
      const diff = await planAgainst(root, stack, against, timeout);
      if (json) documents.push(diff);
      else process.stdout.write(renderDiff(diff, against));
      continue;
    }
    const { plan, milliseconds, peakBytes } = await planStack(root, stack, timeout);
    const resources = plan.entries.filter(({ kind }) => kind !== "component").length;
    if (json) documents.push(plan);
    else if (cost) process.stdout.write(renderCost(costOf(plan, prices)));
    else if (stats)
      process.stdout.write(
        `${markdownRow([stack, String(resources), `${(milliseconds / 1000).toFixed(1)} s`, `${Math.round(peakBytes / 2 ** 20)} MiB`])}\n`,
      );
    else process.stdout.write(yaml ? renderGolden(plan) : graph ? renderGraph(plan) : renderTree(plan, { full }));
  }
  if (json) process.stdout.write(`${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`);
}

await runCommand(usage, [PriceError, ProgramError, ProjectError, RevisionError], main);
