/** What the Kubernetes provider waits for after it has created or updated an object, by kind. */

import { setTimeout as sleep } from "node:timers/promises";
import { type Api, hasCondition, type KubernetesObject } from "../api.ts";
import { differences } from "./values.ts";

/** Why an object is not ready yet; undefined when it is. */
type Check = (live: KubernetesObject, api: Api) => string | undefined | Promise<string | undefined>;

const address: Check = ({ status }) =>
  (status?.loadBalancer?.ingress ?? []).length > 0 ? undefined : "it has no load balancer's address";

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
  "v1/Namespace": ({ status }) => (status?.phase === "Active" ? undefined : `its phase is ${status?.phase}`),
  "v1/PersistentVolumeClaim": ({ status }) => (status?.phase === "Bound" ? undefined : `its phase is ${status?.phase}`),
  // The limits alone, as the provider does: what is used of them may still be missing.
  "v1/ResourceQuota": ({ spec, status }) =>
    differences(spec.hard, status?.hard).length === 0 ? undefined : "its status does not have the limits yet",
  "batch/v1/Job": (live) => (hasCondition(live, "Complete") ? undefined : "it is not Complete"),
  "apiextensions.k8s.io/v1/CustomResourceDefinition": (live) =>
    hasCondition(live, "Established") ? undefined : "it is not Established",
};

/** `pulumi.com/waitFor`: a condition's type, or a path that must lead somewhere. @throws Error for any other form */
const custom = (text: string): Check => {
  const [, path] = /^jsonpath=\{\.(.*)\}$/.exec(text) ?? [];
  const [, condition] = /^condition=(\w+)$/.exec(text) ?? [];
  if (condition !== undefined) return (live) => (hasCondition(live, condition) ? undefined : `it is not ${condition}`);
  if (path === undefined) throw new Error(`this stand-in does not know how to wait for ${text}`);
  const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll("\\.", "."));
  const find = (live: KubernetesObject) =>
    keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], live);
  return (live) => (find(live) === undefined ? `it has no ${path}` : undefined);
};

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
  const check = wished === undefined ? checks[`${created.apiVersion}/${created.kind}`] : custom(wished);
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
