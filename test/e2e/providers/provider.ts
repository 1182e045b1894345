/** A stand-in provider: responds to the engine like the real one, with a journal in place of a cloud. */

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { nameOf } from "../../../infra/offline-plan/capture.ts";
import type { Wire } from "../../../infra/offline-plan/recorder.ts";
import { echoed } from "../../../infra/offline-plan/unknowns.ts";
import { unknownMarker } from "../../../infra/offline-plan/values.ts";
import { durationOf } from "../../support/infra/durations.ts";
import { fabricate } from "../../support/infra/fabricate.ts";
import { forcesReplacement } from "../../support/infra/forced-replacements.ts";
import { type Cloud, names, record, valuesAt, World } from "./cloud.ts";
import type { Item, Journal, Operation } from "./journal.ts";
import type { Group } from "./nodes.ts";
import { Sdk } from "./schema.ts";
import type { Settings } from "./settings.ts";

/** An error that the engine shows to the user as the cloud's. */
export class CloudError extends Error {}

export interface Failure {
  readonly property: string;
  readonly reason: string;
}

export interface Difference {
  /** Property paths to whether their change forces a replacement. */
  readonly changes: ReadonlyMap<string, { readonly kind: "add" | "delete" | "update"; readonly replaces: boolean }>;
  readonly deleteBeforeReplace: boolean;
}

/** Side effects of operations on resources, outside of the journal: what existed before, and what exists then. */
type Changed = (before: Group | undefined, after: Group | undefined) => Promise<void>;

/** Properties with which the program names a resource. Two resources of one name cannot exist at a time. */
const chosenNames = ["name", "bucket", "accountId", "addonName"];

export class StandIn {
  readonly sdk: Sdk;
  readonly #cloud: Cloud;
  readonly #journal: Journal;
  readonly #settings: Settings;
  readonly #changed: Changed;
  #configuration: Wire = {};
  /** Ids of creations that have begun: the journal has an id only when its creation is done. */
  readonly #given = new Set<string>();

  constructor(cloud: Cloud, journal: Journal, settings: Settings, changed: Changed) {
    this.sdk = new Sdk(cloud.sdk);
    this.#cloud = cloud;
    this.#journal = journal;
    this.#settings = settings;
    this.#changed = changed;
  }

  /** @throws CloudError when the credentials do not fit the configuration. */
  configure(configuration: Wire): void {
    const refusal = this.#cloud.refuseConfiguration(configuration);
    if (refusal !== undefined) throw new CloudError(refusal);
    this.#configuration = configuration;
  }

  check(type: string, inputs: Wire): Failure[] {
    const schema = this.sdk.schema(type);
    if (schema === undefined) throw new CloudError(`unknown resource type ${type}`);
    return [
      ...schema.required
        .filter((property) => inputs[property] === undefined || inputs[property] === null)
        .map((property) => ({ property, reason: `missing required property "${property}"` })),
      ...Object.keys(inputs)
        .filter((property) => !schema.inputs.has(property) && !property.startsWith("__"))
        .map((property) => ({ property, reason: `${type} has no input "${property}"` })),
    ];
  }

