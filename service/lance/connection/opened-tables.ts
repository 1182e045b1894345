import { stat } from "node:fs/promises";
import type { Table } from "@lancedb/lancedb";
import { LRUCache } from "lru-cache";
import { invalid, type ServiceError } from "../../errors.ts";
import { faultOfSchema, readSizes, type SchemaLimits } from "../arrow/schema-sizes.ts";
import { manifestName, versionsDirectory } from "../refs/versions.ts";
import { localPathOf } from "./location.ts";

/** Memory of a handle beside its schema and its manifest, in bytes. */
const handleBytes = 16 * 1024;
/** The engine keeps both a schema and its manifest, and descriptions are memoized. */
const copies = 4;

/** Tables that open at once: what one takes is known only once it is open. */
const concurrency = 16;

/** Refused tables that are remembered, so that a request for them costs no memory. */
const maxRefused = 1000;
const refusedMs = 10_000;

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** The bytes of a local table's manifest; 0 in a bucket, where the SDK does not tell. */
const manifestBytes = async (table: Table): Promise<number> => {
  const path = localPathOf(table);
  if (path === undefined) return 0;
  const directory = versionsDirectory(path, table.currentBranch() ?? undefined);
  const version = await table.version();
  const sizes = [true, false].map((countsDown) => sizeOf(`${directory}/${manifestName(version, countsDown)}`));
  return Math.max(...(await Promise.all(sizes)));
};

/**
 * The handles that a process has open, bounded by the bytes of their schemas. A handle's memory belongs to the engine, which
 * the collector of JavaScript does not see: a handle that is no longer kept is closed as soon as no call can use it.
 */
export class OpenedTables {
  readonly #limits: SchemaLimits | undefined;
  readonly #bytes = new WeakMap<Table, number>();
  readonly #refused = new LRUCache<string, ServiceError>({ max: maxRefused, ttl: refusedMs });
  readonly #waiting: (() => void)[] = [];
  #opening = 0;
  /** Numbers of the calls that run, in their order. */
  readonly #calls = new Set<number>();
  #call = 0;
  /** Handles that no cache may keep, each with the newest call that may use it. */
  #retired: { readonly table: Table; readonly call: number }[] = [];

  constructor(limits: SchemaLimits | undefined) {
    this.#limits = limits;
  }

  bytesOf(table: Table): number {
    return this.#bytes.get(table) ?? handleBytes;
  }

  /** @param key of the table and its version. @throws ServiceError code 13 for a schema beyond the limit. */
  async open(key: string, open: () => Promise<Table>): Promise<Table> {
    if (this.#opening >= concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#opening++;
    try {
      const refused = this.#refused.get(key);
      if (refused !== undefined) throw refused;
      const table = await open();
      await this.#measure(key, table);
      return table;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#opening--;
      else next();
    }
  }

  async #measure(key: string, table: Table): Promise<void> {
    const [{ bytes }, manifest] = await Promise.all([readSizes(table), manifestBytes(table)]);
    const fault = this.#limits && faultOfSchema(bytes, this.#limits);
    if (fault === undefined) {
      this.#bytes.set(table, handleBytes + copies * bytes + manifest);
      return;
    }
    table.close();
    const refusal = invalid(fault);
    this.#refused.set(key, refusal);
    throw refusal;
  }

  /** Forgets that a table was refused, because it has changed. */
  forget(tableKey: string): void {
    this.#refused.delete(tableKey);
  }

  /** Runs a call. Handles that it may have got stay open until it ends. */
  async hold<T>(call: () => Promise<T>): Promise<T> {
    const number = ++this.#call;
    this.#calls.add(number);
    try {
      return await call();
    } finally {
      this.#calls.delete(number);
      this.#closeRetired();
    }
  }

  /** Closes a handle that no cache keeps once the calls of now have ended. */
  retire(table: Table): void {
    this.#retired.push({ table, call: this.#call });
    this.#closeRetired();
  }

  #closeRetired(): void {
    if (this.#retired.length === 0) return;
    const [oldest = Number.POSITIVE_INFINITY] = this.#calls;
    const closable = this.#retired.filter(({ call }) => call < oldest);
    if (closable.length === 0) return;
    this.#retired = this.#retired.filter(({ call }) => call >= oldest);
    for (const { table } of closable) table.close();
  }
}
