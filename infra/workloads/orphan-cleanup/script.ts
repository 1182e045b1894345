/**
 * Deletes RayClusters that their clients left behind. It runs in the cluster as a CronJob, from a ConfigMap, with
 * nothing but Node: so it imports nothing of this project and no package.
 *
 * A cluster that this stack does not own counts as left behind once it has had no worker beyond its minimum for the
 * configured time. One look cannot tell for how long, so each run writes down, in an annotation, since when a cluster
 * has been idle, and takes it away when workers are back.
 */

import { readFile } from "node:fs/promises";

export const idleSinceAnnotation = "lakehead/idle-since";
export const keepAnnotation = "lakehead/keep";

/** The part of a `ray.io/v1` RayCluster that decides. */
export interface RayClusterObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly unknown[];
  };
  readonly spec?: {
    readonly workerGroupSpecs?: readonly { readonly minReplicas?: number; readonly numOfHosts?: number }[];
  };
  readonly status?: { readonly availableWorkerReplicas?: number; readonly desiredWorkerReplicas?: number };
}

export type Decision =
  | { readonly action: "leave"; readonly reason: string }
  /** Writes down the time from which the cluster counts as idle (ISO 8601), or takes it away. */
  | { readonly action: "mark"; readonly idleSince: string | null; readonly reason: string }
  | { readonly action: "delete"; readonly reason: string };

const hour = 3_600_000;

/** What to do about one cluster at a time. Never deletes at first sight. */
export function decide(cluster: RayClusterObject, now: Date, idleHours: number): Decision {
  const { labels = {}, annotations = {}, ownerReferences = [], deletionTimestamp } = cluster.metadata;
  if (labels["app.kubernetes.io/managed-by"] === "lakehead") return { action: "leave", reason: "the stack owns it" };
  if (ownerReferences.length > 0) return { action: "leave", reason: "another object owns it" };
  if (annotations[keepAnnotation] === "true") return { action: "leave", reason: `${keepAnnotation} is set` };
  if (deletionTimestamp !== undefined) return { action: "leave", reason: "it is being deleted already" };

  const marked = annotations[idleSinceAnnotation];
  if (workers(cluster) > leastWorkers(cluster)) {
    return marked === undefined
      ? { action: "leave", reason: "it has workers" }
      : { action: "mark", idleSince: null, reason: "it has workers again" };
  }
  const since = Date.parse(marked ?? "");
  // A time that cannot be read, or lies in the future, must not delete anything: count anew.
  if (Number.isNaN(since) || since > now.getTime()) {
    return { action: "mark", idleSince: now.toISOString(), reason: "it has no workers" };
  }
  const idle = (now.getTime() - since) / hour;
  return idle < idleHours
    ? { action: "leave", reason: `idle for ${idle.toFixed(1)} of ${idleHours} h` }
    : { action: "delete", reason: `idle for ${idle.toFixed(1)} h` };
}

function workers({ status }: RayClusterObject): number {
  return Math.max(status?.availableWorkerReplicas ?? 0, status?.desiredWorkerReplicas ?? 0);
}

function leastWorkers({ spec }: RayClusterObject): number {
  return (spec?.workerGroupSpecs ?? []).reduce(
    (sum, group) => sum + (group.minReplicas ?? 0) * (group.numOfHosts ?? 1),
    0,
  );
}

export interface Api {
  /** Base URL of the Kubernetes API, such as https://kubernetes.default.svc. */
  readonly url: string;
  readonly token: string;
  readonly namespace: string;
}

/**
 * Looks at every RayCluster of the namespace once and acts on it.
 * @returns how many clusters it failed to act on; one that changed or vanished meanwhile is no failure
 * @throws Error when the clusters cannot be listed
 */
export async function sweep(
  api: Api,
  { now, idleHours, log }: { now: Date; idleHours: number; log: (line: Record<string, unknown>) => void },
): Promise<number> {
  const clusters = await list(api);
  let failed = 0;
  for (const cluster of clusters) {
    const decision = decide(cluster, now, idleHours);
    const outcome = await act(api, cluster, decision);
    if (outcome === "failed") failed += 1;
    log({ cluster: cluster.metadata.name, ...decision, outcome });
  }
  return failed;
}

async function list(api: Api): Promise<RayClusterObject[]> {
  const found: RayClusterObject[] = [];
  let page = "";
  do {
    const response = await request(
      api,
      "GET",
      `?limit=200${page === "" ? "" : `&continue=${encodeURIComponent(page)}`}`,
    );
    // No such kind: KubeRay's definitions are gone, and with them every cluster.
    if (response.status === 404) return [];
    if (!response.ok) throw new Error(`listing RayClusters: HTTP ${response.status} ${await response.text()}`);
    const body = (await response.json()) as { items: RayClusterObject[]; metadata?: { continue?: string } };
    found.push(...body.items);
    page = body.metadata?.continue ?? "";
  } while (page !== "");
  return found;
}

type Outcome = "done" | "nothing" | "changed meanwhile" | "failed";

async function act(api: Api, { metadata }: RayClusterObject, decision: Decision): Promise<Outcome> {
  if (decision.action === "leave") return "nothing";
  const { name, uid, resourceVersion } = metadata;
  const response =
    decision.action === "mark"
      ? await request(api, "PATCH", `/${name}`, {
          metadata: { uid, resourceVersion, annotations: { [idleSinceAnnotation]: decision.idleSince } },
        })
      : await request(api, "DELETE", `/${name}`, {
          propagationPolicy: "Background",
          // If a worker came up since the list was read, the status changed and the delete is refused.
          preconditions: { uid, resourceVersion },
        });
  await response.arrayBuffer();
  if (response.ok) return "done";
  return response.status === 404 || response.status === 409 ? "changed meanwhile" : "failed";
}

function request(api: Api, method: "GET" | "PATCH" | "DELETE", path: string, body?: object): Promise<Response> {
  return fetch(`${api.url}/apis/ray.io/v1/namespaces/${api.namespace}/rayclusters${path}`, {
    method,
    signal: AbortSignal.timeout(30_000),
    headers: {
      authorization: `Bearer ${api.token}`,
      accept: "application/json",
      ...(body === undefined
        ? {}
        : { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Reads the pod's own credentials and runs one sweep; the arguments are the namespace and the hours. */
async function main([namespace = "", hours = ""]: readonly string[]): Promise<void> {
  const idleHours = Number(hours);
  if (namespace === "" || !(idleHours > 0)) throw new Error("usage: <namespace> <idle hours, more than 0>");
  const token = await readFile("/var/run/secrets/kubernetes.io/serviceaccount/token", "utf8");
  const failed = await sweep(
    { url: "https://kubernetes.default.svc", token, namespace },
    { now: new Date(), idleHours, log: (line) => console.log(JSON.stringify(line)) },
  );
  if (failed > 0) process.exitCode = 1;
}

// Not a comparison of paths: a ConfigMap is mounted through symbolic links.
if (import.meta.main) await main(process.argv.slice(2));
