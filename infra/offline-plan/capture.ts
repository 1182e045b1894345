/** The requests of one run of the program to the engine. */

import type { Properties } from "./values.ts";

export interface PlannedResource {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  /** URN of the parent; undefined for the stack itself. */
  readonly parent?: string;
  /** `component` groups others, a provider builds the contents of `remote`, another program owns `read`. */
  readonly kind: "custom" | "component" | "remote" | "read" | "stack";
  /** URN of the explicit provider; undefined for the default provider. */
  readonly provider?: string;
  readonly inputs: Properties;
  /** The registered outputs of a component, or the exports of the stack. */
  readonly outputs?: Properties;
  /** URNs of the resources that exist before this one and are deleted after it, sorted. */
  readonly dependsOn: readonly string[];
  /** The part of `dependsOn` that comes from properties, by top-level name. */
  readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
  readonly protect: boolean;
  readonly retainOnDelete: boolean;
  readonly deleteBeforeReplace: boolean;
  readonly ignoreChanges: readonly string[];
  readonly replaceOnChanges: readonly string[];
  readonly secretOutputs: readonly string[];
  /** Earlier URNs of this resource, including those that its parents' aliases imply. */
  readonly aliases: readonly string[];
  readonly deletedWith?: string;
  readonly importId?: string;
  readonly id?: string;
  readonly timeouts: Readonly<Record<string, string>>;
  /** Version of the provider package. */
  readonly version?: string;
}

/** The options of a resource without options. */
export const noOptions = {
  propertyDependencies: {},
  protect: false,
  retainOnDelete: false,
  deleteBeforeReplace: false,
  ignoreChanges: [],
  replaceOnChanges: [],
  secretOutputs: [],
  aliases: [],
  timeouts: {},
} as const satisfies Partial<PlannedResource>;

export interface Diagnostic {
  readonly severity: "debug" | "info" | "warning" | "error";
  readonly message: string;
  readonly urn?: string;
}

export interface Invocation {
  readonly token: string;
  readonly args: Properties;
}

export interface Capture {
  readonly project: string;
  readonly stack: string;
  readonly mode: "preview" | "update";
  /** Sorted by URN, because the order of registration varies. */
  readonly resources: readonly PlannedResource[];
  /** Provider functions that got sample results. */
  readonly invocations: readonly Invocation[];
  readonly diagnostics: readonly Diagnostic[];
  /** The error; undefined when the program succeeded. */
  readonly failure?: string;
  /** Wall time of the run. */
  readonly milliseconds: number;
  /** Peak memory of the program's process; 0 when it was killed. */
  readonly peakBytes: number;
}

export const stackType = "pulumi:pulumi:Stack";

/** The URN that the engine gives a resource: `urn:pulumi:<stack>::<project>::<types of its parents>$<type>::<name>`. */
export function urnOf(project: string, stack: string, type: string, name: string, parent?: string): string {
  const parentType = parent === undefined ? stackType : qualifiedType(parent);
  const qualified = parentType === stackType || parentType === "" ? type : `${parentType}$${type}`;
  return `urn:pulumi:${stack}::${project}::${qualified}::${name}`;
}

/** The types from the outermost parent to the resource, joined by `$`. */
export const qualifiedType = (urn: string): string => urn.split("::")[2] ?? "";
export const nameOf = (urn: string): string => urn.split("::").slice(3).join("::");
/** A provider reference is `<urn>::<id>`; the URN has four parts. */
export const providerUrn = (reference: string): string => reference.split("::").slice(0, 4).join("::");
