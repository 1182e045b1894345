/** What one run of the program asked the engine for. */

import type { Properties } from "./values.ts";

export interface PlannedResource {
  readonly urn: string;
  readonly type: string;
  readonly name: string;
  /** URN of the parent; undefined for the stack itself. */
  readonly parent?: string;
  /** `component` groups others, `remote` is built by a provider out of sight, `read` belongs to someone else. */
  readonly kind: "custom" | "component" | "remote" | "read" | "stack";
  /** URN of the explicit provider; undefined where Pulumi would take the default provider. */
  readonly provider?: string;
  readonly inputs: Properties;
  /** What a component registered as its outputs, or what the stack exports. */
  readonly outputs?: Properties;
  /** URNs of what must exist before and be deleted after this resource, sorted. */
  readonly dependsOn: readonly string[];
  /** The part of `dependsOn` that comes from a property, by its top-level name. */
  readonly propertyDependencies: Readonly<Record<string, readonly string[]>>;
  readonly protect: boolean;
  readonly retainOnDelete: boolean;
  readonly deleteBeforeReplace: boolean;
  readonly ignoreChanges: readonly string[];
  readonly replaceOnChanges: readonly string[];
  readonly secretOutputs: readonly string[];
  /** Earlier URNs of this resource, with those that its parents' aliases imply. */
  readonly aliases: readonly string[];
  readonly deletedWith?: string;
  readonly importId?: string;
  readonly id?: string;
  readonly timeouts: Readonly<Record<string, string>>;
  /** Version of the provider package. */
  readonly version?: string;
}

/** The options of a resource that was registered with none. */
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
  /** Sorted by URN: the order of registration differs from run to run. */
  readonly resources: readonly PlannedResource[];
  /** Questions to the cloud that were answered with made-up data. */
  readonly invocations: readonly Invocation[];
  readonly diagnostics: readonly Diagnostic[];
  /** Set when the program did not come to its end. */
  readonly failure?: string;
  /** Wall time of the whole run. */
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
