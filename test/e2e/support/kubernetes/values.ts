import { factors } from "../../../../infra/model/quantity.ts";
/** Property trees as the engine sends them, and the comparison that the Kubernetes provider makes of them. Pure. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Tree = { [key: string]: Json };

/** What the engine sends in place of a value that only an apply will know. */
export const unknownMarker = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const secretSignature = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
} as const;

/** Marks a value as secret for the engine. */
export const secret = (value: Json): Json => ({ ...secretSignature, value });

export const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSecret = (value: Tree): boolean =>
  Object.entries(secretSignature).every(([mark, kind]) => value[mark] === kind);

/** A tree without the marks of what is secret in it. */
export function revealed(value: Json): Json {
  if (Array.isArray(value)) return value.map(revealed);
  if (!isTree(value)) return value;
  if (isSecret(value)) return revealed(value.value ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealed(inner)]));
}

export const hasUnknown = (value: Json): boolean =>
  value === unknownMarker ||
  (Array.isArray(value) ? value.some(hasUnknown) : isTree(value) && Object.values(value).some(hasUnknown));

/** The live object cut down to what the inputs name: values that the cluster added are not drift. */
export function prune(live: Json | undefined, inputs: Json): Json | undefined {
  if (live === undefined) return undefined;
  if (Array.isArray(inputs) && Array.isArray(live))
    return live.map((item, index) => prune(item, inputs[index] ?? item) ?? null);
  if (!isTree(inputs) || !isTree(live)) return live;
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([key, value]) => {
      const kept = prune(live[key], value);
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
}

const suffixes: Readonly<Record<string, number>> = { ...factors, m: 1e-3 };
const quantity = /^(?<number>\d+(\.\d+)?)(?<suffix>m|k|M|G|T|Ki|Mi|Gi|Ti|)$/;
/** Keys under which Kubernetes' own kinds hold quantities, which the API server writes in its own way. */
const quantityKeys = new Set([
  "limits",
  "requests",
  "hard",
  "default",
  "defaultRequest",
  "min",
  "max",
  "sizeLimit",
  "divisor",
]);

const amount = (value: Json): number | undefined => {
  const match = quantity.exec(String(value))?.groups;
  return match === undefined ? undefined : Number(match.number) * (suffixes[match.suffix ?? ""] ?? Number.NaN);
};

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || (isTree(value) && Object.values(value).every(isEmpty));

export interface Difference {
  /** Path of the property as the engine writes it: `spec.template.spec.containers[0].image`. */
  readonly path: string;
  readonly kind: "add" | "delete" | "update";
}

const step = (path: string, key: string): string =>
  /^[\w-]+$/.test(key) && !key.includes("-") ? (path === "" ? key : `${path}.${key}`) : `${path}["${key}"]`;

/** Leaf by leaf, what must change of `before` to make it `after`. */
export function differences(
  before: Json | undefined,
  after: Json | undefined,
  path = "",
  amounts = false,
): Difference[] {
  if (isEmpty(before) && isEmpty(after)) return [];
  if (isTree(before) && isTree(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      differences(before[key], after[key], step(path, key), amounts || quantityKeys.has(key)),
    );
  if (Array.isArray(before) && Array.isArray(after))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, index) =>
      differences(before[index], after[index], `${path}[${index}]`, amounts),
    ).flat();
  if (before === undefined || before === null) return [{ path, kind: "add" }];
  if (after === undefined || after === null) return [{ path, kind: "delete" }];
  if (before === after) return [];
  if (amounts && amount(before) !== undefined && amount(before) === amount(after)) return [];
  return [{ path, kind: "update" }];
}

/** A path without indexes and quotes: `spec.template.spec.containers.image`. */
const plain = (path: string): string =>
  path
    .replaceAll(/\[\d+\]/g, "")
    .replaceAll(/\["([^"]+)"\]/g, ".$1")
    .replace(/^\./, "");

export const covers = (property: string, path: string): boolean =>
  plain(path) === plain(property) ||
  plain(path).startsWith(`${plain(property)}.`) ||
  plain(property).startsWith(`${plain(path)}.`);

/** Properties whose change means another object, by kind: the provider's own list, for the kinds that this project makes. */
const identity: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: ["data", "binaryData"],
  Secret: ["data", "stringData", "type"],
  PersistentVolumeClaim: ["spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeName"],
  Deployment: ["spec.selector"],
  DaemonSet: ["spec.selector"],
  Job: ["spec.completions", "spec.parallelism", "spec.selector", "spec.template"],
  Service: ["spec.clusterIP"],
  ResourceQuota: ["spec.scopes"],
  RoleBinding: ["roleRef"],
  ClusterRoleBinding: ["roleRef"],
};

/** Whether a change of a path changes such a property: the path is the property, lies in it, or holds it. */
export const replaces = (kind: string, path: string): boolean =>
  [...(identity[kind] ?? []), "metadata.name", "metadata.namespace"].some((property) => covers(property, path));
