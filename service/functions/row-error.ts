/** Why a row has no value of a Function, as the runner records it. */
export interface RowError {
  readonly job_id: string;
  readonly fragment_id: number;
  readonly row_offset: number;
  readonly column: string;
  readonly function: string;
  readonly function_version: string;
  readonly table_version: number;
  readonly error_type: string;
  /** From the caller's code: it may hold data of the row. */
  readonly error_message: string;
  readonly created_at_millis: number;
}

export interface RowErrorQuery {
  readonly job: string | undefined;
  readonly column: string | undefined;
  readonly limit: number;
}
