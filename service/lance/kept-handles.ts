import type { Table } from "@lancedb/lancedb";
import { LRUCache } from "lru-cache";
import { identityAtOnce, isLocal, readStampAtOnce } from "./local-files.ts";
import { localPathOf } from "./location.ts";
import { manifestName, versionsDirectory } from "./versions.ts";
import type { WriteTarget } from "./write-calls.ts";

/** A handle of the newest version of a table. */
export interface NewestHandle {
  readonly table: Table;
  readonly version: number;
  /** Of the versions; absent if only the store knows whether there is a newer one. */
  readonly directory?: Directory | undefined;
}

interface Directory {
  readonly path: string;
  readonly identity: string;
}

interface Kept extends NewestHandle {
  readonly directory: Directory;
  /** Of the directory. */
  readonly stamp: string;
}

/** A writer usually has few tables. A handle holds the manifest of its version in memory. */
const maxHandles = 16;

/**
 * Handles of the versions that this process has committed to tables in local directories, for its next writes: to open a
 * table takes a third of the time of a small write. A handle is used again only if no other process has changed the table,
 * and if it is still the same table: it may have been dropped and created again.
 */
export class KeptHandles {
  readonly #kept = new LRUCache<string, Kept>({
    max: maxHandles,
    dispose: ({ table }, _, reason) => {
      // A deleted one has a new owner.
      if (reason !== "delete") table.close();
    },
  });

  /**
   * The directory of a table's versions, if it alone tells whether the table was changed. Another table may get a name in a
   * namespace. A network file system may know of a change later.
   */
  async directoryOf(table: Table, { table: { namespace }, branch }: WriteTarget): Promise<Directory | undefined> {
    const local = namespace.length > 0 || branch !== undefined ? undefined : localPathOf(table);
    const path = local && versionsDirectory(local, undefined);
    if (path === undefined || !(await isLocal(path))) return undefined;
    const identity = tryRead(() => identityAtOnce(path));
    return identity === undefined ? undefined : { path, identity };
  }

  /** A kept handle, if it is of the newest version. It then belongs to the caller. */
  take({ table: { key }, branch }: WriteTarget): NewestHandle | undefined {
    const kept = branch === undefined ? this.#kept.get(key) : undefined;
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    if (isNewest(kept)) return kept;
    kept.table.close();
    return undefined;
  }

  /** Keeps the handle of a version that it has committed, or closes it. */
  keep({ table: { key } }: WriteTarget, handle: NewestHandle): void {
    const kept = stamped(handle);
    if (kept === undefined) handle.table.close();
    else this.#kept.set(key, kept);
  }
}

/** Of a directory that cannot be read, the SDK tells why when it opens the table. A write that is committed must not fail. */
const tryRead = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** The times of a directory advance in steps: of a commit within the step of its stamp, only the manifest tells. */
const isNewest = ({ directory: { path }, stamp, version }: Kept): boolean =>
  tryRead(() => readStampAtOnce(path) === stamp && !hasManifest(path, version + 1)) === true;

/** Manifests of old tables have other names. */
const hasManifest = (path: string, version: number): boolean =>
  readStampAtOnce(`${path}/${manifestName(version, true)}`) !== undefined;

/** @returns undefined if a later change of the table could go unnoticed. */
const stamped = ({ table, version, directory }: NewestHandle): Kept | undefined =>
  directory &&
  tryRead(() => {
    const { path, identity } = directory;
    const stamp = readStampAtOnce(path);
    // Another process may have replaced the table since the commit.
    const isSame = identityAtOnce(path) === identity && hasManifest(path, version);
    return stamp !== undefined && isSame ? { table, version, directory, stamp } : undefined;
  });
