/** The stack `local` on simulated nodes, from its first preview to its destroy. `npm run test:nodes` has pods that run. */

import type { Stack } from "../support/engine.ts";
import { changing } from "../support/events.ts";
import { leftBehind } from "../support/left-behind.ts";
import { checkPlacement, rayClusterReady } from "../support/placement.ts";
import { holds, type Report } from "../support/report.ts";
import {
  checkAdoption,
  checkChanges,
  checkCreation,
  checkDeletion,
  checkObjects,
  checkStability,
  type Ground,
  openStack,
  planOf,
} from "./lifecycle.ts";
import { namespace } from "./stack.ts";
import { openSurroundings } from "./surroundings.ts";

export async function runLocal(report: Report): Promise<void> {
  const surroundings = await openSurroundings(report);
  try {
    report.summarize(`local: ${surroundings.title}`);
    await runOn(surroundings.ground);
  } finally {
    await surroundings.close();
  }
}

async function runOn(ground: Ground): Promise<void> {
  const { api, report } = ground;
  const before = await leftBehind(api);
  const stack = await openStack(ground);
  const plan = await planOf(ground, stack);
  if (await checkCreation(ground, stack, plan)) {
    await report.check("each Ray pod is on a node of its role, and no other pod on the head's", async () => {
      await rayClusterReady(api, namespace, "geneva", 120);
      return checkPlacement(api, {
        expected: { "ray-head": 1, "ray-worker-cpu": 1, "ray-worker-gpu": 1 },
        apart: true,
      });
    });
    await checkObjects(ground, stack);
    await checkStability(ground, stack);
    await checkChanges(ground, stack);
    await report.check("a larger maximum of workers leaves the number that the autoscaler set", () =>
      enlarge(ground, stack),
    );
  }
  await checkDeletion(ground, stack, plan, before);
  await checkAdoption(ground, async () => {
    const second = await openStack(ground, "second");
    await second.up();
    await second.destroy();
  });
}

/** Sets a number of workers in the autoscaler's place, and then a larger maximum in the configuration. */
async function enlarge({ api, overrides }: Ground, stack: Stack): Promise<string> {
  const cluster = { apiVersion: "ray.io/v1", kind: "RayCluster", metadata: { name: "geneva", namespace } };
  // The autoscaler sends a JSON patch of this field.
  const patch = [{ op: "replace", path: "/spec/workerGroupSpecs/0/replicas", value: 2 }];
  await api.ask("PATCH", await api.path(cluster), patch, "application/json-patch+json");
  const ray = overrides["lakehead:ray"] as { cpuWorkers: object };
  await stack.configure({
    ...overrides,
    "lakehead:ray": { ...ray, cpuWorkers: { ...ray.cpuWorkers, maxReplicas: 3 } },
  });
  const changed = changing((await stack.up()).ended)
    .map(({ op, name }) => `${op} ${name}`)
    .join(", ");
  const [group] = (await api.get(cluster))?.spec.workerGroupSpecs ?? [];
  holds(
    group?.maxReplicas === 3 && group?.replicas === 2,
    `${JSON.stringify({ max: group?.maxReplicas, replicas: group?.replicas })} after ${changed}`,
  );
  return changed;
}
