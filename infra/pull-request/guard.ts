/**
 * Finds steps that delete or replace what cannot be restored, or that end the jobs on the nodes. Pure. Reads the offline
 * plan's diff and the output of `pulumi preview --json`.
 */

import { createHash } from "node:crypto";
import { type Change, compare } from "../offline-plan/changes.ts";
import { disruption } from "../offline-plan/consequences.ts";
import type { PlanDiff } from "../offline-plan/diff.ts";
import { shown, withoutIndexes } from "../offline-plan/leaves.ts";
import { unfold } from "../offline-plan/plan.ts";
import { decodeProperties, mask, type Plain } from "../offline-plan/values.ts";

/** The guarded types, as words that complete "deletes a …". */
const guarded: Readonly<Record<string, string>> = {
  "aws:eks/cluster:Cluster": "cluster",
  "gcp:container/cluster:Cluster": "cluster",
  "aws:eks/nodeGroup:NodeGroup": "node group",
  "gcp:container/nodePool:NodePool": "node group",
  "aws:s3/bucket:Bucket": "bucket",
  "gcp:storage/bucket:Bucket": "bucket",
  "aws:kms/key:Key": "encryption key",
  "gcp:kms/cryptoKey:CryptoKey": "encryption key",
  "aws:iam/role:Role": "identity",
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider": "identity",
  "aws:eks/accessEntry:AccessEntry": "identity",
  "gcp:serviceaccount/account:Account": "identity",
  "kubernetes:core/v1:ServiceAccount": "identity",
  "kubernetes:ray.io/v1:RayCluster": "Ray cluster with its jobs",
  "pulumi:providers:kubernetes": "provider with every resource on it",
  "kubernetes:core/v1:Namespace": "namespace with everything in it",
  "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": "resource definition with every object of its kind",
};

export const guardedTypes: ReadonlySet<string> = new Set(Object.keys(guarded));

/** One operation on one resource. */
export interface Step {
  readonly op: "create" | "update" | "delete" | "replace";
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  readonly protect: boolean;
  /** Inputs that change, or that force the replacement. */
  readonly inputs: readonly string[];
  /** Values of changed inputs that are no secret. */
  readonly values?: readonly ValueChange[];
}

/** Texts for one line, cut; undefined where the input is absent. */
export interface ValueChange {
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

export interface Danger {
  readonly step: Step;
  /** The operation, as a verb and its object. */
  readonly action: string;
}

/** The steps that delete or replace a resource of a guarded type, or whose update ends running jobs. */
export function dangers(steps: readonly Step[]): Danger[] {
  return steps.flatMap((step): Danger[] => {
    if (step.op === "create") return [];
    if (step.op === "update") {
      const found = disruption(step.type, step.inputs);
      return found === undefined ? [] : [{ step, action: found.action }];
    }
    const what = guarded[step.type];
    return what === undefined ? [] : [{ step, action: `${step.op}s a ${what}` }];
  });
}

// Providers hold credentials, and objects of these kinds hold secrets.
const secretType = /^pulumi:providers:|:Secret(Version)?$/;
const secretName = /pass(word|phrase)|secret|token|credential|private_?key|access_?key|api_?key|kubeconfig/i;
const secretValue = /<secret>|\[secret\]|PRIVATE KEY/;
const valueLimit = 80;
const valuesLimit = 8;

/**
 * The changes whose values may be shown. Left out are secrets, whether the engine, the provider or only the name says that
 * they are one, and changes that the resource ignores.
 *
 * @param secretOutputs - Top-level inputs that the provider keeps secret.
 */
export function visibleValues(
  type: string,
  changes: readonly Change[],
  secretOutputs: readonly string[] = [],
): ValueChange[] {
  if (secretType.test(type)) return [];
  const text = (leaf: Change["before"]) => (leaf === undefined ? undefined : shown(leaf, valueLimit));
  return changes
    .filter(
      ({ path, before, after, ignored }) =>
        !ignored &&
        !secretName.test(path) &&
        !secretOutputs.includes(/^\w*/.exec(path)?.[0] ?? path) &&
        !secretValue.test(`${before} ${after}`),
    )
    .slice(0, valuesLimit)
    .map(({ path, before, after }) => {
      const [was, is] = [text(before), text(after)];
      return { path, ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) };
    });
}

export class StepsError extends Error {}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

// A replacement is three steps of the engine (create-replacement, replace, delete-replaced). It counts once.
const engineOps: Readonly<Record<string, Step["op"]>> = {
  create: "create",
  import: "create",
  update: "update",
  delete: "delete",
  replace: "replace",
  "create-replacement": "replace",
  "delete-replaced": "replace",
  "discard-replaced": "replace",
  "import-replacement": "replace",
};

