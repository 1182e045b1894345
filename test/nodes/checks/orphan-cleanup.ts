/** The clean-up job as a pod: it deletes an abandoned RayCluster and no other. */

import { idleSinceAnnotation, keepAnnotation } from "../../../infra/workloads/orphan-cleanup/script.ts";
import { until } from "../../e2e/support/daemon.ts";
import { holds } from "../../e2e/support/report.ts";
import type { Subject } from "../support.ts";
import { namespace } from "../surroundings.ts";

const hour = 3_600_000;

/** A RayCluster as a client makes one; suspended, so that it costs nothing. */
const rayCluster = (name: string, annotations: Readonly<Record<string, string>>) => {
  const amounts = { cpu: "100m", memory: "128Mi" };
  return {
    apiVersion: "ray.io/v1",
    kind: "RayCluster",
    metadata: { name, namespace, annotations },
    spec: {
      suspend: true,
      rayVersion: "2.56.0",
      headGroupSpec: {
        rayStartParams: {},
        template: {
          spec: {
            containers: [
              {
                name: "ray-head",
                image: "rayproject/ray:2.56.0-py312",
                resources: { requests: amounts, limits: amounts },
              },
            ],
          },
        },
      },
    },
  };
};

export async function checkOrphanCleanup({ surroundings, report, kubectl }: Subject): Promise<void> {
  await report.check("orphan-cleanup deletes an abandoned RayCluster and no other", async () => {
    const long = new Date(Date.now() - 100 * hour).toISOString();
    const clusters = {
      abandoned: rayCluster("abandoned", { [idleSinceAnnotation]: long }),
      kept: rayCluster("kept", { [idleSinceAnnotation]: long, [keepAnnotation]: "true" }),
      recent: rayCluster("recent", {}),
    };
    for (const cluster of Object.values(clusters))
      await kubectl(["apply", "-f", "-"], { input: JSON.stringify(cluster) });
    const job = ["-n", namespace, "create", "job", "cleanup-now", "--from=cronjob/orphan-cleanup"];
    await kubectl(job);
    await kubectl(["-n", namespace, "wait", "--for=condition=Complete", "job/cleanup-now", "--timeout=400s"]);
    const log = await kubectl(["-n", namespace, "logs", "job/cleanup-now"]);
    const names = async () =>
      (await surroundings.api.list("ray.io/v1", "RayCluster", namespace)).map(({ metadata }) => metadata.name).sort();
    await until("the abandoned cluster's end", async () => ((await names()).includes("abandoned") ? undefined : true), {
      seconds: 300,
    });
    const left = await names();
    holds(
      ["geneva", "kept", "recent"].every((name) => left.includes(name)),
      `left: ${left.join(", ")}\n${log}`,
    );
    const recent = await surroundings.api.get(clusters.recent);
    holds(recent?.metadata.annotations?.[idleSinceAnnotation] !== undefined, "the idle one has no time");
    await kubectl(["-n", namespace, "delete", "raycluster", "kept", "recent"]);
    await kubectl(["-n", namespace, "delete", "job", "cleanup-now"]);
    return `left: ${left.join(", ")}`;
  });
}
