/**
 * What happened in a stand-in's cloud, one JSON line for each beginning and end of an operation. The journal is also
 * the cloud's only memory: what exists is what was created and not deleted, whichever process did it.
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Wire } from "../../../infra/offline-plan/recorder.ts";

export type Operation = "create" | "update" | "delete";

export interface Entry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly operation: Operation;
  readonly phase: "begun" | "done" | "failed";
  readonly type: string;
  readonly urn: string;
  /** Undefined until a creation is done. */
  readonly id?: string;
  readonly inputs?: Wire;
  readonly outputs?: Wire;
  readonly reason?: string;
}

/** Something that exists in the cloud. */
export interface Item {
  /** When its creation was done, in milliseconds since the epoch. */
  readonly since: number;
  readonly type: string;
  readonly urn: string;
  readonly id: string;
  readonly inputs: Wire;
  readonly outputs: Wire;
}

export class Journal {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** One write of one line: processes that append at the same time do not mix. */
  append(entry: Omit<Entry, "at">): void {
    appendFileSync(this.#path, `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
  }

  entries(): Entry[] {
    if (!existsSync(this.#path)) return [];
    return readFileSync(this.#path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Entry);
  }

  /** What exists; something whose deletion has only begun still does. */
  items(): Item[] {
    return itemsOf(this.entries());
  }

  /** How often a resource of that URN has been created, so that a replacement gets another id. */
  generation(urn: string): number {
    return this.entries().filter(
      (entry) => entry.urn === urn && entry.operation === "create" && entry.phase === "begun",
    ).length;
  }
}

export function itemsOf(entries: readonly Entry[]): Item[] {
  const items = new Map<string, Item>();
  for (const { at, operation, phase, type, urn, id, inputs = {}, outputs = {} } of entries) {
    if (phase !== "done" || id === undefined) continue;
    const key = `${type} ${id}`;
    if (operation === "delete") items.delete(key);
    else items.set(key, { since: items.get(key)?.since ?? at, type, urn, id, inputs, outputs });
  }
  return [...items.values()];
}
