/** The Kubernetes objects of a capture, as the API server would get them. */

import type { Capture, PlannedResource } from "../../../infra/offline-plan/capture.ts";
import { Computed, Secret, type Value } from "../../../infra/offline-plan/values.ts";

export interface Manifest {
  readonly resource: PlannedResource;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: whatever the object's kind has; the schemas judge it
  readonly body: any;
}

/** Secrets in the open, as only the API server sees them; what is unknown has no value. */
function reveal(value: Value): unknown {
  if (value instanceof Secret) return reveal(value.value);
  if (value instanceof Computed) return undefined;
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, reveal(inner)]));
}

export const revealed = (resource: PlannedResource): Record<string, unknown> =>
  reveal(resource.inputs) as Record<string, unknown>;

const isManifest = (value: Record<string, unknown>): boolean =>
  typeof value.kind === "string" && typeof value.apiVersion === "string";

export function manifests({ resources }: Capture): Manifest[] {
  return resources.flatMap((resource) => {
    if (!resource.type.startsWith("kubernetes:")) return [];
    const body = revealed(resource);
    return isManifest(body) ? [{ resource, body, ...(body as unknown as Omit<Manifest, "resource" | "body">) }] : [];
  });
}

/** @throws Error when there is not exactly one such object. */
export function one(list: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = list.filter((object) => object.kind === kind && (name === undefined || object.metadata.name === name));
  const [only] = found;
  if (only === undefined || found.length > 1) throw new Error(`${found.length} objects of kind ${kind} ${name ?? ""}`);
  return only;
}

interface PodSpec {
  securityContext?: Record<string, unknown>;
  hostNetwork?: boolean;
  hostPID?: boolean;
  volumes?: Record<string, unknown>[];
  containers: { name: string; securityContext?: Record<string, unknown> }[];
}

/** What the `restricted` Pod Security Standard holds against a pod; empty when it may run. */
export function restrictedViolations(spec: PodSpec): string[] {
  const pod = spec.securityContext ?? {};
  const allowedVolumes = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
  ];
  return [
    ...(spec.hostNetwork || spec.hostPID ? ["shares the host's namespaces"] : []),
    ...(spec.volumes ?? []).flatMap((volume) =>
      Object.keys(volume).some((key) => key !== "name" && !allowedVolumes.includes(key))
        ? [`volume ${volume.name}`]
        : [],
    ),
    ...spec.containers.flatMap(({ name, securityContext: own = {} }) => {
      const seccomp = (own.seccompProfile ?? pod.seccompProfile) as { type?: string } | undefined;
      const capabilities = own.capabilities as { drop?: string[]; add?: string[] } | undefined;
      return [
        ...(own.allowPrivilegeEscalation === false ? [] : [`${name}: privilege escalation`]),
        ...((own.runAsNonRoot ?? pod.runAsNonRoot) === true ? [] : [`${name}: may run as root`]),
        ...((own.runAsUser ?? pod.runAsUser) === 0 ? [`${name}: runs as root`] : []),
        ...(seccomp?.type === "RuntimeDefault" ? [] : [`${name}: no seccomp profile`]),
        ...(capabilities?.drop?.includes("ALL") && capabilities.add === undefined ? [] : [`${name}: capabilities`]),
      ];
    }),
  ];
}
