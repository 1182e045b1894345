/**
 * The stack's life on real pods: everything is deleted, made again by another stack, and left alone. Changes by hand and of the
 * configuration need no pod that runs: `npm run test:e2e -- local` has them.
 */

import {
  checkAdoption,
  checkCreation,
  checkDeletion,
  checkObjects,
  checkStability,
  openStack,
  planOf,
} from "../../e2e/local/lifecycle.ts";
import { closeElsewhere, type Subject } from "../support.ts";
import { groundOf } from "../surroundings.ts";

export async function checkLifecycle(subject: Subject): Promise<void> {
  const { surroundings, stack, report, before } = subject;
  const ground = groundOf(surroundings, report);
  const second = await openStack(ground, "second");
  const plan = await planOf(ground, second);
  await closeElsewhere(subject);
  await checkDeletion(ground, stack, plan, before);
  await checkAdoption(ground, async () => {
    if (await checkCreation(ground, second, plan)) {
      await checkObjects(ground, second);
      await checkStability(ground, second);
    }
    // A cluster of the suite's own is gone with the suite.
    if (surroundings.own === undefined) await checkDeletion(ground, second, plan, before);
  });
}
