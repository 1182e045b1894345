/** A capture in readable form: secrets and unknown values marked, dependencies reduced, everything sorted. Pure. */

import { type Capture, nameOf, type PlannedResource } from "./capture.ts";
import { abridge, mask, type Plain, type Value } from "./values.ts";

export interface PlanEntry {
  /** The URN without `urn:pulumi:<stack>::<project>::`: types of the parents and the name. */
  readonly id: string;
  readonly type: string;
  readonly name: string;
  /** Id of the parent; undefined directly under the stack. */
  readonly parent?: string;
  readonly kind: PlannedResource["kind"];
  readonly inputs: { [property: string]: Plain };
  /** Resource options that differ from Pulumi's defaults. */
  readonly options: { [option: string]: Plain };
  /** Ids, without implied dependencies. */
  readonly dependsOn: readonly string[];
  /** Ids that each input's value comes from. */
  readonly references: Readonly<Record<string, readonly string[]>>;
  /** Earlier ids of the same resource. */
  readonly aliases: readonly string[];
}

export interface Plan {
  readonly project: string;
  readonly stack: string;
  /** Sorted by id. */
  readonly entries: readonly PlanEntry[];
  readonly outputs: { [name: string]: Plain };
  /** Provider functions that got sample results. */
  readonly madeUp: readonly string[];
  readonly warnings: readonly string[];
  /** What the program says of the configuration beside its warnings. */
  readonly notes: readonly string[];
}

const idOf = (urn: string): string => urn.split("::").slice(2).join("::");

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** @param warnings - Put before the program's own warnings. */
export function planOf(capture: Capture, warnings: readonly string[] = []): Plan {
  const stack = capture.resources.find(({ kind }) => kind === "stack");
  const resources = capture.resources.filter(({ kind }) => kind !== "stack");
  const reduced = transitiveReduction(new Map(resources.map(({ urn, dependsOn }) => [urn, dependsOn])));
  const entries = resources.map((resource): PlanEntry => {
    const { urn, type, name, kind, parent } = resource;
    return {
      id: idOf(urn),
      type,
      name,
      ...(parent === undefined || parent === stack?.urn ? {} : { parent: idOf(parent) }),
      kind,
      inputs: shownInputs(resource),
      options: shownOptions(resource),
      dependsOn: (reduced.get(urn) ?? []).map(idOf).sort(byText),
      references: Object.fromEntries(
        Object.entries(resource.propertyDependencies).map(([property, urns]) => [property, urns.map(idOf)]),
      ),
      aliases: resource.aliases.map(idOf),
    };
  });
  return {
    project: capture.project,
    stack: capture.stack,
    entries: entries.sort((a, b) => byText(a.id, b.id)),
    outputs: readable(stack?.outputs ?? {}),
    madeUp: [...new Set(capture.invocations.map(({ token }) => token))].sort(byText),
    warnings: [...warnings, ...messages(capture, "warning")],
    notes: messages(capture, "info"),
  };
}

const messages = ({ diagnostics }: Capture, wanted: "warning" | "info"): string[] =>
  diagnostics.filter(({ severity }) => severity === wanted).map(({ message }) => message.trim());

function readable(properties: Readonly<Record<string, Value>>): { [key: string]: Plain } {
  const shown: { [key: string]: Plain } = {};
  for (const key of Object.keys(properties).sort(byText)) shown[key] = abridge(unfold(mask(properties[key] ?? null)));
  return shown;
}

function shownInputs({ inputs, secretOutputs }: PlannedResource): { [key: string]: Plain } {
  const shown = readable(inputs);
  // The provider keeps these secret in the state, even if the program does not.
  for (const property of secretOutputs) if (property in shown) shown[property] = "<secret>";
  return shown;
}

function shownOptions(resource: PlannedResource): { [option: string]: Plain } {
  const { provider, deletedWith, importId, id, timeouts } = resource;
  return {
    ...(resource.protect ? { protect: true } : {}),
    ...(resource.retainOnDelete ? { retainOnDelete: true } : {}),
    ...(resource.deleteBeforeReplace ? { deleteBeforeReplace: true } : {}),
    ...(resource.ignoreChanges.length > 0 ? { ignoreChanges: [...resource.ignoreChanges] } : {}),
    ...(resource.replaceOnChanges.length > 0 ? { replaceOnChanges: [...resource.replaceOnChanges] } : {}),
    ...(provider === undefined ? {} : { provider: nameOf(provider) }),
    ...(deletedWith === undefined ? {} : { deletedWith: idOf(deletedWith) }),
    ...(importId === undefined ? {} : { import: importId }),
    ...(id === undefined ? {} : { id }),
    ...(Object.keys(timeouts).length > 0 ? { timeouts: { ...timeouts } } : {}),
  };
}

/** Parses text that is a JSON object or list, so that policies are compared statement by statement. */
export function unfold(value: Plain): Plain {
  if (typeof value === "string") {
    if (!/^\s*[[{]/.test(value)) return value;
    try {
      return sortKeys(JSON.parse(value) as Plain);
    } catch {
      return value;
    }
  }
  if (Array.isArray(value)) return value.map(unfold);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unfold(inner)]));
}

function sortKeys(value: Plain): Plain {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => byText(a, b))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
}

/**
 * Removes every edge that a longer path implies. Edges to nodes outside of the map stay. Edges on a cycle stay too: groups
 * of resources can form one, resources cannot.
 */
export function transitiveReduction(graph: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const known = new Map<string, ReadonlySet<string>>();
  const reach = (node: string): ReadonlySet<string> => {
    const earlier = known.get(node);
    if (earlier !== undefined) return earlier;
    const found = new Set<string>();
    const open = [node];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const edge of graph.get(next) ?? [])
        if (!found.has(edge)) {
          found.add(edge);
          open.push(edge);
        }
    known.set(node, found);
    return found;
  };
  const implied = (node: string, edge: string, other: string): boolean =>
    other !== edge && reach(other).has(edge) && !reach(other).has(node);
  return new Map(
    [...graph].map(([node, edges]) => [
      node,
      edges.filter((edge) => !edges.some((other) => implied(node, edge, other))),
    ]),
  );
}
