/** What the Kubernetes provider waits for after it has created or updated an object, by kind. */

import { setTimeout as sleep } from "node:timers/promises";
import { type Api, hasCondition, type KubernetesObject } from "../api.ts";
import { differences } from "./values.ts";

/** Why an object is not ready yet; undefined when it is. */
type Check = (live: KubernetesObject, api: Api) => string | undefined | Promise<string | undefined>;

const address: Check = ({ status }) =>
  (status?.loadBalancer?.ingress ?? []).length > 0 ? undefined : "it has no load balancer's address";

/** The provider waits for no other kind: not for a namespace, and not for a definition. */
const checks: Readonly<Record<string, Check>> = {
  "apps/v1/Deployment": (live) => {
    const { status = {}, spec, metadata } = live;
    if ((status.observedGeneration ?? 0) < Number(metadata.generation)) return "the controller has not seen it";
    if ((status.updatedReplicas ?? 0) < (spec.replicas ?? 1))
      return `${status.updatedReplicas ?? 0} pods of its newest form`;
    if ((status.replicas ?? 0) > (status.updatedReplicas ?? 0)) return "pods of an older form are there";
    return hasCondition(live, "Available") ? undefined : "it is not Available";
  },
  "v1/Service": async (live, api) => {
    const { spec, metadata } = live;
    if (spec.type === "LoadBalancer") {
      const missing = address(live, api);
      if (missing !== undefined) return missing;
    }
    if (spec.selector === undefined || spec.clusterIP === "None" || spec.type === "ExternalName") return undefined;
    const slices = await api.list(
      "discovery.k8s.io/v1",
      "EndpointSlice",
      metadata.namespace,
      `kubernetes.io/service-name=${metadata.name}`,
    );
    const ready = slices.some((slice) =>
      slice.endpoints?.some((one: { conditions?: { ready?: boolean } }) => one.conditions?.ready !== false),
    );
    return ready ? undefined : "no pod behind it is ready";
  },
  "networking.k8s.io/v1/Ingress": address,
  "v1/PersistentVolumeClaim": ({ status }) => (status?.phase === "Bound" ? undefined : `its phase is ${status?.phase}`),
  // The limits alone, as the provider does: what is used of them may still be missing.
  "v1/ResourceQuota": ({ spec, status }) =>
    differences(spec.hard, status?.hard).length === 0 ? undefined : "its status does not have the limits yet",
  "batch/v1/Job": (live) => (hasCondition(live, "Complete") ? undefined : "it is not Complete"),
};

/** One step of a path: a member's name, as RFC 9535 writes it without quotes, or all members. */
const steps = /^\$?(\.([A-Za-z_]\w*|\*))+$/;

/**
 * `pulumi.com/waitFor`: conditions and paths, alone or as a JSON array.
 * @throws Error for what the provider's parser refuses, and for the rest of RFC 9535, which this stand-in does not know
 */
export function waits(text: string): Check {
  const expressions = text.startsWith("[") ? (JSON.parse(text) as string[]) : [text];
  const all = expressions.map(wait);
  return async (live, api) => {
    for (const check of all) {
      const reason = await check(live, api);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

function wait(text: string): Check {
  const condition = /^condition=(\w+)$/.exec(text)?.[1];
  if (condition !== undefined) return (live) => (hasCondition(live, condition) ? undefined : `it is not ${condition}`);
  const { path = "", wanted } = /^jsonpath=\{\s*(?<path>.*?)\s*\}(=(?<wanted>.+))?$/.exec(text)?.groups ?? {};
  if (!steps.test(path)) throw new Error(`jsonpath: this stand-in cannot parse ${text}`);
  const keys = path.replace(/^\$/, "").split(".").slice(1);
  const members = (value: unknown, key: string): unknown[] => {
    if (typeof value !== "object" || value === null) return [];
    if (key === "*") return Object.values(value);
    return key in value ? [(value as Record<string, unknown>)[key]] : [];
  };
  return (live) => {
    const [found] = keys.reduce<unknown[]>((values, key) => values.flatMap((value) => members(value, key)), [live]);
    if (found === undefined) return `${path} selected nothing`;
    return wanted === undefined || String(found) === wanted ? undefined : `${path} is ${String(found)}`;
  };
}

/** The kinds whose readiness a refresh checks, once. */
const read: ReadonlySet<string> = new Set([
  "apps/v1/Deployment",
  "v1/Service",
  "networking.k8s.io/v1/Ingress",
  "batch/v1/Job",
]);

/** Why an object that a refresh reads is not ready; undefined when it is, or when a refresh does not ask. */
export async function unready(api: Api, live: KubernetesObject): Promise<string | undefined> {
  const id = `${live.apiVersion}/${live.kind}`;
  if (!read.has(id) || live.metadata.annotations?.["pulumi.com/skipAwait"] === "true") return undefined;
  return checks[id]?.(live, api);
}

/**
 * Waits until an object is ready.
 * @returns the object as it is then, and why it is not ready where that took longer than `seconds`
 */
export async function awaitReady(
  api: Api,
  created: KubernetesObject,
  seconds: number,
): Promise<{ live: KubernetesObject; reason?: string }> {
  const wished = created.metadata.annotations?.["pulumi.com/waitFor"];
  const check = wished === undefined ? checks[`${created.apiVersion}/${created.kind}`] : waits(wished);
  if (check === undefined) return { live: created };
  const end = Date.now() + seconds * 1000;
  for (let live = created; ; ) {
    const reason = await check(live, api);
    if (reason === undefined) return { live };
    if (Date.now() > end) return { live, reason };
    await sleep(200);
    live = (await api.get(created)) ?? created;
  }
}

/** Waits until an object and what it owns are gone. @throws Error after `seconds` */
export async function awaitGone(api: Api, object: KubernetesObject, seconds: number): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const live = await api.get(object).catch((error: unknown) => {
      if (error instanceof Error && error.name === "UnknownKind") return undefined;
      throw error;
    });
    // One of the same name that came after it is another object.
    if (live === undefined || live.metadata.uid !== object.metadata.uid) return;
    if (Date.now() > end)
      throw new Error(
        `${object.kind} ${object.metadata.name} is still there after ${seconds} s; its finalizers: ${JSON.stringify(live.metadata.finalizers ?? [])}`,
      );
    await sleep(200);
  }
}
