import type { Table } from "@lancedb/lancedb";
import { directoryOf } from "./location.ts";

/** A version of a table, as the catalog's specification has it. */
export interface VersionRecord {
  readonly version: number;
  /** Of the manifest, relative to the root of the database. */
  readonly manifest_path: string;
  readonly timestamp_millis: number;
  /** Counts of the version: rows, files, fragments. */
  readonly metadata: Readonly<Record<string, string>>;
}

const maxVersion = 2n ** 64n - 1n;

/** Names of manifests count down, so that the newest comes first in a list of the store; older tables' count up. */
const manifestName = (version: number, countsDown: boolean): string =>
  `${countsDown ? String(maxVersion - BigInt(version)).padStart(20, "0") : version}.manifest`;

/**
 * All versions, the oldest first. The SDK reads the manifest of each, one after the other, and cannot be told to stop
 * or to read fewer.
 */
export const listVersions = async (table: Table): Promise<readonly VersionRecord[]> => {
  const [versions, countsDown] = await Promise.all([
    table.listVersions(),
    // Every table of a database that is not remote has it; the SDK's common type does not say so.
    (table as Table & { usesV2ManifestPaths(): Promise<boolean> }).usesV2ManifestPaths(),
  ]);
  const branch = table.currentBranch();
  const directory = `${directoryOf(table)}/${branch === null ? "" : `tree/${branch}/`}_versions`;
  return versions
    .map(({ version, timestamp, metadata }) => ({
      version,
      manifest_path: `${directory}/${manifestName(version, countsDown)}`,
      timestamp_millis: timestamp.getTime(),
      metadata,
    }))
    .sort((left, right) => left.version - right.version);
};
