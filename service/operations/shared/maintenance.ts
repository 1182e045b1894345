import type { TableId } from "../../guard/table-id.ts";
import type { RecordRow } from "../../lance/maintenance/maintenance-record.ts";
import type { Facts } from "../../plan-doctor/types.ts";
import type { MaintenanceResult } from "../../query/answers.ts";

/** What a table's rule says of its facts. Old versions are not counted. */
export interface Verdict {
  /** Each with what was found, and from which value it is due. */
  readonly due: readonly string[];
  /** What maintenance cannot do, with the way out. */
  readonly notes: readonly string[];
}

/** The maintenance of tables by the rules of the configuration. */
export interface Maintenance {
  /** What runs know of tables, by id with its parts joined by `$`. @throws ServiceError */
  record(): Promise<ReadonlyMap<string, RecordRow>>;
  /** @returns undefined for a table without a rule. */
  judge(parts: readonly string[], facts: Facts): Verdict | undefined;
  /** Does what is due for a table that exists. @throws ServiceError code 14 while another run works on it. */
  maintain(table: TableId): Promise<MaintenanceResult>;
}
