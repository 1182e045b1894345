import type { KubernetesObject } from "../api.ts";
import { isTree, type Json, secret, type Tree } from "./values.ts";

/** `namespace/name`, or the name alone of what has no namespace. */
export const idOf = ({ metadata }: KubernetesObject): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;

/** Text that a Secret is given as it is, in the form that the API server keeps it in. */
export function normalized(inputs: Tree): Tree {
  const { stringData, ...rest } = inputs;
  if (inputs.kind !== "Secret" || !isTree(stringData)) return inputs;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString("base64"),
  ]);
  return { ...rest, data: { ...(isTree(rest.data) ? rest.data : {}), ...Object.fromEntries(encoded) } };
}

/** Marks what a Secret holds, wherever it is found, so that the engine encrypts it in its state. */
export const sealed = (tree: Tree): Tree =>
  tree.kind === "Secret" && isTree(tree.data) ? { ...tree, data: secret(tree.data) } : tree;

/** What the state keeps of an object: all of it, and under which name it was applied. */
export const stateOf = (live: KubernetesObject, fieldManager: string): Tree =>
  sealed({ ...(live as unknown as Tree), __fieldManager: fieldManager, __initialApiVersion: live.apiVersion });

/** Inputs as an object of the API. */
export const asObject = (inputs: Tree): KubernetesObject => inputs as unknown as KubernetesObject;

/** The live object that a state holds. */
export function liveOf(state: Tree): Tree {
  const { __fieldManager, __initialApiVersion, ...live } = state;
  return live;
}

export const annotation = (tree: Tree, name: string): string | undefined => {
  const metadata = tree.metadata;
  const annotations: Json | undefined = isTree(metadata) ? metadata.annotations : undefined;
  const value = isTree(annotations) ? annotations[name] : undefined;
  return typeof value === "string" ? value : undefined;
};
