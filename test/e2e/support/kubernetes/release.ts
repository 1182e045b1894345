/**
 * Helm releases without Helm: charts lie on servers that a closed network does not reach, so nothing is rendered. What is
 * real is the release's record, the Secret that Helm keeps in the release's namespace: it needs the namespace, it is found
 * and deleted like Helm's, and it is what order of creation and deletion can be seen by.
 */

import { type Api, ApiError, type KubernetesObject } from "../api.ts";
import { type Tree, unknownMarker } from "./values.ts";

const fieldManager = "helm";

const record = (inputs: Tree, revision: number): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: `sh.helm.release.v1.${inputs.name}.v${revision}`,
    namespace: String(inputs.namespace ?? "default"),
    labels: { owner: "helm", name: String(inputs.name), status: "deployed", version: String(revision) },
  },
  type: "helm.sh/release.v1",
  data: { release: Buffer.from(JSON.stringify(inputs)).toString("base64") },
});

/** A release's name, which Pulumi makes of the resource's when the program gives none. */
export const named = (inputs: Tree, urn: string): Tree => ({
  ...inputs,
  name: inputs.name ?? urn.split("::").at(-1) ?? "",
});

/** Writes the record of a revision. @returns the release's outputs */
export async function writeRelease(api: Api, inputs: Tree, before: Tree | undefined, dryRun: boolean): Promise<Tree> {
  const revision = before === undefined ? 1 : revisionOf(before) + 1;
  const { name, namespace = "default" } = inputs;
  const status = { name: name ?? "", namespace, revision, status: "deployed", version: inputs.version ?? "" };
  if (dryRun) return { ...inputs, status: unknownMarker };
  if (inputs.createNamespace === true)
    await api.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: String(namespace) } }, { fieldManager });
  await api.apply(record(inputs, revision), { fieldManager, force: true });
  if (before !== undefined) await api.remove(record(before, revision - 1), "Background");
  return { ...inputs, status };
}

const revisionOf = (state: Tree): number => Number((state.status as { revision?: number } | undefined)?.revision ?? 1);

/** The state of a release whose record is there; undefined when it was deleted. */
export async function readRelease(api: Api, state: Tree): Promise<Tree | undefined> {
  return (await api.get(record(state, revisionOf(state)))) === undefined ? undefined : state;
}

export async function removeRelease(api: Api, state: Tree): Promise<void> {
  const { name, namespace = "default" } = state;
  const selector = `owner=helm,name=${name}`;
  const records = await api.list("v1", "Secret", String(namespace), selector).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  });
  for (const one of records) await api.remove(one, "Background");
}
