import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../errors.ts";
import { limited } from "./limited.ts";
import { PerHandle } from "./per-handle.ts";

export interface TagRecord {
  readonly version: number;
  /** Bytes of the manifest that the tag names. */
  readonly manifestSize: number;
  /** Absent for main. */
  readonly branch?: string;
}

export interface BranchRecord {
  /** Absent where the branch comes from main. */
  readonly parentBranch?: string;
  readonly parentVersion: number;
  /** Seconds since 1970. */
  readonly createAt: number;
  readonly manifestSize: number;
}

/** Handles that are opened at once for one list. */
const concurrency = 8;

/** A tag that is deleted in each of so many lists in a row: few tables have so many that come and go. */
const listAttempts = 10;
const tagVanished = /Not found: \S*_refs\/tags\/|Ref not found error: tag/;

const byName = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> =>
  Object.fromEntries([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));

/** Where a tag leads; `branch` is absent for main. */
export interface TagTarget {
  readonly version: number;
  readonly branch?: string;
}

/**
 * Follows a tag. The SDK's tags name a version and not its branch, so a handle is moved there and asked: one of its own,
 * which nobody else holds.
 */
const follow = async (table: Table, tag: string): Promise<TagTarget> => {
  const handle = await (await table.branches()).checkout("main");
  await handle.checkout(tag);
  const branch = handle.currentBranch();
  return { version: await handle.version(), ...(branch === null ? {} : { branch }) };
};

/** The tags of tables. Without branches the SDK's own answers say all; that there are none is remembered for a while. */
export class Tags {
  readonly #branched: PerHandle<boolean>;

  constructor(consistencySeconds: number) {
    this.#branched = new PerHandle(consistencySeconds, async (table) => {
      const names = Object.keys(await (await table.branches()).list());
      return names.length > 0;
    });
  }

  /**
   * All tags, by name. Where the table has branches, each tag costs the opening of a manifest beside.
   *
   * The SDK reads the tags one by one, and fails as a whole when one of them is deleted meanwhile: it is asked again.
   */
  async list(table: Table): Promise<Readonly<Record<string, TagRecord>>> {
    for (let attempt = 0; attempt < listAttempts; attempt++)
      try {
        return await this.#listOnce(table);
      } catch (error) {
        if (!tagVanished.test(String(error))) throw error;
      }
    throw new ServiceError(17, { message: "tags are deleted faster than they can be listed; retry", retryAfter: 1 });
  }

  async #listOnce(table: Table): Promise<Readonly<Record<string, TagRecord>>> {
    const [tags, branched] = await Promise.all([table.tags().then((own) => own.list()), this.#branched.of(table)]);
    return byName(
      await limited(concurrency, Object.entries(tags), async ([name, { version, manifestSize }]) => {
        const target = branched ? await follow(table, name) : { version };
        return [name, { ...target, manifestSize }] as const;
      }),
    );
  }

  async find(table: Table, tag: string): Promise<TagTarget> {
    const known = this.#branched.known(table);
    if (known === true) return follow(table, tag);
    // Asked at the same time: most tables have no branches.
    const [version, branched] = await Promise.all([
      table.tags().then((tags) => tags.getVersion(tag)),
      known ?? this.#branched.of(table),
    ]);
    return branched ? follow(table, tag) : { version };
  }
}

/** All branches but main, by name. The SDK does not say when one was made: its oldest version does. */
export const listBranches = async (table: Table): Promise<Readonly<Record<string, BranchRecord>>> => {
  const branches = await table.branches();
  return byName(
    await limited(concurrency, Object.entries(await branches.list()), async ([name, contents]) => {
      const { parentBranch, parentVersion, manifestSize } = contents;
      const times = (await (await branches.checkout(name)).listVersions()).map(({ timestamp }) => timestamp.getTime());
      return [
        name,
        {
          parentVersion,
          manifestSize,
          createAt: Math.floor(Math.min(...times) / 1000),
          ...(parentBranch === undefined || parentBranch === null ? {} : { parentBranch }),
        },
      ] as const;
    }),
  );
};
