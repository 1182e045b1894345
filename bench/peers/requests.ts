import type { Task as Round } from "../measure.ts";
import { knownTag, tables, vectorOf } from "../workloads.ts";

/** A request in one server's form; `#` in its body becomes the request's number. */
export interface Form {
  readonly method?: "GET";
  readonly path: string;
  /** Bodies that are sent in turn. */
  readonly bodies?: readonly string[];
  /** The status that means success. */
  readonly status: number;
}

/** A round of one form. */
export type Task = Round & { readonly form: Form };

/** An operation of both servers, in each server's form. */
export interface Ask {
  readonly name: string;
  /** Its name in client.py, if it differs. */
  readonly client?: string;
  readonly service: Form;
  readonly peer: Form;
  /** Each needs a unique name, so a round has a fixed number of them. */
  readonly isNumbered?: true;
}

const { narrow, wide } = tables;
const onTable = (operation: string, table: string = narrow.name): string => `/v1/table/${table}/${operation}`;

const post = (path: string, body: unknown, status = 200): Form => ({ path, bodies: [JSON.stringify(body)], status });
const get = (path: string): Form => ({ method: "GET", path, status: 200 });
const both = (name: string, form: Form): Ask => ({ name, service: form, peer: form });

const variants = 16;

/** The peer accepts a vector only in the generated clients' form. */
const search = (
  operation: "explain_plan" | "analyze_plan" | "query",
  { name, dimensions }: typeof narrow | typeof wide,
) => {
  const bodies = Array.from({ length: variants }, (_, seed) => {
    const vector = { single_vector: [...vectorOf(seed + 0.5, dimensions)] };
    const query = { k: 10, vector, vector_column: "vector" };
    return JSON.stringify(operation === "explain_plan" ? { query } : query);
  });
  const form: Form = { path: onTable(operation, name), bodies, status: 200 };
  return { ...both(`${operation}, ${dimensions} dimensions`, form), client: operation };
};

/** Prefix of a server's tags, so that both servers can use one table. */
const tag = (side: string): string => `${side}-#`;

export const asks: readonly Ask[] = [
  search("explain_plan", narrow),
  search("explain_plan", wide),
  search("analyze_plan", narrow),
  search("analyze_plan", wide),
  search("query", narrow),
  { name: "stats", service: post(onTable("stats"), {}), peer: get(onTable("stats")) },
  both("tags/version", post(onTable("tags/version"), { tag: knownTag })),
  {
    name: "tags/create",
    service: post(onTable("tags/create"), { tag: tag("service"), version: 1 }),
    peer: post(onTable("tags/create"), { tag: tag("peer"), version: 1 }, 201),
    isNumbered: true,
  },
  // Runs after tags/create and deletes its tags: both count from the same number.
  {
    name: "tags/delete",
    service: post(onTable("tags/delete"), { tag: tag("service") }),
    peer: post(onTable("tags/delete"), { tag: tag("peer") }),
    isNumbered: true,
  },
  both("tags/list", get(onTable("tags/list"))),
  // Without it the peer returns the table's location and does not open the table.
  both("describe", post(onTable("describe?load_detailed_metadata=true"), {})),
  {
    name: "exists",
    service: post(onTable("exists"), {}),
    peer: post(onTable("exists"), {}, 204),
  },
  { name: "count_rows", service: post(onTable("count_rows"), {}), peer: get(onTable("count_rows")) },
  both("version/list", post(onTable("version/list"), {})),
  both("index/list", post(onTable("index/list"), {})),
  both("table list", get("/v1/namespace/%24/table/list")),
  both("namespace list", get("/v1/namespace/%24/list")),
];
