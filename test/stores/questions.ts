import { tableFromIPC } from "apache-arrow";
import { expect } from "vitest";
import type { Answer, CallOptions } from "../support/request.ts";
import { vectorOf } from "../support/tables.ts";
import { plainStatsToken } from "./place.ts";

/** A read-only request and its expected response, which does not depend on the store. */
export interface Question {
  readonly title: string;
  /** Below `/v1/`. */
  readonly path: string;
  readonly body: unknown;
  readonly asking?: CallOptions;
  /** For an Arrow file, its rows. */
  readonly right: { readonly status: number; readonly body: unknown };
}

const text = { string_query: { query: "puppy", columns: ["text"] } };
const ok = (body: unknown) => ({ status: 200, body });
const failure = (status: number, code: number) => ({ status, body: expect.objectContaining({ code }) });
const plan = (...parts: readonly string[]) => ok(expect.stringMatching(new RegExp(parts.join("[^]*"))));

/** A question about a table. */
const ask = (
  title: string,
  operation: string,
  table: string,
  body: unknown,
  right: Question["right"],
  asking?: CallOptions,
): Question => ({ title, path: `table/${table}/${operation}`, body, right, ...(asking && { asking }) });

/** A question about the catalog. */
const get = (title: string, path: string, right: Question["right"]): Question => ({
  title,
  path,
  body: undefined,
  right,
  asking: { method: "GET" },
});

const having = (fields: object) => ok(expect.objectContaining(fields));

/** Valid input: every kind of plan, every version, a branch, a nested namespace. */
const good: readonly Question[] = [
  ...Array.from({ length: 10 }, (_, index) => index + 1).map((version) =>
    ask(
      `the plan of version ${version}`,
      "explain_plan",
      "plain",
      { query: { k: 3, filter: "id >= 0", version } },
      plan(`num_fragments=${version},`),
    ),
  ),
  ask("the plan of the latest version", "explain_plan", "plain", { query: { k: 3 } }, plan("num_fragments=10,")),
  ask(
    "the plan of a vector search",
    "explain_plan",
    "docs",
    { query: { k: 3, vector: vectorOf(1), vector_column: "vector", filter: "id > 5" } },
    plan("ANNSubIndex: name=vector_idx"),
  ),
  ask(
    "the plan of a full-text search",
    "explain_plan",
    "docs",
    { query: { k: 3, full_text_query: text } },
    plan("Match"),
  ),
  ask(
    "the plan of a branch",
    "explain_plan",
    "docs",
    { query: { k: 3, branch: "experiment" } },
    plan("uri=docs.lance/"),
  ),
  ask(
    "the plan in a nested namespace",
    "explain_plan",
    "prod$vectors$docs",
    { query: { k: 3 }, verbose: true },
    plan("num_fragments=2,"),
  ),
  ask(
    "the analysis of a scan",
    "analyze_plan",
    "plain",
    { k: 7, filter: "id >= 50", version: 9 },
    plan("output_rows=7,", "num_fragments=9,"),
  ),
  ask(
    "the analysis of a vector search",
    "analyze_plan",
    "docs",
    { k: 3, vector: vectorOf(1), vector_column: "vector" },
    plan("output_rows=3,", "ANNSubIndex"),
  ),
  ask(
    "the analysis of a full-text search",
    "analyze_plan",
    "docs",
    { k: 4, full_text_query: text },
    plan("output_rows=4,"),
  ),
  ask(
    "the statistics of ten fragments",
    "stats",
    "plain",
    {},
    ok(expect.objectContaining({ num_rows: 100, fragment_stats: expect.objectContaining({ num_fragments: 10 }) })),
  ),
  ask(
    "the statistics of indices",
    "stats",
    "docs",
    {},
    ok(expect.objectContaining({ num_rows: 1020, num_indices: 5 })),
  ),
  ask(
    "the statistics of a branch",
    "stats",
    "docs",
    { branch: "experiment" },
    ok(expect.objectContaining({ num_rows: 900 })),
  ),
  ask(
    "the statistics in a nested namespace",
    "stats",
    "prod$vectors$docs",
    {},
    ok(expect.objectContaining({ num_rows: 20 })),
  ),
  ask("the description", "describe", "plain", {}, ok(expect.objectContaining({ version: 10 }))),
  ask("the description of a version", "describe", "plain", { version: 4 }, ok(expect.objectContaining({ version: 4 }))),
];

const numbered = (...versions: readonly number[]) => versions.map((version) => expect.objectContaining({ version }));

