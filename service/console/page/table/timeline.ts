/** A version on the time line. */
export interface Mark {
  readonly version: number;
  /** 0 (oldest) to 1 (newest). */
  readonly at: number;
  readonly tags: readonly string[];
}

export interface Tag {
  readonly name: string;
  readonly version: number;
  readonly branch?: string | undefined;
}

/** Positions by time. Versions of one moment have the same position. */
export const timelineMarks = (
  versions: readonly { readonly version: number; readonly timestamp_millis: number }[],
  tags: readonly Tag[],
): readonly Mark[] => {
  const times = versions.map(({ timestamp_millis: time }) => time);
  const first = Math.min(...times);
  const span = Math.max(...times) - first;
  return versions.map(({ version, timestamp_millis: time }) => ({
    version,
    at: span === 0 ? 0.5 : (time - first) / span,
    tags: tags.filter((tag) => tag.version === version && tag.branch === undefined).map(({ name }) => name),
  }));
};
