export interface VersionFacts {
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** The versions of a table, and what keeps some of them. */
export interface History {
  /** The oldest first, the latest last. */
  readonly versions: readonly VersionFacts[];
  /** The version of each tag of the main branch. */
  readonly tags: Readonly<Record<string, number>>;
  /** Versions that a branch begins with. */
  readonly bases: readonly number[];
}

/** What can be deleted of a history. */
export interface CleanUp {
  /** Versions from before this time can be deleted, in milliseconds since 1970. */
  readonly deleteBefore: number;
  /** Number of these versions. */
  readonly versions: number;
  /** The tag that keeps further versions, which are old enough. */
  readonly heldBy?: { readonly tag: string; readonly version: number; readonly versions: number };
}

const countBefore = ({ versions, bases }: History, time: number): number =>
  versions.filter(({ version, createdAt }) => createdAt < time && !bases.includes(version)).length;

/**
 * The versions that a newer one replaced at least `keptMs` ago.
 *
 * The version that was the latest at that time stays: a reader may have opened it just before it was replaced, and files
 * that no version refers to are deleted only if they are older than the oldest version that stays. The SDK deletes nothing at
 * all if one of the versions to delete has a tag, so the oldest tag bounds what is deleted. The SDK itself keeps the versions
 * that branches begin with.
 */
export const cleanUpOf = (history: History, keptMs: number, now: number): CleanUp | undefined => {
  const current = history.versions.findLast(({ createdAt }) => createdAt <= now - keptMs);
  if (current === undefined) return undefined;
  const tagged = Object.entries(history.tags).sort(([, left], [, right]) => left - right);
  const oldest = tagged.find(([, version]) => version < current.version);
  const kept = history.versions.find(({ version }) => version === (oldest?.[1] ?? current.version)) ?? current;
  const versions = countBefore(history, kept.createdAt);
  if (oldest === undefined || kept === current) return { deleteBefore: current.createdAt, versions };
  const held = countBefore(history, current.createdAt) - versions - 1;
  return {
    deleteBefore: kept.createdAt,
    versions,
    ...(held > 0 ? { heldBy: { tag: oldest[0], version: oldest[1], versions: held } } : {}),
  };
};