/** The other read-only operations. */
const neighbours: readonly Question[] = [
  ask("all rows", "count_rows", "plain", {}, ok(100)),
  ask("the rows of a version", "count_rows", "plain", { version: 3 }, ok(30)),
  ask("the rows of a branch", "count_rows", "docs", { branch: "experiment" }, ok(900)),
  ask("the rows of a condition", "count_rows", "plain", { predicate: "id >= 50" }, ok(50)),
  ask("rows", "query", "plain", { k: 9, filter: "id >= 95", columns: ["id"] }, ok({ rows: 5 })),
  ask("the nearest rows", "query", "docs", { k: 3, vector: vectorOf(1), vector_column: "vector" }, ok({ rows: 3 })),
  ask("a table that exists", "exists", "prod$vectors$docs", {}, ok(null)),
  ask("the versions", "version/list", "plain", {}, having({ versions: numbered(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) })),
  ask(
    "a version",
    "version/describe",
    "plain",
    { version: 4 },
    having({ version: expect.objectContaining({ version: 4 }) }),
  ),
  ask(
    "the indices",
    "index/list",
    "docs",
    {},
    having({ indexes: expect.toSatisfy((list: readonly unknown[]) => list.length === 5) }),
  ),
  ask("an index", "index/vector_idx/stats", "docs", {}, having({ num_indexed_rows: 1000, num_unindexed_rows: 20 })),
  ask("the branches", "branches/list", "docs", {}, having({ branches: { experiment: expect.anything() } })),
  ask("no tags", "tags/list", "prod$vectors$docs", {}, having({ tags: {} })),
  get("all tables", "table", having({ tables: expect.arrayContaining(["docs", "plain", "prod$vectors$docs"]) })),
  get(
    "the tables of a namespace",
    "namespace/prod$vectors/table/list",
    having({ tables: expect.arrayContaining(["docs"]) }),
  ),
  get("the namespaces", "namespace/$/list", having({ namespaces: ["prod"] })),
  {
    title: "a namespace",
    path: "namespace/prod$vectors/describe",
    body: {},
    right: having({ properties: expect.anything() }),
  },
  { title: "no namespace", path: "namespace/prod$nope/exists", body: {}, right: failure(404, 1) },
  ask("no table", "exists", "nope", {}, failure(404, 4)),
  ask("no version", "version/describe", "plain", { version: 999 }, failure(404, 11)),
  ask("no index", "index/nope/stats", "docs", {}, failure(404, 6)),
  ask("no tag to move", "tags/update", "plain", { tag: "nope", version: 1 }, failure(404, 8)),
];

/** Invalid input: each kind of refusal that depends on the store. */
const bad: readonly Question[] = [
  ask("a table that is not there", "stats", "nope", {}, failure(404, 4)),
  ask("a table that is not in its namespace", "stats", "prod$vectors$nope", {}, failure(404, 4)),
  ask("a namespace that is not there", "stats", "nope$docs", {}, failure(404, 1)),
  ask("a version that never was", "explain_plan", "plain", { query: { k: 3, version: 999 } }, failure(404, 11)),
  ask("a column that is not there", "explain_plan", "plain", { query: { k: 3, filter: "nope > 1" } }, failure(404, 12)),
  ask("a branch that is not there", "explain_plan", "docs", { query: { k: 3, branch: "nope" } }, failure(404, 22)),
  ask("a tag that is not there", "tags/version", "plain", { tag: "nope" }, failure(404, 8)),
  ask("deleting a tag that is not there", "tags/delete", "plain", { tag: "nope" }, failure(404, 8)),
  ask("a tag on a version that never was", "tags/create", "plain", { tag: "never", version: 999 }, failure(404, 11)),
  ask("a filter that is no SQL", "explain_plan", "plain", { query: { k: 3, filter: "id >" } }, failure(400, 13)),
  ask("a vector of the wrong length", "analyze_plan", "plain", { k: 3, vector: [1, 2] }, failure(400, 13)),
  ask("no token", "stats", "plain", {}, failure(401, 16), { token: null }),
  ask("a token for another table", "stats", "docs", {}, failure(403, 15), { token: plainStatsToken }),
  ask("a scope that was not granted", "describe", "docs", {}, failure(403, 15), { token: plainStatsToken }),
];

export const questions: readonly Question[] = [...good, ...neighbours, ...bad];

const contentOf = (body: unknown): unknown =>
  body instanceof Uint8Array ? { rows: tableFromIPC(body).numRows } : body;

/** What is wrong with a response; undefined if it is correct. */
export const fault = ({ title, right }: Question, { status, body }: Answer): string | undefined => {
  try {
    expect({ status, body: contentOf(body) }).toEqual(right);
    return undefined;
  } catch {
    return `${title}: ${status} ${JSON.stringify(body)?.slice(0, 500)}`;
  }
};
