/**
 * The life of the stack `local`: what the engine does from preview to destroy, and what the API server then holds. None of it
 * needs a pod that runs, so it is the same on simulated pods and on real ones.
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import type { ClientParameters } from "../../../infra/model/client-parameters.ts";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import type { Plan } from "../../../infra/offline-plan/plan.ts";
import { ray } from "../../../infra/versions.ts";
import { checkRights, runtimeRights } from "../support/access.ts";
import type { Api } from "../support/api.ts";
import { checkClientCluster } from "../support/client-cluster.ts";
import { until } from "../support/daemon.ts";
import type { Engine, Outcome, Stack } from "../support/engine.ts";
import { changing, idOf } from "../support/events.ts";
import { leftBehind } from "../support/left-behind.ts";
import { checkOrder, offlinePlan, operationsOf, predictedOperations, requirePredicted } from "../support/prediction.ts";
import { holds, type Report } from "../support/report.ts";
import { namespace, stackName, tableService, tokensOf } from "./stack.ts";

/** Where the stack lives, and how it is configured. */
export interface Ground {
  readonly engine: Engine;
  readonly api: Api;
  readonly kubeconfig: string;
  readonly report: Report;
  /** The stack's configuration in place of the repository's. */
  readonly overrides: Readonly<Record<string, unknown>>;
  /** Bearer token of the table service. */
  readonly token: string;
}

export const counted = ({ changes }: Outcome): string =>
  Object.entries(changes)
    .map(([op, count]) => `${count} ${op}`)
    .join(", ");

const ownTokens = ({ token }: Ground): Readonly<Record<string, string>> => ({ suite: token });

/** A new stack with the configuration of `local`, not yet up. */
export const openStack = (ground: Ground, name: string = stackName): Promise<Stack> =>
  ground.engine.stack(name, {
    like: stackName,
    overrides: ground.overrides,
    secrets: { "lakehead:staticTokens": tokensOf(ownTokens(ground)) },
  });

/** What the program plans for the stack as it is configured. */
export const planOf = ({ engine }: Ground, stack: Stack): Promise<Plan> => offlinePlan(engine.project, stack.name);

/** Preview and up. @returns whether the stack is up */
export async function checkCreation({ report }: Ground, stack: Stack, plan: Plan): Promise<boolean> {
  await report.check("preview plans what the offline plan says", async () => {
    const preview = await stack.preview();
    const done = operationsOf(preview.begun, plan);
    requirePredicted(done, predictedOperations(diffPlans({ ...plan, entries: [] }, plan), plan));
    return `${done.length} resources to create`;
  });
  let up: Outcome | undefined;
  await report.check("up creates them", async () => {
    up = await stack.up();
    report.summarize(`${stack.name}: ${counted(up)} in ${up.seconds.toFixed(1)} s`);
    return `${counted(up)} in ${up.seconds.toFixed(1)} s`;
  });
  if (up === undefined) return false;
  const outcome = up;
  await report.check("nothing was created before its dependencies", () => {
    const pairs = checkOrder(outcome, plan, "create");
    holds(pairs > 0, "no pair was created");
    return `${pairs} pairs`;
  });
  return true;
}

/** What the API server and the state hold after `up`. */
export async function checkObjects(ground: Ground, stack: Stack): Promise<void> {
  const { api, kubeconfig, report, token } = ground;
  await report.check("no secret is readable in the state", async () => {
    const text = JSON.stringify((await stack.state()).deployment);
    const digest = createHash("sha256").update(token).digest("hex");
    for (const secret of [token, digest, Buffer.from(tokensOf(ownTokens(ground))).toString("base64")])
      holds(!text.includes(secret), "the static tokens are in the state as plain text");
    return undefined;
  });
  await report.check("the runtime's account has the permissions that it needs and no others", () =>
    checkRights(
      kubeconfig,
      { user: `system:serviceaccount:${namespace}:geneva-service-account` },
      runtimeRights(namespace),
    ),
  );
  await report.check("the quota counts RayClusters when up ends", async () => {
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "lakehead-ray-clusters", namespace } };
    const wished = (await api.get(quota))?.metadata.annotations?.["pulumi.com/waitFor"];
    // The condition that the provider waits for, checked with kubectl, which has the same syntax.
    const args = ["--kubeconfig", kubeconfig, "wait", "-n", namespace, `resourcequota/${quota.metadata.name}`];
    return (await promisify(execFile)("kubectl", [...args, `--for=${wished}`, "--timeout=5s"])).stdout.trim();
  });
  await report.check("the API server takes the client's RayCluster, strictly validated", async () => {
    const { clientParameters } = await stack.outputs();
    return checkClientCluster(api, clientParameters as ClientParameters, ray.default);
  });
}

/** A second up and a refresh of an unchanged stack. */
export async function checkStability({ report }: Ground, stack: Stack): Promise<void> {
  await report.check("a second up changes nothing", async () => {
    const again = await stack.up();
    const found = changing(again.ended);
    holds(found.length === 0, found.map(({ op, urn, paths }) => `${op} ${idOf(urn)}: ${paths.join(", ")}`).join("\n"));
    report.summarize(`${stack.name}: a second up is a no-op: ${counted(again)}`);
    return counted(again);
  });
  await report.check("refresh finds no drift", async () => {
    const refreshed = await stack.refresh();
    const drift = Object.entries(refreshed.changes).filter(
      ([op, count]) => op !== "same" && op !== "refresh" && count > 0,
    );
    holds(drift.length === 0, `${counted(refreshed)}\n${refreshed.output}`);
    return counted(refreshed);
  });
}