  diff(
    type: string,
    before: Wire,
    outputs: Wire,
    after: Wire,
    forces: (path: string) => boolean = (path) => forcesReplacement(type, path),
  ): Difference {
    const changes = new Map<string, { kind: "add" | "delete" | "update"; replaces: boolean }>();
    for (const property of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[property], after[property], property, (path, kind) => {
        changes.set(path, { kind, replaces: forces(path.replaceAll(/\[\d+\]/g, "")) });
      });
    for (const [property, value] of Object.entries(this.#inherited(type, after)))
      if (!isDeepStrictEqual(value, outputs[property])) changes.set(property, { kind: "update", replaces: false });
    return {
      changes,
      deleteBeforeReplace: chosenNames.some(
        (property) => after[property] !== undefined && after[property] === before[property],
      ),
    };
  }

  /** The outputs of a previewed creation: the inputs, with computed properties unknown. */
  foreseeCreate(type: string, inputs: Wire): Wire {
    const computed = this.sdk.schema(type)?.computed ?? [];
    return {
      ...Object.fromEntries(computed.map((property) => [property, unknownMarker])),
      ...echoed(type, inputs),
    };
  }

  foreseeUpdate(type: string, outputs: Wire, inputs: Wire): Wire {
    const changed = Object.keys(this.#cloud.onUpdate[type]?.(outputs) ?? {});
    return {
      ...outputs,
      ...merged(outputs, inputs),
      ...Object.fromEntries(changed.map((key) => [key, unknownMarker])),
    };
  }

  /** @throws CloudError when the cloud would refuse. */
  async create(type: string, urn: string, inputs: Wire): Promise<{ id: string; outputs: Wire }> {
    return this.#perform("create", { type, urn, inputs }, () => {
      const world = new World(this.#journal.items());
      this.#refuse(type, inputs, world);
      const made = fabricate({ type, name: nameOf(urn), urn: `${urn} ${this.#journal.generation(urn)}`, inputs });
      const outputs = {
        ...inputs,
        ...made.outputs,
        ...this.#inherited(type, inputs),
        ...this.#endpoint(type),
      };
      // Parts of one bucket or role have no name, so their id contains the name of the resource.
      const key = `${type} ${made.id}`;
      const taken = this.#given.has(key) || world.items.some((item) => item.type === type && item.id === made.id);
      this.#given.add(key);
      return { id: taken ? `${made.id}/${nameOf(urn)}` : made.id, outputs };
    });
  }

  /** @throws CloudError when the cloud would refuse, or has nothing of that id. */
  async update(type: string, urn: string, id: string, inputs: Wire): Promise<{ id: string; outputs: Wire }> {
    return this.#perform("update", { type, urn, inputs, id }, () => {
      const item = this.#existing(type, id);
      for (const refused of this.#cloud.refusedUpdates[type] ?? []) {
        const reason = refused(item, inputs, new World(this.#journal.items()));
        if (reason !== undefined) throw new CloudError(reason);
      }
      const outputs = { ...item.outputs, ...merged(item.outputs, inputs), ...this.#inherited(type, inputs) };
      return { id, outputs: { ...outputs, ...this.#cloud.onUpdate[type]?.(item.outputs) } };
    });
  }

  read(type: string, id: string): Item | undefined {
    return this.#journal.items().find((item) => item.type === type && item.id === id);
  }

  /** @throws CloudError when something still needs it. What is gone already is fine, as it is with the real ones. */
  async delete(type: string, urn: string, id: string): Promise<void> {
    await this.#perform("delete", { type, urn, id }, () => {
      const item = this.read(type, id);
      if (item === undefined) return { id, outputs: {} };
      const kept = this.#cloud.keeps[type]?.(item) ?? holder(this.#cloud, this.#journal.items(), item);
      if (kept !== undefined) throw new CloudError(kept);
      return { id, outputs: {} };
    });
  }

  #existing(type: string, id: string): Item {
    const item = this.read(type, id);
    if (item === undefined) throw new CloudError(`NotFound: there is no ${type} ${id}`);
    return item;
  }

  #refuse(type: string, inputs: Wire, world: World): void {
    for (const { path, to } of this.#cloud.references[type] ?? [])
      for (const value of valuesAt(inputs, path))
        if (typeof value === "string" && value !== "" && world.find(to, value) === undefined)
          throw new CloudError(`NotFound: ${path} names ${value}, and there is no such ${to}`);
    for (const refusal of this.#cloud.refusals[type] ?? []) {
      const reason = refusal({ type, inputs }, world);
      if (reason !== undefined) throw new CloudError(reason);
    }
  }

  #inherited(type: string, inputs: Wire): Wire {
    return this.#cloud.inherited(type, inputs, this.#configuration, this.sdk.schema(type)?.computed ?? []);
  }

  /** Makes every cluster lead to the API server that the suite runs. */
  #endpoint(type: string): Wire {
    const { apiHost, apiCa } = this.#settings;
    if (type !== "aws:eks/cluster:Cluster") return {};
    const data = readFileSync(apiCa).toString("base64");
    return {
      endpoint: `https://${apiHost}`,
      certificateAuthority: { data },
      certificateAuthorities: [{ data }],
    };
  }

