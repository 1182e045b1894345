import { z } from "zod";
import { authorize } from "../../auth/index.ts";
import type { TableId } from "../../guard/table-id.ts";
import type { Commit, CommitOfRows, RowData } from "../../lance/writes/write-calls.ts";
import { branchName, columnName, natural } from "../../query/fields.ts";
import { type Call, OperationResponse, type Tools } from "../operation.ts";
import { versionHeader } from "./headers.ts";

/** The rows of a write. The pipeline receives them; they are not JSON. */
export const rowsBody = z.custom<RowData>();

/** A word in any case, with or without underscores: `exist_ok`, `ExistOk`. */
const word = <const T extends string>(...words: readonly [T, ...T[]]) =>
  z
    .string()
    .transform((value) => words.find((each) => each.replace("_", "") === value.replaceAll("_", "").toLowerCase()))
    .refine((value) => value !== undefined, { error: `must be one of ${words.join(", ")}` })
    .transform((value) => value as T)
    .meta({ enum: words });

export const createMode = word("create", "exist_ok", "overwrite");
export const insertMode = word("append", "overwrite");
export const dropMode = word("fail", "skip");
export const dropBehavior = word("restrict", "cascade");

/** A branch in the address, for operations whose body is not JSON. */
export const branchParameters = z.object({
  branch: branchName.optional().describe("A branch; absent for main"),
});

export const columnPath = columnName.describe("Path of the column");

export const versionAnswer = z.object({ version: natural.describe("The version of the commit") });
/** The specification's, of operations that commit nothing that has an id. */
export const transactionAnswer = z.object({ transaction_id: z.string().optional() });

/** A write's target. @throws ServiceError code 13 for an invalid branch name. */
export const branchOf = ({ guard }: Tools, branch: string | undefined): { readonly branch?: string } => {
  const name = guard.branch(branch);
  return name === undefined ? {} : { branch: name };
};

/**
 * Requires the scope `read` for SQL over a table's rows. Repeated predicates can reveal their content by the numbers of
 * rows, and expressions by whether they fail.
 */
export const authorizeSql = ({ principal }: Pick<Call, "principal">, table: TableId): void =>
  authorize(principal, "read", table.parts);

/** A response with the commit's version in its headers and, for the log, the commit. */
export const committed = (
  content: unknown,
  commit: Commit | CommitOfRows,
  headers: Readonly<Record<string, string>> = {},
) => new OperationResponse(content, { ...headers, ...versionHeader(commit.version) }, { commit });
