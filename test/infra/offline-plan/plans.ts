/** Small plans for the tests of what works on plans. */

import type { Plan, PlanEntry } from "../../../infra/offline-plan/plan.ts";

export function entry(id: string, more: Partial<PlanEntry> = {}): PlanEntry {
  const [types = "", name = ""] = id.split("::");
  return {
    id,
    type: types.split("$").at(-1) ?? "",
    name,
    kind: "custom",
    inputs: {},
    options: {},
    dependsOn: [],
    references: {},
    aliases: [],
    ...more,
  };
}

export const planWith = (...entries: PlanEntry[]): Plan => ({
  project: "lakehead",
  stack: "test",
  entries,
  outputs: {},
  madeUp: [],
  notes: [],
  warnings: [],
});

export const nodeGroup = "aws:eks/nodeGroup:NodeGroup::cpu";
export const cluster = "aws:eks/cluster:Cluster::main";
