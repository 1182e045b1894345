/** The stack `local` from its first preview to its destroy. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import type { ClientParameters } from "../../../infra/model/client-parameters.ts";
import { diffPlans } from "../../../infra/offline-plan/diff.ts";
import { scopes } from "../../../service/auth/index.ts";
import { checkRights, runtimeRights } from "../support/access.ts";
import { checkClientCluster } from "../support/client-cluster.ts";
import { until } from "../support/daemon.ts";
import type { Outcome, Stack } from "../support/engine.ts";
import { changing, idOf } from "../support/events.ts";
import { leftBehind } from "../support/left-behind.ts";
import { checkPlacement, rayClusterReady } from "../support/placement.ts";
import { checkOrder, offlinePlan, operationsOf, predictedOperations, requirePredicted } from "../support/prediction.ts";
import { holds, type Report } from "../support/report.ts";
import { askOperations, bearerToken, forward, type Running, runAsProcess } from "../support/table-service.ts";
import { operatorOutside, verifyStack } from "../support/verification.ts";
import { openSurroundings, type Surroundings } from "./surroundings.ts";

const stackName = "local";
const namespace = "lancedb";

/** Static tokens, each named. */
const tokensOf = (tokens: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    Object.entries(tokens).map(([name, token]) => ({
      name,
      sha256: createHash("sha256").update(token).digest("hex"),
      scopes,
      tables: ["**"],
    })),
  );
const tokens = tokensOf({ e2e: bearerToken });

/** The stack's table service, with static tokens because the suite has no issuer. */
const tableService = {
  image: "lakehead:0.1.0",
  cpus: 0.5,
  memory: "1Gi",
  replicas: { min: 1, max: 1 },
  exposure: { mode: "cluster" },
} as const;

const counted = ({ changes }: Outcome): string =>
  Object.entries(changes)
    .map(([op, count]) => `${count} ${op}`)
    .join(", ");

export async function runLocal(report: Report): Promise<void> {
  const surroundings = await openSurroundings(report.log);
  try {
    report.log(surroundings.title);
    await runOn(surroundings, report);
  } finally {
    await surroundings.close();
  }
}

async function runOn(surroundings: Surroundings, report: Report): Promise<void> {
  const { engine, api } = surroundings;
  const overrides = { ...surroundings.overrides, "lakehead:tableService": tableService };
  const before = await leftBehind(api);
  const stack = await engine.stack(stackName, { overrides, secrets: { "lakehead:staticTokens": tokens } });
  const plan = await offlinePlan(engine.project, stackName);

  await report.check("preview plans what the offline plan says", async () => {
    const preview = await stack.preview();
    requirePredicted(
      operationsOf(preview.begun, plan),
      predictedOperations(diffPlans({ ...plan, entries: [] }, plan), plan),
    );
    return `${operationsOf(preview.begun, plan).length} resources to create`;
  });
  let created: Outcome | undefined;
  const isUp = await report.check("up creates them", async () => {
    created = await stack.up();
    return `${counted(created)} in ${created.seconds.toFixed(1)} s`;
  });
  if (isUp && created !== undefined) {
    const up = created;
    await report.check("nothing was created before its dependencies", () => `${checkOrder(up, plan, "create")} pairs`);
    await checkRunning(surroundings, stack, report);
    await checkChanges(surroundings, stack, overrides, report);
  }
  await report.check("destroy deletes what up created", async () => {
    const destroyed = await stack.destroy();
    const pairs = checkOrder(destroyed, plan, "delete");
    const { deployment } = await stack.state();
    holds((deployment.resources ?? []).length === 0, `the state still has ${deployment.resources?.length} resources`);
    const order = destroyed.ended
      .filter(({ op, type }) => op === "delete" && type.startsWith("kubernetes:"))
      .map(({ type, name }) => `${type.split(":").at(-1)} ${name}`);
    report.summarize(`${stackName}: order of deletion: ${order.join(", ")}`);
    return `${counted(destroyed)} in ${destroyed.seconds.toFixed(1)} s, ${pairs} pairs in order`;
  });
  await report.check("destroy leaves only what docs/destroy.md lists", async () => {
    let stays: string[] = [];
    // Volumes and pods are deleted shortly after their owners.
    await until("an empty cluster", async () => {
      const now = (await leftBehind(api)).filter((one) => !before.includes(one));
      stays = now.filter((one) => /^CustomResourceDefinition \w+\.ray\.io$/.test(one));
      holds(now.length === stays.length, `left behind:\n${now.filter((one) => !stays.includes(one)).join("\n")}`);
      return true;
    });
    return stays.length === 0 ? "nothing is left" : `${stays.length} definitions of KubeRay stay`;
  });
  await report.check("another stack adopts the definitions that stayed, and keeps them as well", async () => {
    const stayed = await definitions(api);
    holds(stayed.length > 0, "no definition of KubeRay stayed");
    const second = await engine.stack("second", {
      like: stackName,
      overrides,
      secrets: { "lakehead:staticTokens": tokens },
    });
    const adopted = await second.up();
    await second.destroy();
    const now = await definitions(api);
    holds(now.join() === stayed.join(), `before: ${stayed.join(", ")}\nafter: ${now.join(", ")}`);
    return `${counted(adopted)}; the same ${now.length} objects before and after`;
  });
  if (created !== undefined)
    report.summarize(`${stackName}: ${counted(created)} in ${created.seconds.toFixed(1)} s on ${surroundings.title}`);
}

