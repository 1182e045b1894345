/** A plan as the tree of its components and resources. Pure. */

import { leaves, shown } from "./leaves.ts";
import type { Plan, PlanEntry } from "./plan.ts";

/** The most important inputs first: whole paths, or `=` and the last name of any path. */
const important = [
  "metadata.name",
  "name",
  "=version",
  "=kubernetesVersion",
  "=region",
  "=location",
  "bucket",
  "chart",
  "=instanceTypes",
  "=machineType",
  "=amiType",
  "=capacityType",
  "=spot",
  "=minSize",
  "=maxSize",
  "=totalMinNodeCount",
  "=totalMaxNodeCount",
  "=diskSizeGb",
  "=volumeSize",
  "=cidrBlock",
  "=ipCidrRange",
  "=availabilityZone",
  "=replicas",
  "=minReplicas",
  "=maxReplicas",
  "=image",
  "spec.type",
  "=serviceAccountName",
  "role",
  "member",
  "policyArn",
  "roleRef.name",
];
const rank = new Map(important.map((key, index) => [key, index]));

/** Inputs that every resource has, or that the type implies. */
const noise =
  /(^|\.)(tags|tagsAll|labels|annotations|resourceLabels|defaultTags|defaultLabels)([.[]|$)|^(apiVersion|kind)$/;

export interface TreeOptions {
  /** Print every input, not only the most important ones. */
  readonly full?: boolean;
  /** Inputs for each resource unless `full`. */
  readonly limit?: number;
}

/** `aws:eks/nodeGroup:NodeGroup` as the Pulumi CLI writes it: `aws:eks:NodeGroup`. */
export function shortType(type: string): string {
  const [pkg = "", module = "", kind = ""] = type.split(":");
  return `${pkg}:${module.split("/")[0]}:${kind}`;
}

/** The most important inputs first; the rest in the order of their names. */
export function chosenInputs(
  entry: PlanEntry,
  { full = false, limit = 6 }: TreeOptions,
): { lines: string[]; more: number } {
  const all = leaves(entry.inputs).filter(([path]) => path !== "" && (full || !noise.test(path)));
  const weight = (path: string): number => {
    const property = path.replace(/\[\d+\]$/, "");
    return rank.get(property) ?? rank.get(`=${property.split(".").at(-1)}`) ?? important.length;
  };
  const ordered = full ? all : all.toSorted(([a], [b]) => weight(a) - weight(b));
  const chosen = full ? ordered : ordered.slice(0, limit);
  const width = Math.max(0, ...chosen.map(([path]) => path.length));
  return {
    lines: chosen.map(([path, leaf]) => `${path.padEnd(width)}  ${shown(leaf, full ? 2_000 : 90)}`),
    more: ordered.length - chosen.length,
  };
}

function marks(entry: PlanEntry): string {
  const words = [
    entry.options.protect === true ? "protected" : "",
    entry.options.retainOnDelete === true ? "kept on destroy" : "",
    entry.kind === "remote" ? "built by its provider, contents not shown" : "",
    entry.kind === "read" ? `looked up, id ${shown(String(entry.options.id))}` : "",
  ].filter((word) => word !== "");
  return words.length === 0 ? "" : `  [${words.join("; ")}]`;
}

/** The plan as text that ends in a newline. */
export function renderTree(plan: Plan, options: TreeOptions = {}): string {
  const children = Map.groupBy(plan.entries, ({ parent }) => parent ?? "");
  const lines: string[] = [];
  const print = (entry: PlanEntry, prefix: string, last: boolean): void => {
    lines.push(`${prefix}${last ? "└─ " : "├─ "}${shortType(entry.type)}  ${entry.name}${marks(entry)}`);
    const below = `${prefix}${last ? "   " : "│  "}`;
    const inner = children.get(entry.id) ?? [];
    const { lines: inputs, more } = chosenInputs(entry, options);
    const bar = inner.length > 0 ? "│    " : "     ";
    for (const input of inputs) lines.push(`${below}${bar}${input}`);
    if (more > 0) lines.push(`${below}${bar}… ${more} more`);
    for (const [index, child] of inner.entries()) print(child, below, index === inner.length - 1);
  };
  const top = children.get("") ?? [];
  for (const [index, entry] of top.entries()) print(entry, "", index === top.length - 1);
  return `${[headline(plan), ...lines, ...footer(plan)].join("\n")}\n`;
}

function headline({ project, stack, entries }: Plan): string {
  const count = (kind: PlanEntry["kind"]): number => entries.filter((entry) => entry.kind === kind).length;
  const looked = count("read");
  return `${project}/${stack}: ${count("custom") + count("remote")} resources in ${count("component")} components${
    looked === 0 ? "" : `, ${looked} looked up`
  }`;
}

function footer({ outputs, madeUp, warnings, notes }: Plan): string[] {
  const names = Object.keys(outputs);
  return [
    ...(names.length === 0 ? [] : ["", `Outputs: ${names.join(", ")}`]),
    ...(madeUp.length === 0 ? [] : ["", `Sample results instead of a cloud's: ${madeUp.join(", ")}`]),
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...notes.map((note) => `Note: ${note}`),
    ...(names.length + madeUp.length + warnings.length + notes.length === 0 ? [] : [""]),
    "These are the program's requests. State, drift and provider defaults are unknown.",
  ];
}
