import type { Table } from "@lancedb/lancedb";
import { ServiceError } from "../../errors.ts";
import type { VersionEntry } from "../../query/answers.ts";
import { directoryOf } from "../connection/location.ts";
import { retry } from "./retry.ts";

const maxVersion = 2n ** 64n - 1n;

/** Manifest names count down, so that a listing of the store starts with the newest. Those of older tables count up. */
export const manifestName = (version: number, countsDown: boolean): string =>
  `${countsDown ? String(maxVersion - BigInt(version)).padStart(20, "0") : version}.manifest`;

/** The directory of the manifests of a table's branch; `branch` is absent for main. */
export const versionsDirectory = (table: string, branch: string | undefined): string =>
  `${table}/${branch === undefined ? "" : `tree/${branch}/`}_versions`;

/** While versions are listed, a clean-up may delete them. */
const whenVanished = { attempts: 6, pattern: /Not found: \S*_versions\//, firstPauseMs: 20 };

/**
 * The versions of a table, in no order. The SDK lists the manifests and then reads each, so it fails when a clean-up deletes
 * one meanwhile.
 * @throws ServiceError code 17 if that goes on.
 */
export const readVersions = async (table: Table): Promise<Awaited<ReturnType<Table["listVersions"]>>> => {
  try {
    return await retry(whenVanished, () => table.listVersions());
  } catch (cause) {
    if (!whenVanished.pattern.test(String(cause))) throw cause;
    throw new ServiceError(17, {
      message: "versions were deleted while they were listed; retry",
      retryAfter: 1,
      cause,
    });
  }
};

/** All versions, the oldest first. The SDK reads the manifests one by one, without a limit or cancellation. */
export const listVersions = async (table: Table): Promise<readonly VersionEntry[]> => {
  const [versions, countsDown] = await Promise.all([
    readVersions(table),
    // A method of all local tables that the SDK's common type lacks.
    (table as Table & { usesV2ManifestPaths(): Promise<boolean> }).usesV2ManifestPaths(),
  ]);
  const directory = versionsDirectory(directoryOf(table), table.currentBranch() ?? undefined);
  return versions
    .map(({ version, timestamp, metadata }) => ({
      version,
      manifest_path: `${directory}/${manifestName(version, countsDown)}`,
      timestamp_millis: timestamp.getTime(),
      timestamp: timestamp.toISOString(),
      metadata,
    }))
    .sort((left, right) => left.version - right.version);
};