/** Changes between two states' inputs. The CLI writes a secret as "[secret]" or with the engine's marker of secrets. */
function inputChanges(before: unknown, after: unknown): Change[] {
  if (!isRecord(before) || !isRecord(after)) return [];
  const readable = (inputs: unknown): Plain => unfold(mask(decodeProperties(inputs)));
  // `__defaults` names inputs that the provider has filled in.
  return compare(readable(before), readable(after)).filter(({ path }) => !path.includes("__defaults"));
}

/** The paths without those that longer ones make superfluous: "nodeConfig" beside "nodeConfig.machineType". */
function mostPrecise(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)];
  const bare = unique.map(withoutIndexes);
  return unique.filter((path) => !bare.some((other) => other.startsWith(`${withoutIndexes(path)}.`)));
}

/**
 * Reads the output of `pulumi preview --json`, without the steps that change nothing.
 *
 * @throws StepsError for any other document, because the guard must not pass what it cannot read
 */
export function stepsOfPreview(document: unknown): Step[] {
  const steps = record(document).steps;
  if (!Array.isArray(steps))
    throw new StepsError('the document is not the output of "pulumi preview --json": it has no list of steps');
  const byUrn = new Map<string, Step>();
  for (const item of steps.map(record)) {
    const op = engineOps[String(item.op)];
    if (op === undefined) continue;
    const urn = String(item.urn);
    const type = (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
    const earlier = byUrn.get(urn);
    const [old, now] = [record(item.oldState), record(item.newState)];
    const changes = op === "create" || op === "delete" ? [] : inputChanges(old.inputs, now.inputs);
    const secretOutputs = [...texts(old.additionalSecretOutputs), ...texts(now.additionalSecretOutputs)];
    const known = changes.map(({ path }) => path);
    const reasons = [
      ...texts(item.replaceReasons),
      ...texts(item.diffReasons),
      ...Object.keys(record(item.detailedDiff)),
    ].filter((path) => known.includes(path) || !known.map(withoutIndexes).includes(withoutIndexes(path)));
    const values = visibleValues(type, changes, secretOutputs);
    byUrn.set(urn, {
      // The deletion of the old resource belongs to its replacement.
      op: earlier?.op === "replace" ? "replace" : op,
      urn,
      type,
      name: urn.split("::").slice(3).join("::"),
      protect: record(item.oldState ?? item.newState).protect === true || earlier?.protect === true,
      inputs: mostPrecise([...(earlier?.inputs ?? []), ...reasons, ...known]),
      ...(values.length > 0 ? { values } : earlier?.values === undefined ? {} : { values: earlier.values }),
    });
  }
  return [...byUrn.values()].sort((a, b) => (a.urn < b.urn ? -1 : a.urn > b.urn ? 1 : 0));
}

/**
 * A digest of all that a preview would do: operations, resources, and every input with its values. Of what may be a secret,
 * whose values may also change by themselves, the path alone counts.
 *
 * @throws StepsError for any other document
 */
export function digestOfPreview(document: unknown): string {
  const named = new Map(stepsOfPreview(document).map(({ urn, op }) => [urn, op]));
  const lines = (record(document).steps as unknown[]).map(record).flatMap((item) => {
    const urn = String(item.urn);
    const op = named.get(urn);
    if (op === undefined) return [];
    const type = (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";
    const inputs = (state: unknown): unknown => record(record(state).inputs);
    const changes = inputChanges(inputs(item.oldState), inputs(item.newState)).map(({ path, before, after }) =>
      secretType.test(type) || secretName.test(path) || secretValue.test(`${before} ${after}`)
        ? [path]
        : [path, before, after],
    );
    return [JSON.stringify([op, urn, changes])];
  });
  return createHash("sha256")
    .update([...new Set(lines)].sort().join("\n"))
    .digest("hex");
}

const diffOps = { add: "create", remove: "delete", change: "update", replace: "replace" } as const;

export function stepsOfDiff(diff: PlanDiff): Step[] {
  return diff.resources.map(({ op, id, type, name, protect, changes, follows }) => {
    const inputs = changes.filter(({ path }) => !path.startsWith("options."));
    const values = visibleValues(type, inputs);
    return {
      op: diffOps[op],
      urn: id,
      type,
      name,
      protect,
      inputs: [
        ...changes.filter(({ ignored }) => !ignored).map(({ path }) => path),
        ...(follows === undefined ? [] : [follows.property]),
      ],
      ...(values.length > 0 ? { values } : {}),
    };
  });
}
