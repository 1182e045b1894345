/**
 * Finds steps that delete or replace what cannot be restored, or that end the jobs on the nodes. Pure. Reads the offline
 * plan's diff and the output of `pulumi preview --json`.
 */

import { rollsNodes } from "../offline-plan/consequences.ts";
import type { PlanDiff } from "../offline-plan/diff.ts";

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
}

export interface Danger {
  readonly step: Step;
  /** The operation, as a verb and its object. */
  readonly action: string;
}

/** The steps that delete or replace a resource of a guarded type, or every node of a group. */
export function dangers(steps: readonly Step[]): Danger[] {
  return steps.flatMap((step): Danger[] => {
    const what = guarded[step.type];
    if (what === undefined || step.op === "create") return [];
    if (step.op !== "update") return [{ step, action: `${step.op}s a ${what}` }];
    return rollsNodes(step.type, step.inputs)
      ? [{ step, action: `replaces every node of a ${what}, which ends the jobs on them` }]
      : [];
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
    const earlier = byUrn.get(urn);
    const state = record(item.oldState ?? item.newState);
    const reasons = [...texts(item.replaceReasons), ...texts(item.diffReasons)];
    byUrn.set(urn, {
      // The deletion of the old resource belongs to its replacement.
      op: earlier?.op === "replace" ? "replace" : op,
      urn,
      type: (urn.split("::")[2] ?? "").split("$").at(-1) ?? "",
      name: urn.split("::").slice(3).join("::"),
      protect: state.protect === true || earlier?.protect === true,
      inputs: [...new Set([...(earlier?.inputs ?? []), ...reasons])],
    });
  }
  return [...byUrn.values()].sort((a, b) => (a.urn < b.urn ? -1 : a.urn > b.urn ? 1 : 0));
}

const diffOps = { add: "create", remove: "delete", change: "update", replace: "replace" } as const;

export function stepsOfDiff(diff: PlanDiff): Step[] {
  return diff.resources.map(({ op, id, type, name, protect, changes, follows }) => ({
    op: diffOps[op],
    urn: id,
    type,
    name,
    protect,
    inputs: [
      ...changes.filter(({ ignored }) => !ignored).map(({ path }) => path),
      ...(follows === undefined ? [] : [follows.property]),
    ],
  }));
}
