import type { z } from "zod";
import type { Principal, Scope } from "../auth/index.ts";
import type { Loan, Vending } from "../catalog/vending.ts";
import type { ErrorCode } from "../errors.ts";
import type { Functions, RowError, RowErrorQuery } from "../functions/index.ts";
import type { Guard } from "../guard/guard.ts";
import type { NamespaceId, TableId } from "../guard/table-id.ts";
import type { Jobs } from "../jobs/index.ts";
import type { Database } from "../lance/database.ts";
import type { MultipartUploads } from "../lance/uploads/multipart.ts";
import type { Commit, CommitOfRows } from "../lance/writes/write-calls.ts";
import type { MinimumState } from "../query/model.ts";
import type { Maintenance } from "./shared/maintenance.ts";

/** What a handler may use. */
export interface Tools {
  readonly database: Database;
  readonly guard: Guard;
  /** Seconds after which an operation that calls the store repeatedly gives up. */
  readonly deadlineSeconds: number;
  /** Bytes of a blob that are read at once. */
  readonly blobWindowBytes: number;
  readonly uploads: Pick<MultipartUploads, "create" | "room" | "add" | "complete" | "abort">;
  readonly maintenance: Maintenance;
  readonly jobs: Pick<Jobs, "start" | "describe" | "list" | "ask" | "canPause" | "resume" | "events" | "appendEvents">;
  /** Absent: Functions are off. */
  readonly functions: Pick<Functions, "list" | "find" | "define" | "keepSource" | "drop"> | undefined;
  /** Why rows of a table have no value of a Function. */
  readonly rowErrors: (table: string, query: RowErrorQuery) => Promise<readonly RowError[]>;
  /** Whether responses tell where tables lie. */
  readonly showsLocations: boolean;
  /** Absent: no credentials are lent. */
  readonly vending?: Vending | undefined;
}

/** Calls of one class share an admission limit: the class says what a call costs. */
export const admissionClasses = ["analyze", "plan", "metadata", "write", "append"] as const;
export type AdmissionClass = (typeof admissionClasses)[number];

/** What an operation acts on; `root` is the root namespace, whose address has no id. */
export interface Targets {
  readonly table: TableId;
  readonly namespace: NamespaceId;
  readonly root: NamespaceId;
  readonly function: NamespaceId;
  /** A materialized view, which is a table. */
  readonly view: TableId;
}

/** Path prefix of the operations on each kind of target, in the router's notation. */
export const prefixes: Readonly<Record<keyof Targets, string>> = {
  table: "/v1/table/:id/",
  namespace: "/v1/namespace/:id/",
  root: "/v1/",
  function: "/v1/function/:id/",
  view: "/v1/materialized_view/:id/",
};

/** Error codes of the pipeline: input, authorization, authentication, admission, internal failure, throttling. */
const pipelineErrors = [13, 15, 16, 17, 18, 21] as const;

/** Error codes of looking up each kind of target. */
const targetErrors: Readonly<Record<keyof Targets, readonly ErrorCode[]>> = {
  table: [1, 4],
  namespace: [1],
  root: [],
  function: [],
  view: [1, 4],
};

/**
 * Some responses differ between client families. LanceDB's own client, recognized by the trailing slash of its
 * addresses, reads other shapes than those of the catalog's specification.
 */
export type Dialect = "lancedb" | "catalog";

/** Content of a successful response: JSON, an Arrow IPC file, none; as a {@link ByteStream} an Arrow IPC stream, or bytes. */
export type Media = "json" | "arrow" | "empty" | "arrowStream" | "bytes";

/** What a request carries besides its target and its body. */
export interface Call<Parameters = unknown> {
  readonly parameters: Parameters;
  readonly dialect: Dialect;
  /** Joins the parts of an id. */
  readonly delimiter: string;
  readonly principal: Principal;
  /** Whether the request asks for the operation's {@link Operation.alternative}. */
  readonly alternative: boolean;
  /** The time that LanceDB's client gives to the call, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** The oldest state that the client accepts. */
  readonly minimumState?: MinimumState | undefined;
  /** The header `Range`; absent beside `If-Range`, because no response has a validator. */
  readonly range?: string | undefined;
}

/** Another form of a successful response, sent to a request whose `Accept` names its media type. */
export interface Alternative {
  readonly mediaType: string;
  readonly answer: z.ZodType;
  readonly example: unknown;
}

/** Free memory beside what a stream has of its own, until another request needs it. */
export interface SpareBytes {
  /** @returns whether there was as much. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** Bytes that are read while they are sent. */
export class ByteStream {
  readonly bytes: number;
  /** Bytes that are in memory at once, without spare ones. */
  readonly heldBytes: number;
  /** Begins to read when the first bytes are taken. */
  readonly read: (spare: SpareBytes) => AsyncGenerator<Uint8Array, void>;
  /** Takes back the memory of a part once the system has it. */
  readonly recycle: (bytes: Uint8Array) => void;

