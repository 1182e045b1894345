import type { LazyConnection } from "../connection/connection.ts";
import type { Staging } from "../uploads/staging.ts";
import { openCommits } from "./commits.ts";
import { openDeclarations } from "./declare.ts";
import { openRowWrites, type WriteLimits } from "./row-writes.ts";
import { openTableWrites } from "./table-writes.ts";
import type { WriteCalls } from "./write-calls.ts";

/** @param beforeCommit is awaited before each call that may commit. Until then, the tables are as they were. */
export const openWrites = (
  connection: LazyConnection,
  limits: WriteLimits,
  staging: Staging,
  beforeCommit: () => Promise<void> = async () => undefined,
): WriteCalls => {
  const commits = openCommits(connection, beforeCommit);
  return {
    ...openRowWrites(commits, connection.storageOptions, limits, staging),
    ...openTableWrites(commits, limits.schemas),
    ...openDeclarations(connection.address, commits),
  };
};
