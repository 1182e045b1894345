import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

export interface StoredObject {
  readonly body: Buffer;
  readonly etag: string;
  readonly modified: Date;
}

export interface Listing {
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
  /** Where the next page begins; absent on the last one. */
  readonly next?: string;
}

interface ListQuery {
  readonly prefix: string;
  readonly delimiter: string;
  /** Keys up to and including this one are left out. */
  readonly after: string;
  readonly max: number;
}

/** The objects of one bucket, in memory, in the order of their keys. */
export class Bucket {
  readonly #objects = new Map<string, StoredObject>();

  /** Copies a directory's files: what a local database wrote is byte for byte what it would have put. */
  seed(directory: string, prefix: string): void {
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      this.put(`${prefix}/${relative(directory, file).split(sep).join("/")}`, readFileSync(file));
    }
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  put(key: string, body: Buffer): StoredObject {
    const etag = `"${createHash("md5").update(body).digest("hex")}"`;
    const stored: StoredObject = { body, etag, modified: new Date() };
    this.#objects.set(key, stored);
    return stored;
  }

  delete(key: string): void {
    this.#objects.delete(key);
  }

  list({ prefix, delimiter, after, max }: ListQuery): Listing {
    const keys: string[] = [];
    const prefixes: string[] = [];
    let last = "";
    const sorted = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    for (const key of sorted) {
      const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      const common = cut < 0 ? undefined : key.slice(0, cut + delimiter.length);
      if (common !== undefined && (common === prefixes.at(-1) || common === after)) continue;
      if (keys.length + prefixes.length === max) return { keys, prefixes, next: last };
      if (common === undefined) keys.push(key);
      else prefixes.push(common);
      last = common ?? key;
    }
    return { keys, prefixes };
  }
}
