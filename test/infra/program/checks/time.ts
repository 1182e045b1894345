/** How long a stack takes from nothing to ready and back, by its dependencies and the clouds' typical durations. */

import type { Capture } from "../../../../infra/offline-plan/capture.ts";
import { longestPath, reversed } from "../../../support/infra/critical-path.ts";
import { type StateResource, shortMinutes, tasksOf, unavoidable } from "../../../support/infra/tasks.ts";

/** How much longer than what no order could avoid. */
const allowance = 1.1;

/** A sentence with the chain when a stack takes longer than it may. */
export function delays({ resources }: Pick<Capture, "resources">, cloud: "aws" | "gcp"): string[] {
  const known = resources.map(
    (resource): StateResource => ({
      urn: resource.urn,
      type: resource.type,
      custom: resource.kind === "custom",
      inputs: resource.inputs,
      dependencies: resource.dependsOn,
      retainOnDelete: resource.retainOnDelete,
      ...(resource.parent === undefined ? {} : { parent: resource.parent }),
      ...(resource.provider === undefined ? {} : { provider: resource.provider }),
    }),
  );
  return (["create", "delete"] as const).flatMap((operation) => {
    const tasks = tasksOf(known, operation);
    const { minutes, steps } = longestPath(operation === "create" ? tasks : reversed(tasks));
    const least = unavoidable(cloud, operation);
    const chain = steps.map((step) => `${step.urn.split("::").at(-1)} ${shortMinutes(step.minutes)}`).join(" → ");
    return minutes <= least.minutes * allowance
      ? []
      : [
          `${operation}: ${shortMinutes(minutes)} min (${chain}), unavoidable ${shortMinutes(least.minutes)} (${least.text})`,
        ];
  });
}
