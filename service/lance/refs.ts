import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../errors.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { Memoizer } from "./memoizer.ts";

export interface TagRecord {
  readonly version: number;
  /** Size of the manifest of the version, in bytes. */
  readonly manifestSize: number;
  /** Absent for main. */
  readonly branch?: string;
}

export interface BranchRecord {
  /** Absent if the parent is main. */
  readonly parentBranch?: string;
  readonly parentVersion: number;
  /** Seconds since 1970. */
  readonly createAt: number;
  readonly manifestSize: number;
}

/** Handles opened concurrently for one list. */
const concurrency = 8;

/** Attempts to list tags while others delete them. */
const listAttempts = 10;
const tagVanished = /Not found: \S*_refs\/tags\/|Ref not found error: tag/;

const byName = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> =>
  Object.fromEntries([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));

/** The version that a tag names; `branch` is absent for main. */
export interface TagTarget {
  readonly version: number;
  readonly branch?: string;
}

/**
 * Resolves a tag. The SDK's tags name a version but not its branch, so a new handle, which no other request holds, is
 * checked out at the tag.
 */
const follow = async (table: Table, tag: string): Promise<TagTarget> => {
  const handle = await (await table.branches()).checkout("main");
  await handle.checkout(tag);
  const branch = handle.currentBranch();
  return { version: await handle.version(), ...(branch === null ? {} : { branch }) };
};

/** The tags of tables. The SDK's tags suffice for a table without branches, so whether it has any is memoized. */
export class Tags {
  readonly #branched: Memoizer<Table, boolean>;

  /** @param ttlMs milliseconds for which the absence of branches is trusted. */
  constructor(ttlMs: number) {
    this.#branched = new Memoizer({ ttlMs });
  }

  #isBranched(table: Table): Promise<boolean> {
    return this.#branched.get(table, async () => Object.keys(await (await table.branches()).list()).length > 0);
  }

  /**
   * All tags, by name. If the table has branches, each tag also costs the reading of a manifest.
   *
   * The SDK reads the tags one by one and fails if one of them is deleted meanwhile, so the list is retried.
   */
  async list(table: Table): Promise<Readonly<Record<string, TagRecord>>> {
    for (let attempt = 0; attempt < listAttempts; attempt++)
      try {
        return await this.#listOnce(table);
      } catch (error) {
        if (!tagVanished.test(String(error))) throw error;
      }
    throw new ServiceError(17, { message: "tags were deleted while they were listed; retry", retryAfter: 1 });
  }

  async #listOnce(table: Table): Promise<Readonly<Record<string, TagRecord>>> {
    const [tags, branched] = await Promise.all([table.tags().then((own) => own.list()), this.#isBranched(table)]);
    return byName(
      await mapConcurrently(concurrency, Object.entries(tags), async ([name, { version, manifestSize }]) => {
        const target = branched ? await follow(table, name) : { version };
        return [name, { ...target, manifestSize }] as const;
      }),
    );
  }

  async find(table: Table, tag: string): Promise<TagTarget> {
    const known = this.#branched.known(table);
    if (known === true) return follow(table, tag);
    // Concurrently, because most tables have no branches.
    const [version, branched] = await Promise.all([
      table.tags().then((tags) => tags.getVersion(tag)),
      known ?? this.#isBranched(table),
    ]);
    return branched ? follow(table, tag) : { version };
  }
}

/** All branches but main, by name. The SDK does not report the time of creation: the oldest version has it. */
export const listBranches = async (table: Table): Promise<Readonly<Record<string, BranchRecord>>> => {
  const branches = await table.branches();
  return byName(
    await mapConcurrently(concurrency, Object.entries(await branches.list()), async ([name, contents]) => {
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
