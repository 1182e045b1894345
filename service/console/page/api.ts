import type { PlanDocument } from "../../plan-doctor/types.ts";
import type {
  IndexEntry,
  IndexStatistics,
  JsonSchema,
  MaintenanceState,
  Statistics,
  TagEntry,
  VersionEntry,
} from "../../query/answers.ts";
import type { BlobPart } from "./cell.ts";

/** A refusal of the service. */
export class ApiError extends Error {
  readonly status: number;
  /** The scope that the credentials lack, if that is the reason. */
  readonly scope: string | undefined;
  readonly detail: string | undefined;
  readonly requestId: string;

  constructor(status: number, message: string, requestId: string, scope?: string, detail?: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.requestId = requestId;
    this.scope = scope;
    this.detail = detail;
  }
}

/** The service did not answer at all. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor() {
    super("the service does not answer: check that it runs, and that this machine reaches it");
  }
}

/** A client has taken the table's name, and not written it yet. */
export class OnlyDeclaredError extends Error {
  override readonly name = "OnlyDeclaredError";

  constructor() {
    super("the table is declared and has no data yet: write it with the client that declared it, or drop it");
  }
}

export interface Me {
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly tables: readonly string[];
  /** Whether the service serves the operations that change tables. */
  readonly writes?: boolean;
}

export interface Description {
  readonly version: number;
  readonly schema: JsonSchema;
}

export interface MaintenanceList {
  readonly tables: readonly MaintenanceState[];
  readonly total: number;
}

/** A job in a list. */
export interface Job {
  readonly job_id: string;
  readonly job_type: string;
  readonly table: string;
  readonly state: string;
  readonly created_at_millis: number;
}

export interface JobDetail {
  readonly job_type: string;
  readonly job_state: string;
  readonly spec: object;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly progress?: { readonly rows_done?: number; readonly rows_total?: number; readonly seconds_left?: number };
  readonly failure?: { readonly phase: string; readonly message: string; readonly retryable: boolean };
}

export interface JobEventRow {
  readonly at: number;
  readonly state: string;
  readonly entity: string;
  readonly rows: number | undefined;
  readonly message: string;
}

/** Why rows have no value of a Function. */
export interface RowErrors {
  readonly records: readonly {
    readonly fragment_id: number;
    readonly row_offset?: number;
    readonly error_type: string;
    readonly error_message: string;
  }[];
  readonly truncated?: boolean;
}

/** The operations that the console sends to change a table, each on the table that the reader sees. */
export const changeOperations = ["create_index", "create_scalar_index", "maintain"] as const;

export interface ChangeRequest {
  readonly table: string;
  readonly operation:
    | (typeof changeOperations)[number]
    | `index/${string}/drop${string}`
    | "add_columns"
    | "backfill_column"
    | "materialized_view/refresh";
  readonly body: object;
}

export interface Committed {
  /** Undefined if the service did not say. */
  readonly version: number | undefined;
  readonly answer: unknown;
}

/** The query object of a request, as it is sent. */
export type Query = Readonly<Record<string, unknown>>;

export type PlanKind = "explain" | "analyze";

/** A plan as data, or its text alone from a service that has no other form. */
export type Plan = PlanDocument | { readonly plan: string; readonly tree?: never };

const planMedia = "application/vnd.lakehead.plan+json";

const errorOf = async (response: Response): Promise<ApiError> => {
  const body = (await response.json().catch(() => ({}))) as { error?: unknown; detail?: unknown; instance?: unknown };
  const [, scope] = /scope="([^"]+)"/.exec(response.headers.get("www-authenticate") ?? "") ?? [];
  return new ApiError(
    response.status,
    typeof body.error === "string" ? body.error : `the service answered ${response.status}`,
    typeof body.instance === "string" ? body.instance : (response.headers.get("x-request-id") ?? ""),
    scope,
    typeof body.detail === "string" ? body.detail : undefined,
  );
};

/**
 * The operations of the service that the console uses.
 * @param root address of the service, with a slash at the end.
 */