/** KubeRay's definitions with the ids that the API server gave them. */
async function definitions(api: Surroundings["api"]): Promise<string[]> {
  const all = await api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  return all
    .filter(({ metadata: { name } }) => name.endsWith(".ray.io"))
    .map(({ metadata: { name, uid } }) => `${name} ${uid}`)
    .sort();
}

/** Checks the running stack. */
async function checkRunning(surroundings: Surroundings, stack: Stack, report: Report): Promise<void> {
  const { api, kubeconfig, simulated, charts, engine } = surroundings;
  const outputs = await stack.outputs();
  const parameters = outputs.clientParameters as ClientParameters;

  await report.check("no secret is readable in the state", async () => {
    const { deployment } = await stack.state();
    const digest = createHash("sha256").update(bearerToken).digest("hex");
    const text = JSON.stringify(deployment);
    for (const secret of [bearerToken, digest, Buffer.from(tokens).toString("base64")])
      holds(!text.includes(secret), "the static tokens are in the state as plain text");
    return undefined;
  });
  await report.check("KubeRay reports the RayCluster as ready", () =>
    rayClusterReady(api, namespace, "geneva", simulated ? 120 : 900),
  );
  await report.check("each Ray pod is on a node of its role, and no other pod on the head's", () =>
    checkPlacement(api, {
      expected: simulated ? { "ray-head": 1, "ray-worker-cpu": 1, "ray-worker-gpu": 1 } : { "ray-head": 1 },
      apart: simulated,
    }),
  );
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
    const where = kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig];
    const args = [...where, "wait", "-n", namespace, `resourcequota/${quota.metadata.name}`, `--for=${wished}`];
    return (await promisify(execFile)("kubectl", [...args, "--timeout=5s"])).stdout.trim();
  });
  await report.check("the API server takes the client's RayCluster, strictly validated", () =>
    checkClientCluster(api, parameters, "2.56.0"),
  );
  let service: Running | undefined;
  await report.check("the table service responds over HTTP", async () => {
    service = simulated
      ? await runAsProcess(api, namespace, "table-service", engine.folder)
      : await forward(namespace, "table-service", engine.folder);
    return askOperations(service);
  });
  if (service !== undefined) {
    const { url, operationsUrl } = service;
    const args = ["--service-url", url, "--operations-url", operationsUrl, "--table", "e2e"];
    await report.check("npm run verify finds no fault that is not expected", () =>
      verifyStack(engine, stackName, args, bearerToken, charts ? [] : [operatorOutside]),
    );
    await service.stop();
  }
}

