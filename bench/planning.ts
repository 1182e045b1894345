/**
 * Searches for the accepted request that takes the most CPU time to plan: seeded hill climbing over the expressions that
 * the guard accepts, each planned through the real SDK in a child process. Prints the slowest as Markdown. Exits with 1
 * when the child process ends, not when a figure is missed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceError } from "../service/errors.ts";
import { allowedFunctions } from "../service/guard/expression/functions.ts";
import { defaultExpressionLimits, verifyExpressions } from "../service/guard/expression/index.ts";
import {
  allForms,
  mutated,
  type Random,
  randomTree,
  render,
  seeded,
  type Tree,
  type Type,
} from "../test/service/guard/expression/support/random-expression.ts";
import { readOptions } from "./options.ts";
import { type PlanCost, type PlanTask, shapes } from "./planning/tasks.ts";
import { conditions, figureTable, print } from "./report.ts";
import { startWorker } from "./task-process.ts";

/** A request as the search changes it. */
interface Candidate {
  readonly indexed: boolean;
  readonly shape: PlanTask["shape"];
  readonly filter: Tree | undefined;
  readonly aliases: readonly Tree[];
}

interface Found {
  readonly candidate: Candidate;
  readonly task: PlanTask;
  readonly cpuMs: number;
  readonly planned: boolean;
}

const kept = 16;

const { full, seconds, seed } = readOptions("bench:planning", {
  seconds: { default: 120, help: "duration of the search" },
  seed: { default: 1, help: "of the random numbers" },
  full: { default: false, help: "print the slowest requests in full, as lines of JSON" },
});

const toTask = ({ indexed, shape, filter, aliases }: Candidate): PlanTask => ({
  indexed,
  shape,
  ...(filter === undefined ? {} : { filter: render(filter) }),
  aliases: aliases.map(render),
});

const isAccepted = ({ filter, aliases }: PlanTask): boolean => {
  const expressions = aliases.map((alias, index) => [`columns[${index}]`, alias] as const);
  try {
    verifyExpressions(
      filter === undefined ? expressions : [["filter", filter], ...expressions],
      defaultExpressionLimits,
    );
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
};

const choose = <T>(random: Random, choices: readonly T[]): T => {
  const chosen = choices[Math.floor(random() * choices.length)];
  if (chosen === undefined) throw new Error("nothing to choose from");
  return chosen;
};

const aliasTypes: readonly Type[] = ["boolean", "number", "text", "time", "numbers", "texts"];

const randomPart = (random: Random, type: Type): Tree =>
  randomTree(random, type, 1 + Math.floor(random() * 60), 1 + Math.floor(random() * 14));

const randomCandidate = (random: Random): Candidate => ({
  indexed: random() < 0.5,
  shape: choose(random, shapes),
  filter: random() < 0.8 ? randomPart(random, "boolean") : undefined,
  aliases: random() < 0.3 ? [randomPart(random, choose(random, aliasTypes))] : [],
});

/** As many copies of one alias as the guard accepts. */
const filled = (candidate: Candidate, alias: Tree): Candidate => {
  let last = candidate;
  for (let count = 1; count <= 500; count = Math.ceil(count * 1.3)) {
    const next = { ...candidate, aliases: [...candidate.aliases, ...Array<Tree>(count).fill(alias)] };
    if (!isAccepted(toTask(next))) return last;
    last = next;
  }
  return last;
};

const neighbour = (random: Random, candidate: Candidate): Candidate => {
  const { filter, aliases } = candidate;
  const parts = [...(filter === undefined ? [] : [filter]), ...aliases];
  if (parts.length === 0) return randomCandidate(random);
  const kind = random();
  if (kind < 0.05) return { ...candidate, indexed: !candidate.indexed };
  if (kind < 0.1) return { ...candidate, shape: choose(random, shapes) };
  if (kind < 0.2) return filled({ ...candidate, aliases: [] }, choose(random, parts));
  if (kind < 0.25) return { ...candidate, aliases: aliases.slice(1) };
  const part = choose(random, parts);
  const change = mutated(random, part);
  if (part === filter) return { ...candidate, filter: change };
  return { ...candidate, aliases: aliases.map((alias) => (alias === part ? change : alias)) };
};

const short = (text: string): string => {
  const plain = text.replaceAll("`", "'");
  return plain.length <= 160 ? plain : `${plain.slice(0, 120)} … ${plain.slice(-30)}`;
};

const missing = [...allowedFunctions.keys()].filter((name) => !allForms.some((form) => form.includes(`${name}(`)));
if (missing.length > 0) throw new Error(`the search has no form for ${missing.join(", ")}`);

const home = await mkdtemp(join(tmpdir(), "lakehead-planning-"));
const worker = startWorker<PlanTask, PlanCost>(new URL("planning/child.ts", import.meta.url), [home]);
try {
  const random = seeded(seed);
  const best: Found[] = [];
  const known = new Set<string>();
  let tried = 0;
  let refused = 0;
  let planned = 0;
  const measure = async (candidate: Candidate): Promise<void> => {
    const task = toTask(candidate);
    const key = JSON.stringify(task);
    if (known.has(key)) return;
    known.add(key);
    if (!isAccepted(task)) {
      refused++;
      return;
    }
    tried++;
    const cost = await worker.run(task);
    if (cost.planned) planned++;
    const last = best[kept - 1];
    if (last !== undefined && cost.cpuMs <= last.cpuMs) return;
    // Another measurement, so that a busy machine does not make a record.
    const again = await worker.run(task);
    best.push({ candidate, task, planned: cost.planned, cpuMs: Math.min(cost.cpuMs, again.cpuMs) });
    best.sort((left, right) => right.cpuMs - left.cpuMs);
    best.length = Math.min(best.length, kept);
  };

  await worker.run({ indexed: false, shape: "scan", filter: "id = 1", aliases: [] });
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const found = best.length < kept || random() < 0.15 ? undefined : choose(random, best);
    await measure(found === undefined ? randomCandidate(random) : neighbour(random, found.candidate));
  }
  print(
    `${tried} accepted requests planned (${planned} without an error), ${refused} refused, seed ${seed}, ${seconds} s; ${conditions("all")}.`,
    figureTable(
      ["slowest accepted requests", "shape", "bytes", "aliases", "CPU ms"],
      best
        .slice(0, 10)
        .map(({ task, cpuMs, planned: withoutError }) => [
          `\`${short(task.filter ?? "")}\`${task.aliases.length === 0 ? "" : `, alias \`${short(task.aliases[0] ?? "")}\``}`,
          `${task.shape}${task.indexed ? ", indexed" : ""}${withoutError ? "" : ", an error"}`,
          String(Buffer.byteLength([task.filter ?? "", ...task.aliases].join(""))),
          String(task.aliases.length),
          cpuMs.toFixed(1),
        ]),
    ),
  );
  if (full) for (const { task, cpuMs } of best) process.stdout.write(`${JSON.stringify({ cpuMs, ...task })}\n`);
} finally {
  worker.stop();
  await rm(home, { recursive: true, force: true });
}
