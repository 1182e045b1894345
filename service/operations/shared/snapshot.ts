import { z } from "zod";
import type { TableId } from "../../guard/table-id.ts";
import type { VerifiedQuery } from "../../guard/verify-query.ts";
import { optional } from "../../query/fields.ts";
import type { Snapshot } from "../../query/model.ts";
import type { Query } from "../../query/wire.ts";
import type { Call, Tools } from "../operation.ts";
import { branchField, versionNumber } from "./common-fields.ts";

/** The fields of a body that select a snapshot of a table. */
export const snapshotShape = {
  version: optional(versionNumber).describe("A version; absent for the latest"),
  branch: branchField,
} as const;

interface SnapshotFields {
  readonly version?: number | undefined;
  readonly branch?: string | undefined;
}

/** The part of a snapshot from the request's headers. */
export const consistencyOf = ({ minimumState }: Pick<Call, "minimumState">): Pick<Snapshot, "minimumState"> =>
  minimumState === undefined ? {} : { minimumState };

/** A query that the guard has verified. @throws ServiceError code 13. */
export const verifiedQuery = (
  { database, guard }: Tools,
  table: TableId,
  query: Query,
  call: Pick<Call, "minimumState">,
  executes: boolean,
): Promise<VerifiedQuery> => {
  const wanted = { ...query, ...consistencyOf(call) };
  return guard.query(wanted, executes, async () => (await database.count(table, wanted, undefined)).rows);
};

/** @throws ServiceError code 13 for an invalid branch name. */
export const snapshotOf = (
  { guard }: Tools,
  { version, branch }: SnapshotFields,
  call: Pick<Call, "minimumState">,
): Snapshot => {
  const name = guard.branch(branch);
  return {
    ...(version === undefined ? {} : { version }),
    ...(name === undefined ? {} : { branch: name }),
    ...consistencyOf(call),
  };
};

/** A body without fields of its own. */
export const emptyBody = z.object({});
