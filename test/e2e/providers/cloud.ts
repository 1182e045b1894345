/** The rules of a cloud that its SDK does not contain, as tables and small functions. */

import type { Wire } from "../../../infra/offline-plan/recorder.ts";
import type { Item } from "./journal.ts";

/** A property that names another resource. */
export interface Reference {
  /** Path of the input; lists in it are searched. */
  readonly path: string;
  readonly to: string;
  /** The error with which the cloud refuses to delete the other resource while this one exists. */
  readonly holds?: string;
}

export interface Candidate {
  readonly type: string;
  readonly inputs: Wire;
}

/** Why the cloud refuses this creation, or why it fails; undefined when it succeeds. */
export type Refusal = (resource: Candidate, world: World) => string | undefined;

/** Why the cloud refuses this update; undefined when it succeeds. */
export type UpdateRefusal = (item: Item, inputs: Wire, world: World) => string | undefined;

export interface Cloud {
  /** Package of the SDK, whose name after the slash is the provider's. */
  readonly sdk: "@pulumi/aws" | "@pulumi/docker-build";
  readonly references: Readonly<Record<string, readonly Reference[]>>;
  readonly refusals: Readonly<Record<string, readonly Refusal[]>>;
  readonly refusedUpdates: Readonly<Record<string, readonly UpdateRefusal[]>>;
  /** Why a resource cannot be deleted because of its own settings. */
  readonly keeps: Readonly<Record<string, (item: Item) => string | undefined>>;
  /** Outputs that the provider's own configuration adds, such as default tags. */
  readonly inherited: (type: string, inputs: Wire, configuration: Wire, computed: readonly string[]) => Wire;
  /** Why the provider refuses its configuration. */
  readonly refuseConfiguration: (configuration: Wire) => string | undefined;
  /** Outputs that an update changes, computed from those before it. */
  readonly onUpdate: Readonly<Record<string, (outputs: Wire) => Wire>>;
}

/** The existing resources. */
export class World {
  readonly items: readonly Item[];

  constructor(items: readonly Item[]) {
    this.items = items;
  }

  of(...types: string[]): Item[] {
    return this.items.filter(({ type }) => types.includes(type));
  }

  /** The resource of that type that a value names by id, ARN, name, link or address. */
  find(type: string, value: unknown): Item | undefined {
    return this.of(type).find((item) => names(item).includes(value));
  }
}

const nameKeys = ["arn", "name", "bucket", "selfLink", "email", "keyId", "allocationId", "accountId"];

export const names = ({ id, outputs }: Item): unknown[] => [id, ...nameKeys.map((key) => outputs[key])];

/** Every value at a path; lists in it are searched. */
export function valuesAt(tree: unknown, path: string): unknown[] {
  const [first = "", ...rest] = path.split(".");
  const inner = record(tree)[first];
  const items = Array.isArray(inner) ? inner : inner === undefined || inner === null ? [] : [inner];
  return rest.length === 0 ? items : items.flatMap((item) => valuesAt(item, rest.join(".")));
}

export const record = (value: unknown): Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Wire) : {};

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
