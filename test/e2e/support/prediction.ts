/** Compares the operations that the offline plan (`npm run plan`) predicts with those of the engine. */

import type { PlanDiff } from "../../../infra/offline-plan/diff.ts";
import { type Plan, planOf } from "../../../infra/offline-plan/plan.ts";
import { readProject, readStackConfig } from "../../../infra/offline-plan/project.ts";
import { runProgram } from "../../../infra/offline-plan/run.ts";
import { idOf, type Step } from "./events.ts";
import { holds } from "./report.ts";

/** The offline plan of a stack in a project folder. */
export async function offlinePlan(folder: string, stack: string): Promise<Plan> {
  const project = readProject(folder);
  const config = readStackConfig(project, stack);
  const capture = await runProgram({ project, stack, config });
  if (capture.failure !== undefined) throw new Error(`the offline plan of ${stack} failed:\n${capture.failure}`);
  return planOf(capture, config.warnings);
}

type Verb = "create" | "update" | "replace" | "delete";

const verbs: Readonly<Record<string, Verb>> = {
  create: "create",
  update: "update",
  delete: "delete",
  replace: "replace",
  "create-replacement": "replace",
  "delete-replaced": "replace",
};

/**
 * What the provider's plugin registers for a group of manifests, and the engine for such plugins. The offline plan shows the
 * group.
 */
const inGroup = (urn: string): boolean =>
  urn.includes("$kubernetes:yaml/v2:ConfigGroup$") || idOf(urn) === "pulumi:providers:pulumi::default";

/** `create <id>` for each resource that the engine changes, once however many steps that takes; components left out. */
export function operationsOf(steps: readonly Step[], plan: Plan): string[] {
  const components = new Set(plan.entries.filter(({ kind }) => kind === "component").map(({ id }) => id));
  const found = steps.flatMap(({ op, urn, type }) => {
    const verb = verbs[op];
    return verb === undefined || type === "pulumi:pulumi:Stack" || components.has(idOf(urn)) || inGroup(urn)
      ? []
      : [`${verb} ${idOf(urn)}`];
  });
  return [...new Set(found)].sort();
}

const planned: Readonly<Record<PlanDiff["resources"][number]["op"], Verb>> = {
  add: "create",
  remove: "delete",
  change: "update",
  replace: "replace",
};

/** The same list from the difference of two offline plans, without changes of options only. */
export function predictedOperations({ resources }: PlanDiff, plan: Plan): string[] {
  const components = new Set(plan.entries.filter(({ kind }) => kind === "component").map(({ id }) => id));
  return resources
    .filter(({ id }) => !components.has(id))
    .filter(
      ({ op, changes, follows }) =>
        op !== "change" ||
        follows !== undefined ||
        changes.some(({ path, ignored }) => !path.startsWith("options.") && !ignored),
    )
    .map(({ op, id }) => `${planned[op]} ${id}`)
    .sort();
}

/** @throws Error that lists what only one of the two has */
export function requirePredicted(done: readonly string[], said: readonly string[]): void {
  const surprise = done.filter((operation) => !said.includes(operation));
  const missing = said.filter((operation) => !done.includes(operation));
  holds(
    surprise.length === 0 && missing.length === 0,
    [
      ...surprise.map((operation) => `not predicted: ${operation}`),
      ...missing.map((operation) => `predicted but not done: ${operation}`),
    ].join("\n"),
  );
}

/**
 * Compares the engine's order with the plan's dependencies: no creation begins before its dependencies exist, and no
 * deletion before its dependents are gone.
 * @returns The number of pairs that occurred.
 */
export function checkOrder(
  steps: { readonly begun: readonly Step[]; readonly ended: readonly Step[] },
  plan: Plan,
  verb: "create" | "delete",
): number {
  const at = (list: readonly Step[]) =>
    new Map(list.filter(({ op }) => op === verb).map((step) => [idOf(step.urn), step.at]));
  const [begun, ended] = [at(steps.begun), at(steps.ended)];
  const wrong: string[] = [];
  let pairs = 0;
  for (const { id, dependsOn } of plan.entries)
    for (const needed of dependsOn) {
      const [first, second] = verb === "create" ? [needed, id] : [id, needed];
      const [end, begin] = [ended.get(first), begun.get(second)];
      if (end === undefined || begin === undefined) continue;
      pairs++;
      if (end > begin) wrong.push(`${verb} ${second} began before ${verb} ${first} had ended`);
    }
  holds(wrong.length === 0, wrong.join("\n"));
  return pairs;
}