/** Checks a second up, drift, and a change of the configuration. */
async function checkChanges(
  { engine, api, simulated }: Surroundings,
  stack: Stack,
  overrides: Readonly<Record<string, unknown>>,
  report: Report,
): Promise<void> {
  await report.check("a second up changes nothing", async () => {
    const again = await stack.up();
    const found = changing(again.ended);
    holds(found.length === 0, found.map(({ op, urn, paths }) => `${op} ${idOf(urn)}: ${paths.join(", ")}`).join("\n"));
    report.summarize(`${stackName}: a second up is a no-op: ${counted(again)}`);
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
  await report.check("refresh finds a manual change, and up reverts it", async () => {
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "lakehead", namespace } };
    const live = await api.get(quota);
    const path = await api.path(quota);
    await api.ask("PATCH", path, { spec: { hard: { "requests.cpu": "1" } } }, "application/merge-patch+json");
    const refreshed = await stack.refresh();
    const seen = refreshed.ended.filter(({ op, name }) => op === "update" && name === "quota");
    holds(seen.length === 1, `${counted(refreshed)}\n${refreshed.output}`);
    const repaired = await stack.up();
    holds(
      changing(repaired.ended)
        .map(({ name }) => name)
        .join() === "quota",
      counted(repaired),
    );
    const now = await api.get(quota);
    holds(now?.spec.hard["requests.cpu"] === live?.spec.hard["requests.cpu"], JSON.stringify(now?.spec));
    return counted(refreshed);
  });
  await report.check("a change updates exactly what the offline plan predicted", async () => {
    const before = await offlinePlan(engine.project, stackName);
    await stack.configure({ ...overrides, "lakehead:tableService": { ...tableService, logLevel: "debug" } });
    const after = await offlinePlan(engine.project, stackName);
    const said = predictedOperations(diffPlans(before, after), after);
    const changed = await stack.up();
    requirePredicted(operationsOf(changed.ended, after), said);
    return said.join("; ");
  });
  await report.check(
    "new static tokens make a new Secret, update the Deployment, and delete the old Secret last",
    async () => {
      await stack.setSecret("lakehead:staticTokens", tokensOf({ e2e: bearerToken, second: `${bearerToken}-2` }));
      const steps = changing((await stack.up()).ended).map(({ op, type }) => `${op} ${type.split(":").at(-1)}`);
      const said = steps.join(", ");
      holds(
        said === "create-replacement Secret, replace Secret, update Deployment, delete-replaced Secret",
        `the engine did: ${said}`,
      );
      return said;
    },
  );
  if (!simulated) return;
  await report.check("a larger maximum of workers leaves the number that the autoscaler set", async () => {
    const cluster = { apiVersion: "ray.io/v1", kind: "RayCluster", metadata: { name: "geneva", namespace } };
    // The autoscaler sends a JSON patch of this field.
    const patch = [{ op: "replace", path: "/spec/workerGroupSpecs/0/replicas", value: 2 }];
    await api.ask("PATCH", await api.path(cluster), patch, "application/json-patch+json");
    const ray = overrides["lakehead:ray"] as { cpuWorkers: object };
    await stack.configure({
      ...overrides,
      "lakehead:ray": { ...ray, cpuWorkers: { ...ray.cpuWorkers, maxReplicas: 3 } },
    });
    const changed = changing((await stack.up()).ended);
    const [group] = (await api.get(cluster))?.spec.workerGroupSpecs ?? [];
    holds(
      group?.maxReplicas === 3 && group?.replicas === 2,
      `${JSON.stringify({ max: group?.maxReplicas, replicas: group?.replicas })} after ${changed.map(({ op, name }) => `${op} ${name}`).join(", ")}`,
    );
    return changed.map(({ op, name }) => `${op} ${name}`).join(", ");
  });
}
