import type { z } from "zod";
import type { Principal, Scope } from "../auth/index.ts";
import type { VerifiedExpression } from "../guard/expression/index.ts";
import type { NamespaceId, TableId } from "../guard/table-id.ts";
import type { VerifiedQuery } from "../guard/verify-query.ts";
import type { Database } from "../lance/database.ts";
import type { AtLeast, Query } from "../query/model.ts";

/** What a handler may touch. */
export interface Tools {
  readonly database: Database;
  /** The guard: the only way to a query that the database takes. */
  readonly verifyQuery: (query: Query, executes: boolean) => VerifiedQuery;
  /** The guard for a condition by itself. */
  readonly verifyPredicate: (predicate: string) => VerifiedExpression;
  readonly verifyTag: (tag: string) => string;
  readonly verifyNewTag: (tag: string) => string;
  readonly verifyBranch: (branch: string | undefined) => string | undefined;
  /** Seconds after which an operation that asks the store again and again gives up. */
  readonly deadlineSeconds: number;
}

/** Which bounded gate admits an operation: what it costs decides. */
export type GateName = "analyze" | "plan" | "metadata";

/** What an operation acts on; `root` is the root namespace, whose address has no id. */
export interface Targets {
  readonly table: TableId;
  readonly namespace: NamespaceId;
  readonly root: NamespaceId;
}

/** Where the operations on each kind of target are, in the router's notation. */
export const prefixes: Readonly<Record<keyof Targets, string>> = {
  table: "/v1/table/:id/",
  namespace: "/v1/namespace/:id/",
  root: "/v1/",
};

/**
 * Some answers differ between client families. LanceDB's own client, known by the slash that ends its addresses, reads
 * other shapes than those of the catalog's specification.
 */
export type Dialect = "lancedb" | "catalog";

/** What an answer is: JSON, an Arrow IPC file, or nothing but its status. */
export type Media = "json" | "arrow" | "empty";

/** What a request says beside its target and its body. */
export interface Call<Parameters = unknown> {
  readonly parameters: Parameters;
  readonly dialect: Dialect;
  /** What joins the parts of an id. */
  readonly delimiter: string;
  readonly principal: Principal;
  /** What the client has seen already. */
  readonly atLeast?: AtLeast | undefined;
}

/** An answer with response headers of its own; anything else that a handler returns is the answer itself. */
export class Answer {
  readonly content: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(content: unknown, headers: Readonly<Record<string, string>>) {
    this.content = content;
    this.headers = headers;
  }
}

/** One operation of the API. The router, the gate, authorization, metrics and OpenAPI are all made from this record. */
export interface Operation<
  Body extends z.ZodType = z.ZodType,
  Target extends keyof Targets = keyof Targets,
  Parameters extends z.ZodObject = z.ZodObject,
> {
  readonly name: string;
  readonly target: Target;
  /** Path after the target's prefix; `:name` is a parameter. */
  readonly path: string;
  readonly methods: readonly ("GET" | "POST")[];
  /** The scope that it needs; null for any principal of this service. */
  readonly scope: Scope | null;
  /** Where the request decides what a call costs, it decides the gate. */
  readonly gate: GateName | ((body: z.output<Body>, parameters: z.output<Parameters>) => GateName);
  readonly summary: string;
  readonly body: Body;
  /** The body as OpenAPI shows it, where the schema that reads it takes more forms than a newcomer should write. */
  readonly documentedBody?: z.ZodType;
  /** A small body to try it with; default is `{}`. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Parameters of the path and the query string, read from text. */
  readonly parameters?: Parameters;
  /** Default is JSON. */
  readonly media?: Media;
  /** Schema of a JSON answer, for OpenAPI and for the tests that check every response against it. */
  readonly answer: z.ZodType;
  /** Response headers that never vary. */
  readonly headers?: Readonly<Record<string, string>>;
  handle(
    tools: Tools,
    target: Targets[Target],
    body: z.output<Body>,
    call: Call<z.output<Parameters>>,
  ): Promise<unknown>;
}

/** An operation's address as documents write it, with its parameters in braces: `/v1/table/{id}/stats`. */
export const addressOf = ({ target, path }: Operation): string =>
  `${prefixes[target]}${path}`.replace(/:(\w+)/g, "{$1}");

/** Lets the compiler relate a handler's target, body and parameters to what declares them. */
export const defineOperation = <
  Body extends z.ZodType,
  Target extends keyof Targets,
  Parameters extends z.ZodObject = z.ZodObject,
>(
  operation: Operation<Body, Target, Parameters>,
): Operation => operation as unknown as Operation;
