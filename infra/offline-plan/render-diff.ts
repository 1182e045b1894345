/** A diff of plans as text. Pure. */

import type { Change, ResourceDiff } from "./changes.ts";
import type { PlanDiff } from "./diff.ts";
import { shorten, shown } from "./leaves.ts";
import { shortType } from "./tree.ts";

const signs: Readonly<Record<ResourceDiff["op"], string>> = { add: "+", remove: "-", change: "~", replace: "±" };
const verbs: Readonly<Record<ResourceDiff["op"], string>> = {
  add: "added",
  remove: "removed",
  change: "changed",
  replace: "likely replaced",
};

/** The number of changes of each kind. */
export function summary({ resources, unchanged }: PlanDiff): string {
  const counts = (Object.keys(signs) as ResourceDiff["op"][]).flatMap((op) => {
    const count = resources.filter((resource) => resource.op === op).length;
    return count === 0 ? [] : [`${count} ${verbs[op]}`];
  });
  return [...counts, `${unchanged} unchanged`].join(", ");
}

export function renderChange({ path, before, after, replaces, ignored }: Change): string {
  const limit = 160;
  const value =
    before === undefined
      ? `${shown(after ?? null, limit)} (new)`
      : after === undefined
        ? `${shown(before, limit)} (removed)`
        : `${shown(before, limit)} -> ${shown(after, limit)}`;
  const note = ignored ? "  [ignored by the resource]" : replaces === undefined ? "" : `  [replaces: ${replaces}]`;
  return `${path}: ${value}${note}`;
}

const dependency = "options.dependsOn";

/** The changes line by line; many changed dependencies in one line, by name. */
function changeLines(changes: readonly Change[]): string[] {
  const dependencies = changes.filter(({ path }) => path === dependency);
  if (dependencies.length < 3) return changes.map(renderChange);
  const list = (side: "before" | "after", verb: string): string[] => {
    const names = dependencies.flatMap(({ [side]: id }) => (id === undefined ? [] : [nameOf(String(id))]));
    return names.length === 0 ? [] : [`${names.length} ${verb} (${shorten(names.join(", "), 80)})`];
  };
  return [
    ...changes.filter(({ path }) => path !== dependency).map(renderChange),
    `${dependency}: ${[...list("after", "new"), ...list("before", "removed")].join(", ")}`,
  ];
}

const nameOf = (id: string): string => id.split("::").slice(1).join("::");

/** Whether only the order of the resource's creation and deletion changes. */
const reordered = ({ op, changes, follows, renamedFrom }: ResourceDiff): boolean =>
  op === "change" &&
  follows === undefined &&
  renamedFrom === undefined &&
  changes.every(({ path }) => path === dependency);

function header(resource: ResourceDiff): string {
  const { op, type, name, renamedFrom } = resource;
  const notes = [
    verbs[op],
    ...(renamedFrom === undefined ? [] : [`was ${renamedFrom}`]),
    ...(op === "remove" && resource.protect ? ["PROTECTED: up fails until the protection is lifted"] : []),
    ...(op === "replace" && resource.protect ? ["PROTECTED: up fails instead of replacing it"] : []),
    ...(op === "remove" && resource.retainOnDelete ? ["stays in the cloud"] : []),
  ];
  return `${signs[op]} ${shortType(type)}  ${name}  (${notes.join("; ")})`;
}

const cause = ({ type, follows }: ResourceDiff): string => `${shortType(type)} ${follows?.property} ${follows?.from}`;

/**
 * One block for each resource with its changes; ends in a newline. Three or more unprotected resources of one type that
 * change only because of the same other resource become one line, and so do those whose dependencies alone change.
 */
export function renderDiff(diff: PlanDiff, against: string): string {
  const along = Map.groupBy(
    diff.resources.filter(({ follows, changes, protect }) => follows !== undefined && changes.length === 0 && !protect),
    cause,
  );
  const folded = [...along.values()].filter((group) => group.length > 2);
  const order = diff.resources.filter(reordered);
  const hidden = new Set([...folded.flat(), ...(order.length > 2 ? order : [])]);
  const lines = [`${diff.stack} against ${against}: ${summary(diff)}`];
  for (const resource of diff.resources.filter((item) => !hidden.has(item))) {
    lines.push("", header(resource));
    const { follows } = resource;
    if (follows !== undefined)
      lines.push(
        `    because ${follows.property} comes from ${follows.from}, which is ${resource.op === "replace" ? "replaced" : "changed"}`,
      );
    for (const warning of resource.warnings ?? []) lines.push(`    note: ${warning}`);
    for (const change of changeLines(resource.changes)) lines.push(`    ${change}`);
    for (const group of folded) {
      const [first] = group;
      if (first?.follows?.from === resource.id)
        lines.push(`    and with it ${group.length} ${shortType(first.type)}, by their ${first.follows.property}`);
    }
  }
  if (order.length > 2)
    lines.push(
      "",
      `~ ${order.length} resources whose dependencies alone change: ${shorten(order.map(({ name }) => name).join(", "), 400)}`,
    );
  if (diff.outputs.length > 0) {
    lines.push("", "Outputs");
    for (const change of diff.outputs) lines.push(`    ${renderChange(change)}`);
  }
  return `${lines.join("\n")}\n`;
}