  constructor(
    bytes: number,
    heldBytes: number,
    read: ByteStream["read"],
    recycle: ByteStream["recycle"] = () => undefined,
  ) {
    this.bytes = bytes;
    this.heldBytes = heldBytes;
    this.read = read;
    this.recycle = recycle;
  }
}

/** Statuses of responses that are no failures. */
export type Success = 200 | 202 | 204 | 206;

/** Whether a response has content. */
export const hasContent = (status: Success, { input }: Pick<Operation, "input">): boolean =>
  // Of rows, 202 says that they are kept, and that there is nothing to answer yet.
  status !== 204 && (status !== 202 || input !== "arrow");

/** What the log keeps of a response. */
export interface Audit {
  readonly commit?: Commit | CommitOfRows | undefined;
  /** Credentials that the response lends. */
  readonly loan?: Loan | undefined;
  /** A Function that was registered or dropped. */
  readonly function?: AuditedFunction | undefined;
}

export interface AuditedFunction {
  readonly id: string;
  /** Of its source. */
  readonly digest: string;
}

/** A response with headers of its own. Any other value that a handler returns is the response's content. */
export class OperationResponse {
  readonly content: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly audit: Audit;
  readonly status: Success;
  /** Of a write that has changed nothing yet. */
  readonly pending: boolean;

  constructor(
    content: unknown,
    headers: Readonly<Record<string, string>>,
    { status = 200, pending = false, ...audit }: Audit & { readonly status?: Success; readonly pending?: boolean } = {},
  ) {
    this.content = content;
    this.headers = headers;
    this.audit = audit;
    this.status = status;
    this.pending = pending;
  }
}

/** One operation of the API. Routing, authorization, admission, metrics and OpenAPI derive from this record. */
export interface Operation<
  Body extends z.ZodType = z.ZodType,
  Target extends keyof Targets = keyof Targets,
  Parameters extends z.ZodObject = z.ZodObject,
> {
  readonly name: string;
  readonly target: Target;
  /** Path after the target's prefix; `:name` is a parameter. */
  readonly path: string;
  /** Default: POST. */
  readonly methods: readonly ("GET" | "POST")[];
  /** An operation that the catalog's specification lacks: LanceDB's clients call it, or it is this service's own. */
  readonly extension?: "lancedb" | "service";
  /** The scope that it needs; null for a principal with any scope. */
  readonly scope: Scope | null;
  /** A function where the cost of a call depends on the request, or on what the service remembers. */
  readonly admission:
    | AdmissionClass
    | ((
        body: z.output<Body>,
        parameters: z.output<Parameters>,
        database: Database,
        target: Targets[Target],
      ) => AdmissionClass);
  /** The time of a call depends on its rows, and not on the table's. */
  readonly endsSoon?: true;
  /** Error codes of looking up the target; default: those of its kind. */
  readonly missing?: readonly ErrorCode[];
  /** Error codes of the handler, besides those of the pipeline and of the target; see {@link errorsOf}. */
  readonly errors: readonly ErrorCode[];
  readonly summary: string;
  readonly body: Body;
  /** Default: JSON. With `arrow`, the body is an Arrow IPC stream, which the handler gets as RowData. */
  readonly input?: "json" | "arrow";
  /** The body may be an Arrow IPC stream without rows instead of JSON, by its content-type: its bytes are the body. */
  readonly takesSchema?: true;
  /** The body as OpenAPI shows it, where the schema accepts more forms than a caller should write. */
  readonly documentedBody?: z.ZodType;
  /** The body may hold the query, with `id`, `identity` and `context` of its own, under the key `query`. */
  readonly nestsQuery?: true;
  /** A small valid body; default `{}`. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Parameters of the path and the query string, read from text. */
  readonly parameters?: Parameters;
  /** Parameters that may be repeated; each is read as a list. */
  readonly repeatable?: readonly string[];
  /** Default: JSON. */
  readonly media?: Media;
  /** Statuses of its responses that are no failures; default: 200. */
  readonly successes?: readonly Success[];
  /** Schema of a JSON response, for OpenAPI and the tests that validate every response. */
  readonly answer: z.ZodType;
  readonly alternative?: Alternative;
  /**
   * How large a response may become in the main process before its size is known; default: small, or shared by all requests.
   */
  readonly produces?: "rows" | "plan";
  /** The bytes that the rows of a request may have, where that depends on earlier ones; undefined: those of every write. */
  room?(tools: Tools, parameters: z.output<Parameters>): Promise<number | undefined>;
  /** Constant response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  handle(
    tools: Tools,
    target: Targets[Target],
    body: z.output<Body>,
    call: Call<z.output<Parameters>>,
  ): Promise<unknown>;
}

/** All Lance error codes that an operation can answer. */
export const errorsOf = ({ target, missing = targetErrors[target], errors }: Operation): readonly ErrorCode[] => [
  ...new Set([...pipelineErrors, ...missing, ...errors]),
];

/** Whether an operation changes tables or namespaces. */
export const isWrite = ({ scope }: Operation): boolean => scope === "write" || scope === "manage";

/** An operation's address with its parameters in braces, as OpenAPI writes it: `/v1/table/{id}/stats`. */
export const addressOf = ({ target, path }: Operation): string =>
  `${prefixes[target]}${path}`.replace(/:(\w+)/g, "{$1}");

/** Infers the types of a handler's target, body and parameters from their declarations. */
export const defineOperation = <
  Body extends z.ZodType,
  Target extends keyof Targets,
  Parameters extends z.ZodObject = z.ZodObject,
>(
  operation: Omit<Operation<Body, Target, Parameters>, "methods"> & Partial<Pick<Operation, "methods">>,
): Operation => ({ methods: ["POST"], ...operation }) as unknown as Operation;