/** A manual change, and changes of the configuration. */
export async function checkChanges(ground: Ground, stack: Stack): Promise<void> {
  const { api, report, overrides } = ground;
  await report.check("refresh finds a manual change, and up reverts it", async () => {
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "lakehead", namespace } };
    const live = await api.get(quota);
    const path = await api.path(quota);
    await api.ask("PATCH", path, { spec: { hard: { "requests.cpu": "1" } } }, "application/merge-patch+json");
    const refreshed = await stack.refresh();
    const seen = refreshed.ended.filter(({ op, name }) => op === "update" && name === "quota");
    holds(seen.length === 1, `${counted(refreshed)}\n${refreshed.output}`);
    const repaired = changing((await stack.up()).ended).map(({ name }) => name);
    holds(repaired.join() === "quota", `up changed ${repaired.join(", ")}`);
    const now = await api.get(quota);
    holds(now?.spec.hard["requests.cpu"] === live?.spec.hard["requests.cpu"], JSON.stringify(now?.spec));
    return counted(refreshed);
  });
  await report.check("a change updates exactly what the offline plan predicted", async () => {
    const before = await planOf(ground, stack);
    await stack.configure({ ...overrides, "lakehead:tableService": { ...tableService, logLevel: "debug" } });
    const after = await planOf(ground, stack);
    const said = predictedOperations(diffPlans(before, after), after);
    holds(said.length > 0, "the offline plan predicts no operation");
    const changed = await stack.up();
    requirePredicted(operationsOf(changed.ended, after), said);
    return said.join("; ");
  });
  await report.check(
    "new static tokens make a new Secret, update the Deployment, and delete the old Secret last",
    async () => {
      const tokens = { ...ownTokens(ground), second: `${ground.token}-2` };
      await stack.setSecret("lakehead:staticTokens", tokensOf(tokens));
      const steps = changing((await stack.up()).ended).map(({ op, type }) => `${op} ${type.split(":").at(-1)}`);
      const said = steps.join(", ");
      holds(
        said === "create-replacement Secret, replace Secret, update Deployment, delete-replaced Secret",
        `the engine did: ${said}`,
      );
      return said;
    },
  );
}

/**
 * Destroy, and what it leaves.
 * @param plan of the stack, or of another of the same program: resources that only one of them has are in no pair
 * @param before what the cluster had before the stack
 */
export async function checkDeletion(
  { api, report }: Ground,
  stack: Stack,
  plan: Plan,
  before: readonly string[],
): Promise<void> {
  await report.check("destroy deletes what up created", async () => {
    const destroyed = await stack.destroy();
    const pairs = checkOrder(destroyed, plan, "delete");
    const { deployment } = await stack.state();
    holds((deployment.resources ?? []).length === 0, `the state still has ${deployment.resources?.length} resources`);
    const order = destroyed.ended
      .filter(({ op, type }) => op === "delete" && type.startsWith("kubernetes:"))
      .map(({ type, name }) => `${type.split(":").at(-1)} ${name}`);
    holds(order.length > 0, "nothing was deleted");
    report.summarize(`${stack.name}: order of deletion: ${order.join(", ")}`);
    return `${counted(destroyed)} in ${destroyed.seconds.toFixed(1)} s, ${pairs} pairs in order`;
  });
  await report.check("destroy leaves only what docs/destroy.md lists", async () => {
    let stays: string[] = [];
    // Volumes and pods are deleted shortly after their owners.
    await until(
      "an empty cluster",
      async () => {
        const now = (await leftBehind(api)).filter((one) => !before.includes(one));
        stays = now.filter((one) => /^CustomResourceDefinition \w+\.ray\.io$/.test(one));
        holds(now.length === stays.length, `left behind:\n${now.filter((one) => !stays.includes(one)).join("\n")}`);
        return true;
      },
      { seconds: 300 },
    );
    return stays.length === 0 ? "nothing is left" : `${stays.length} definitions of KubeRay stay`;
  });
}

/** KubeRay's definitions with the ids that the API server gave them. */
async function definitions(api: Api): Promise<string[]> {
  const all = await api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  return all
    .filter(({ metadata: { name } }) => name.endsWith(".ray.io"))
    .map(({ metadata: { name, uid } }) => `${name} ${uid}`)
    .sort();
}

/** Runs the life of another stack, and compares the definitions that the first one left before and after it. */
export async function checkAdoption({ api, report }: Ground, another: () => Promise<unknown>): Promise<void> {
  const stayed = await definitions(api);
  await another();
  await report.check("another stack adopts the definitions that stayed, and keeps them as well", async () => {
    holds(stayed.length > 0, "no definition of KubeRay stayed");
    const now = await definitions(api);
    holds(now.join() === stayed.join(), `before: ${stayed.join(", ")}\nafter: ${now.join(", ")}`);
    return `the same ${now.length} objects before and after`;
  });
}
