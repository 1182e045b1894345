/** Without it LanceDB's client assumes an old server: it flattens full-text queries and splits multi-vectors. */
export const phalanxVersion = { "phalanx-version": "0.5.0" } as const;

/** LanceDB's client never reads a version older than the last one in this header. */
export const versionHeader = (version: number) => ({ "x-lancedb-version": String(version) });
