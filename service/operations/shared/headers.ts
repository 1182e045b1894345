/** Without it LanceDB's client takes the server for an old one: it flattens full-text queries and splits multi-vectors. */
export const phalanxVersion = { "phalanx-version": "0.3.0" } as const;

/** LanceDB's client never reads from an older version than it has seen, and learns from this what it has. */
export const versionHeader = (version: number) => ({ "x-lancedb-version": String(version) });