export const createApi = (root: string, token: string, onRefused: () => void) => {
  const send = async (path: string, init: RequestInit, signal?: AbortSignal): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, ...init.headers };
    const response = await fetch(new URL(path, root), { ...init, headers, signal: signal ?? null }).catch(
      (error: unknown) => {
        throw (error as Error).name === "AbortError" ? error : new UnreachableError();
      },
    );
    if (response.ok) return response;
    const error = await errorOf(response);
    if (error.status === 401) onRefused();
    throw error;
  };
  const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
    (await send(path, {}, signal)).json() as Promise<T>;
  const postRaw = (path: string, body: object, signal?: AbortSignal, headers: Readonly<Record<string, string>> = {}) =>
    send(
      path,
      { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) },
      signal,
    );
  const post = async <T>(path: string, body: object, signal?: AbortSignal): Promise<T> =>
    (await postRaw(path, body, signal)).json() as Promise<T>;
  const at = (table: string, operation: string): string => {
    const [, ofView] = /^materialized_view\/(.*)$/.exec(operation) ?? [];
    const kind = ofView === undefined ? "table" : "materialized_view";
    return `v1/${kind}/${encodeURIComponent(table)}/${ofView ?? operation}`;
  };
  const noErrors: RowErrors = { records: [] };

  return {
    root,
    me: (signal?: AbortSignal): Promise<Me> => get("console/me", signal),
    tables: async (signal?: AbortSignal): Promise<readonly string[]> =>
      (await get<{ tables: string[] }>("v1/table?delimiter=%24", signal)).tables,
    describe: async (table: string, signal?: AbortSignal, branch?: string): Promise<Description> => {
      // A page reads no files.
      const body = { branch, vend_credentials: false };
      const { version, schema } = await post<Partial<Description>>(at(table, "describe"), body, signal);
      if (version === undefined || schema === undefined) throw new OnlyDeclaredError();
      return { version, schema };
    },
    statistics: (table: string, signal?: AbortSignal, branch?: string): Promise<Statistics> =>
      post(at(table, "stats"), { branch }, signal),
    indices: async (table: string, signal?: AbortSignal, branch?: string): Promise<readonly IndexEntry[]> =>
      (await post<{ indexes: IndexEntry[] }>(at(table, "index/list"), { branch }, signal)).indexes,
    indexStatistics: (table: string, index: string, signal?: AbortSignal): Promise<IndexStatistics> =>
      post(at(table, `index/${encodeURIComponent(index)}/stats`), {}, signal),
    versions: async (table: string, signal?: AbortSignal, branch?: string): Promise<readonly VersionEntry[]> =>
      (await post<{ versions: VersionEntry[] }>(at(table, "version/list"), { branch }, signal)).versions,
    /** Names of the branches but main. */
    branches: async (table: string, signal?: AbortSignal): Promise<readonly string[]> =>
      Object.keys((await post<{ branches: object }>(at(table, "branches/list"), {}, signal)).branches),
    tags: async (table: string, signal?: AbortSignal): Promise<Readonly<Record<string, TagEntry>>> =>
      (await post<{ tags: Record<string, TagEntry> }>(at(table, "tags/list"), {}, signal)).tags,
    createTag: (table: string, tag: string, version: number, branch?: string) =>
      post(at(table, "tags/create"), { tag, version, branch }),
    moveTag: (table: string, tag: string, version: number, branch?: string) =>
      post(at(table, "tags/update"), { tag, version, branch }),
    deleteTag: (table: string, tag: string) => post(at(table, "tags/delete"), { tag }),
    /** An Arrow IPC file. */
    rows: async (table: string, query: Query, signal?: AbortSignal): Promise<Uint8Array> =>
      new Uint8Array(await (await postRaw(at(table, "query"), query, signal)).arrayBuffer()),
    /** Bytes of a blob from the first number up to but without the second; undefined for null. */
    blobPart: async (
      table: string,
      column: string,
      rowId: string,
      { version, branch }: { readonly version: number; readonly branch?: string | undefined },
      [from, to]: readonly [number, number],
      signal?: AbortSignal,
    ): Promise<BlobPart | undefined> => {
      const query = new URLSearchParams({ version: String(version), ...(branch === undefined ? {} : { branch }) });
      const path = `${at(table, `blob/${encodeURIComponent(column)}/${rowId}/bytes`)}?${query}`;
      try {
        const response = await send(path, { headers: { range: `bytes=${from}-${to - 1}` } }, signal);
        if (response.status === 204) return undefined;
        const size = Number(response.headers.get("content-range")?.split("/")[1]);
        return { bytes: new Uint8Array(await response.arrayBuffer()), size };
      } catch (error) {
        // An empty one has no range.
        if (error instanceof ApiError && error.status === 416) return { bytes: new Uint8Array(), size: 0 };
        throw error;
      }
    },
    /** @param filter empty for all rows. */
    countRows: (
      table: string,
      filter: string,
      snapshot: { readonly version: number; readonly branch?: string | undefined },
      signal?: AbortSignal,
    ): Promise<number> =>
      post(at(table, "count_rows"), { ...snapshot, ...(filter === "" ? {} : { predicate: filter }) }, signal),
    /** @param minVersion the oldest version that the plan may be of. */
    plan: async (
      table: string,
      kind: PlanKind,
      query: Query,
      signal?: AbortSignal,
      minVersion?: number,
    ): Promise<Plan> => {
      const body = kind === "explain" ? { query } : query;
      const fresh = minVersion === undefined ? {} : { "x-lancedb-min-read-version": String(minVersion) };
      const response = await postRaw(at(table, `${kind}_plan`), body, signal, { accept: planMedia, ...fresh });
      const answer: unknown = await response.json();
      return typeof answer === "string" ? { plan: answer } : (answer as PlanDocument);
    },
    /** @param rows an Arrow IPC stream. */
    writeRows: async (
      table: string,
      operation: "create" | "insert",
      rows: Uint8Array<ArrayBuffer>,
      signal?: AbortSignal,
    ): Promise<{ readonly version: number }> => {
      const headers = { "content-type": "application/vnd.apache.arrow.stream" };
      return (await send(at(table, operation), { method: "POST", headers, body: rows }, signal)).json() as Promise<{
        version: number;
      }>;
    },
    jobs: async (signal?: AbortSignal): Promise<readonly Job[]> =>
      (await post<{ jobs: Job[] }>("v1/jobs/list", { limit: 200 }, signal)).jobs,
    /** A job with its events, and with the errors of its rows if a Function ran. */
    job: async (id: string, signal?: AbortSignal) => {
      const detail = await post<JobDetail & { spec: { id?: string[] } }>("v1/jobs/describe", { job_id: id }, signal);
      const table = detail.spec.id?.join("$") ?? "";
      const [stream, errors, { tableFromIPC }] = await Promise.all([
        postRaw("v1/jobs/query_events", { job_id: id, limit: 1000 }, signal),
        detail.job_type === "refresh_function"
          ? post<RowErrors>(at(table, "errors"), { job_id: id, limit: 100 }, signal).catch(() => noErrors)
          : noErrors,
        import("apache-arrow"),
      ]);
      const rows = tableFromIPC(new Uint8Array(await stream.arrayBuffer())).toArray();
      const events = rows.map(
        (row): JobEventRow => ({
          at: Number(row.emitted_at_millis),
          state: row.state,
          entity: row.claim_entity ?? "",
          rows: row.rows_processed === null ? undefined : Number(row.rows_processed),
          message: row.message ?? "",
        }),
      );
      return { detail, events: events.toSorted((left, right) => left.at - right.at), errors };
    },
    cancelJob: (id: string) => post("v1/jobs/cancel", { job_id: id }),
    maintenance: (signal?: AbortSignal): Promise<MaintenanceList> => get("v1/maintenance?delimiter=%24", signal),
    /** What {@link change} sends. */
    changeText: ({ table, operation, body }: ChangeRequest): { readonly path: string; readonly body: string } => ({
      path: new URL(at(table, operation), root).href.slice(new URL(root).origin.length),
      body: JSON.stringify(body),
    }),
    change: async ({ table, operation, body }: ChangeRequest): Promise<Committed> => {
      const response = await postRaw(at(table, operation), body);
      const version = response.headers.get("x-lancedb-version");
      const answer: unknown = await response.json().catch(() => undefined);
      return { version: version === null ? undefined : Number(version), answer };
    },
  };
};

export type Api = ReturnType<typeof createApi>;
