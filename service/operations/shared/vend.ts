import { z } from "zod";
import { authorize } from "../../auth/index.ts";
import type { Vended } from "../../catalog/vending.ts";
import type { TableId } from "../../guard/table-id.ts";
import { optional } from "../../query/fields.ts";
import type { Call, Tools } from "../operation.ts";

export const vendField = optional(z.boolean()).describe(
  "Whether to lend credentials for the table's files; absent: if the caller has the scope `credentials`, but to LanceDB's own clients only when asked. Without effect where LAKEHEAD_VENDING is off",
);

export const storageOptionsAnswer = z
  .record(z.string(), z.string())
  .optional()
  .describe("Credentials of the store for the files of this table, with their end in `expires_at_millis`");

/**
 * The credentials of a response; undefined where none are due. No client asks at its first call, and those of LanceDB's own
 * dialect do not read them.
 * @throws ServiceError code 15 for a caller who asks without the right.
 */
export const vend = async (
  { vending }: Pick<Tools, "vending">,
  table: TableId,
  address: string | undefined,
  { principal, dialect }: Pick<Call, "principal" | "dialect">,
  asked: boolean | undefined,
): Promise<Vended | undefined> => {
  if (vending === undefined || address === undefined || !(asked ?? dialect === "catalog")) return undefined;
  const right = vending.rightOf(principal);
  if (right !== undefined) return vending.lend(table, address, right, principal);
  if (asked !== true) return undefined;
  authorize(principal, "credentials", table.parts);
  authorize(principal, "read", table.parts);
  return undefined;
};
