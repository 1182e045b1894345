/** A position on the time line with its newest version. */
export interface Mark {
  readonly version: number;
  /** 0 (oldest) to 1 (newest). */
  readonly at: number;
  /** Tags of all versions of the position. */
  readonly tags: readonly string[];
}

export interface Tag {
  readonly name: string;
  readonly version: number;
  readonly branch?: string | undefined;
}

/** More positions than this would be closer than pixels. */
const positions = 500;

/**
 * Positions by time. Versions that would be drawn at one place have one mark.
 * @param versions the oldest first.
 * @param tags those of the branch that the versions are of.
 */
export const timelineMarks = (
  versions: readonly { readonly version: number; readonly timestamp_millis: number }[],
  tags: readonly Tag[],
): readonly Mark[] => {
  // A spread of more numbers than the call stack takes ends the page.
  const times = versions.map(({ timestamp_millis: time }) => time);
  const first = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  const span = times.reduce((most, time) => Math.max(most, time), first) - first;
  const named = Map.groupBy(tags, ({ version }) => version);
  const marks = new Map<number, Mark>();
  for (const { version, timestamp_millis: time } of versions) {
    const at = span === 0 ? 0.5 : (time - first) / span;
    const position = Math.round(at * positions);
    const before = marks.get(position)?.tags ?? [];
    marks.set(position, { version, at, tags: [...before, ...(named.get(version) ?? []).map(({ name }) => name)] });
  }
  return [...marks.values()];
};

export interface Flag {
  readonly at: number;
  readonly tags: readonly string[];
}

/** Part of the time line that a flag with its text takes; the style sheet bounds its width by the same. */
const flagWidth = 0.2;

/** The tags of marks as flags that do not lie on each other. @param marks the oldest first. */
export const flagsOf = (marks: readonly Mark[]): readonly Flag[] => {
  const flags: Flag[] = [];
  for (const { at, tags } of marks.filter((mark) => mark.tags.length > 0)) {
    const last = flags.at(-1);
    if (last !== undefined && at - last.at < flagWidth)
      flags[flags.length - 1] = { at: last.at, tags: [...last.tags, ...tags] };
    else flags.push({ at, tags });
  }
  return flags;
};

export const flagText = ({ tags }: Flag): string =>
  tags.length <= 2 ? tags.join(", ") : `${tags[0]} and ${tags.length - 1} more`;

interface Counted {
  readonly metadata: Readonly<Record<string, string>>;
}

const counts = [
  ["total_rows", "rows"],
  ["total_fragments", "fragments"],
  ["total_deletion_file_rows", "deleted rows"],
] as const;

/** What a version changed in numbers: `+100 rows, +1 fragments`. Empty without a version before it, or without its numbers. */
export const changeOf = (version: Counted, before: Counted | undefined): string =>
  counts
    .flatMap(([key, name]) => {
      const difference = Number(version.metadata[key]) - Number(before?.metadata[key]);
      if (!Number.isFinite(difference) || difference === 0) return [];
      return [`${difference > 0 ? "+" : "−"}${Math.abs(difference).toLocaleString("en")} ${name}`];
    })
    .join(", ");