  /** Runs an operation: writes its start and end to the journal, takes the typical time, and fails if configured. */
  async #perform(
    operation: Operation,
    subject: { readonly type: string; readonly urn: string; readonly inputs?: Wire; readonly id?: string },
    act: () => { id: string; outputs: Wire },
  ): Promise<{ id: string; outputs: Wire }> {
    const { type, urn } = subject;
    const inputs = subject.inputs ?? (subject.id === undefined ? {} : (this.read(type, subject.id)?.inputs ?? {}));
    this.#journal.append({
      operation,
      phase: "begun",
      type,
      urn,
      ...(subject.id === undefined ? {} : { id: subject.id }),
    });
    try {
      // The cloud refuses before it takes its time, and what it refuses must not exist afterwards.
      const done = act();
      const minutes = operation === "update" ? 0 : durationOf(type, inputs)[operation];
      await new Promise((resolve) => setTimeout(resolve, minutes * this.#settings.minute));
      if (this.#settings.fail === `${operation} ${type} ${nameOf(urn)}`)
        throw new CloudError(`InternalFailure: the e2e suite lets the ${operation} of ${nameOf(urn)} fail`);
      const { id, outputs } = done;
      await this.#changed(
        operation === "create" ? undefined : this.read(type, id),
        operation === "delete" ? undefined : { type, id, inputs },
      );
      this.#journal.append({ operation, phase: "done", type, urn, id, inputs, outputs });
      return done;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#journal.append({ operation, phase: "failed", type, urn, reason });
      throw error;
    }
  }
}

/** Merges inputs into outputs: an input wins, and values that the cloud has added inside of it stay. */
function merged(outputs: Wire, inputs: Wire): Wire {
  return Object.fromEntries(
    Object.entries(inputs).map(([key, value]) => [
      key,
      isTree(value) && isTree(outputs[key])
        ? { ...record(outputs[key]), ...merged(record(outputs[key]), record(value)) }
        : value,
    ]),
  );
}

const isTree = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

/** The cloud's error when another resource prevents the deletion of this one. */
function holder(cloud: Cloud, items: readonly Item[], item: Item): string | undefined {
  const own = names(item).filter((name) => typeof name === "string" && name !== "");
  for (const other of items)
    for (const { path, to, holds } of cloud.references[other.type] ?? [])
      if (holds !== undefined && to === item.type && valuesAt(other.inputs, path).some((value) => own.includes(value)))
        return `${holds} (${item.id} is used by ${other.id})`;
  return undefined;
}

type Kind = "add" | "delete" | "update";

/** Reports every difference at the deepest path that both sides have. */
function compare(before: unknown, after: unknown, path: string, report: (path: string, kind: Kind) => void): void {
  if (isDeepStrictEqual(before, after)) return;
  if (before === undefined || before === null) {
    report(path, "add");
    return;
  }
  if (after === undefined || after === null) {
    report(path, "delete");
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index++)
      compare(before[index], after[index], `${path}[${index}]`, report);
    return;
  }
  const [old, now] = [record(before), record(after)];
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  if (keys.size === 0 || typeof before !== "object" || typeof after !== "object") {
    report(path, "update");
    return;
  }
  for (const key of keys)
    compare(old[key], now[key], /^\w+$/.test(key) ? `${path}.${key}` : `${path}["${key}"]`, report);
}
