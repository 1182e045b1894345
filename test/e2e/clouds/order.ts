/** The order that the engine really took, held against the same rules that the offline plan is held against. Pure. */

import { type Capture, type PlannedResource, qualifiedType } from "../../../infra/offline-plan/capture.ts";
import { type Rule, rules } from "../../support/infra/order-rules.ts";
import type { Account, Step } from "../support/events.ts";

export interface OrderAccount {
  /** Sentences, one for each pair in the wrong order. */
  readonly findings: readonly string[];
  /** Pairs that were looked at. */
  readonly pairs: number;
  /** Rules that had something to look at. */
  readonly rules: number;
}

type Operation = "create" | "delete";

/** When each resource's operation began and ended, by its place in the engine's log. */
interface Times {
  readonly begun: ReadonlyMap<string, number>;
  readonly ended: ReadonlyMap<string, number>;
}

const numbered = (steps: readonly Step[], operation: Operation) =>
  new Map(steps.flatMap(({ op, urn, at }) => (op === operation ? [[urn, at] as const] : [])));

/** The resources that take part for a planned one: itself, or for a component whatever was made inside of it. */
function present({ urn, kind }: PlannedResource, { ended }: Times): string[] {
  if (kind !== "component" && kind !== "remote") return ended.has(urn) ? [urn] : [];
  const within = `::${qualifiedType(urn)}$`;
  return [...ended.keys()].filter((other) => other.includes(within));
}

/** On the way up every `later` of a rule begins after every `earlier` has ended; on the way down the other way round. */
export function judgeOrder(
  { resources }: Pick<Capture, "resources">,
  { begun, ended }: Pick<Account, "begun" | "ended">,
  operation: Operation,
): OrderAccount {
  const times: Times = { begun: numbered(begun, operation), ended: numbered(ended, operation) };
  const account = { findings: [] as string[], pairs: 0, rules: 0 };
  for (const rule of rules) {
    const pairs = pairsOf(rule, resources, times);
    account.pairs += pairs.length;
    if (pairs.length > 0) account.rules++;
    const found = pairs.filter(([later, earlier]) => !inOrder(later, earlier, times, operation));
    const failed = rule.any ? unserved(pairs, found) : found;
    for (const [later, earlier] of failed) account.findings.push(`${short(later)} and ${short(earlier)}: ${rule.why}`);
  }
  return account;
}

type Pair = readonly [later: string, earlier: string];

function pairsOf(rule: Rule, resources: readonly PlannedResource[], times: Times): Pair[] {
  const sides = [rule.later, rule.earlier].map((select) =>
    resources.filter(select).flatMap((resource) => present(resource, times)),
  );
  const [later = [], earlier = []] = sides;
  return later.flatMap((one) => earlier.flatMap((needed): Pair[] => (one === needed ? [] : [[one, needed]])));
}

function inOrder(later: string, earlier: string, { begun, ended }: Times, operation: Operation): boolean {
  const [first, then] = operation === "create" ? [earlier, later] : [later, earlier];
  return (ended.get(first) ?? Number.POSITIVE_INFINITY) < (begun.get(then) ?? -1);
}

/** Of a rule that one `earlier` is enough for: the pairs of those that have none. */
function unserved(pairs: readonly Pair[], wrong: readonly Pair[]): Pair[] {
  const count = (list: readonly Pair[], urn: string) => list.filter(([later]) => later === urn).length;
  return wrong.filter(([later]) => count(pairs, later) === count(wrong, later));
}

const short = (urn: string): string => urn.split("::").slice(2).join(" ").replace(/^.*\$/, "");

/** Kinds of resources in the order in which the last of each was gone, with their numbers: `RayCluster, NodeGroup ×4, Vpc`. */
export function deletionOrder(ended: readonly Step[]): string {
  const counts = new Map<string, number>();
  for (const { op, type } of ended) {
    const kind = type.split(":").at(-1) ?? type;
    if (op !== "delete" || type.startsWith("lakehead:") || type.startsWith("pulumi:")) continue;
    const count = counts.get(kind) ?? 0;
    // Anew, so that it stands after what went before its last one.
    counts.delete(kind);
    counts.set(kind, count + 1);
  }
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(", ");
}
