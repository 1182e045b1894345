import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import type { BranchEntry, TagEntry, TagTarget } from "../../query/answers.ts";
import { localPathOf } from "../connection/location.ts";
import { mapConcurrently } from "../map-concurrently.ts";
import { Memoizer } from "../memoizer.ts";
import { retry } from "./retry.ts";
import { findTag, listTagFiles, moveTag } from "./tag-files.ts";
import { readVersions } from "./versions.ts";

/** Handles opened concurrently for one list. */
const concurrency = 8;

/** While tags are listed, others may delete them. */
const whenVanished = { attempts: 10, pattern: /Not found: \S*_refs\/tags\/|Ref not found error: tag/ };

/**
 * While a tag in a bucket is read, others may move it: the SDK asks for its size and then for as many bytes, so it reads a
 * part of a tag that has become longer.
 */
const whenTorn = { attempts: 3, pattern: /at line \d+ column \d+, \S*\/dataset\/refs\.rs:/ };

const byName = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> =>
  Object.fromEntries([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));

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

/** Called with the names of tags that a list leaves out because their files are invalid. */
export type OnInvalidTags = (table: string, tags: readonly string[]) => void;

/**
 * The tags of tables. Those of a table in a local directory are files, see `tag-files.ts`. Those in a bucket are read with
 * the SDK, whose own tags suffice for a table without branches, so whether it has any is memoized.
 */
export class Tags {
  readonly #branched: Memoizer<Table, boolean>;
  readonly #onInvalid: OnInvalidTags;

  /** @param ttlMs milliseconds for which the absence of branches is trusted. */
  constructor(ttlMs: number, onInvalid: OnInvalidTags) {
    this.#branched = new Memoizer({ ttlMs });
    this.#onInvalid = onInvalid;
  }

  #isBranched(table: Table): Promise<boolean> {
    return this.#branched.get(table, async () => Object.keys(await (await table.branches()).list()).length > 0);
  }

  /** All tags, by name. A tag in a local directory whose file is invalid is left out. */
  async list(table: Table): Promise<Readonly<Record<string, TagEntry>>> {
    const path = localPathOf(table);
    if (path === undefined) return this.#listWithSdk(table);
    const { tags, invalid } = await listTagFiles(path);
    if (invalid.length > 0) this.#onInvalid(path, invalid);
    return byName(tags);
  }

  /**
   * If the table has branches, each tag also costs the reading of a manifest. The SDK reads the tags one by one and fails
   * if one of them is deleted meanwhile, so the list is retried.
   */
  async #listWithSdk(table: Table): Promise<Readonly<Record<string, TagEntry>>> {
    try {
      return await retry(whenVanished, () => retry(whenTorn, () => this.#listOnce(table)));
    } catch (error) {
      if (!whenVanished.pattern.test(String(error))) throw error;
      throw new ServiceError(17, { message: "tags were deleted while they were listed; retry", retryAfter: 1 });
    }
  }

  async #listOnce(table: Table): Promise<Readonly<Record<string, TagEntry>>> {
    const [tags, branched] = await Promise.all([table.tags().then((own) => own.list()), this.#isBranched(table)]);
    return byName(
      await mapConcurrently(concurrency, Object.entries(tags), async ([name, { version, manifestSize }]) => {
        const target = branched ? await follow(table, name) : { version };
        return [name, { ...target, manifestSize }] as const;
      }),
    );
  }

  find(table: Table, tag: string): Promise<TagTarget> {
    const path = localPathOf(table);
    return path === undefined ? retry(whenTorn, () => this.#findWithSdk(table, tag)) : findTag(path, tag);
  }

  async #findWithSdk(table: Table, tag: string): Promise<TagTarget> {
    const known = this.#branched.known(table);
    if (known === true) return follow(table, tag);
    // Concurrently, because most tables have no branches.
    const [version, branched] = await Promise.all([
      table.tags().then((tags) => tags.getVersion(tag)),
      known ?? this.#isBranched(table),
    ]);
    return branched ? follow(table, tag) : { version };
  }

  /** Moves a tag that exists to a version of the handle's branch. */
  async move(table: Table, tag: string, version: number): Promise<void> {
    const path = localPathOf(table);
    const branch = table.currentBranch();
    // In a bucket, the SDK's single PUT is complete or refused, and an invalid tag is found before it.
    if (path === undefined) return retry(whenTorn, async () => (await table.tags()).update(tag, version));
    return moveTag(path, tag, { version, ...(branch === null ? {} : { branch }) });
  }
}

/** All branches but main, by name. The SDK does not report the time of creation: the oldest version has it. */
export const listBranches = async (table: Table): Promise<Readonly<Record<string, BranchEntry>>> => {
  const branches = await table.branches();
  return byName(
    await mapConcurrently(concurrency, Object.entries(await branches.list()), async ([name, contents]) => {
      const { parentBranch, parentVersion, manifestSize } = contents;
      const times = (await readVersions(await branches.checkout(name))).map(({ timestamp }) => timestamp.getTime());
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
