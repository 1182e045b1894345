import { z } from "zod";
import { optional } from "../../query/fields.ts";
import type { Snapshot } from "../../query/model.ts";
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

/** @throws ServiceError code 13 for an invalid branch name. */
export const snapshotOf = (
  { verifyBranch }: Tools,
  { version, branch }: SnapshotFields,
  call: Pick<Call, "minimumState">,
): Snapshot => {
  const name = verifyBranch(branch);
  return {
    ...(version === undefined ? {} : { version }),
    ...(name === undefined ? {} : { branch: name }),
    ...consistencyOf(call),
  };
};

/** A body without fields of its own. */
export const emptyBody = z.object({});
