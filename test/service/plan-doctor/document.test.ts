import { describe, expect, test } from "vitest";
import { nodesOf, renderPlan } from "../../../service/plan-doctor/parse.ts";
import { useService } from "../../support/service.ts";
import { staticToken } from "../../support/static-token.ts";
import { vectorOf } from "../../support/tables.ts";

const mediaType = "application/vnd.lakehead.plan+json";
const accept = { headers: { accept: mediaType } };
const search = { k: 5, vector: vectorOf(1), vector_column: "vector" };

const service = useService({
  tokens: [staticToken("planner", "plan-alone", ["plan"])],
});

/** `sendRequest` checks each response against the schema of its media type in the OpenAPI document. */
const explain = (options: object, query: object = search) => service.call("explain_plan", "docs", { query }, options);

test("explain_plan returns plan, tree, findings and facts, and the plan is the string of the other form", async () => {
  const [document, string] = await Promise.all([explain(accept), explain({})]);
  expect(document.headers.get("content-type")).toBe(mediaType);
  expect(document.body).toMatchObject({
    plan: string.body,
    tree: { measured: false, elapsed_ns: null },
    facts: { statistics: { rows: 1020, fragments: 2 }, missing: [] },
  });
  expect(document.body.facts.indices).toContainEqual(
    expect.objectContaining({ name: "vector_idx", type: "IVF_PQ", metric: "l2", unindexed_rows: 20, deltas: 1 }),
  );
  expect(renderPlan(document.body.tree)).toBe(string.body.replace(/\n$/, ""));
});

test("analyze_plan has times and rows of each node", async () => {
  const { body } = await service.call("analyze_plan", "docs", search, accept);
  const nodes = nodesOf(body.tree);
  expect(body.tree).toMatchObject({ measured: true, elapsed_ns: expect.any(Number) });
  expect(nodes.length).toBeGreaterThan(10);
  expect(nodes.filter(({ own_ns, share }) => own_ns === null || share === null)).toEqual([]);
  expect(nodes.find(({ name }) => name === "KNNVectorDistance")).toMatchObject({ rows_out: expect.any(Number) });
});

describe("every other request gets the string", () => {
  test.each([
    "*/*",
    "application/json",
    "application/*",
    "text/plain",
    "application/json, application/vnd.lakehead.plan+json;q=0.5",
    "application/vnd.lakehead.plan+json;q=0",
  ])("Accept: %s", async (value) => {
    const { body, headers } = await explain({ headers: { accept: value } });
    expect(headers.get("content-type")).toBe("application/json");
    expect(body).toEqual(expect.stringContaining("ANNSubIndex"));
  });
});

test("a caller with the scope plan alone gets no statistics", async () => {
  const { body } = await explain({ ...accept, token: "plan-alone" });
  expect(body.facts).toMatchObject({
    statistics: null,
    missing: [{ fact: "statistics", reason: "requires the scope stats" }],
  });
  expect(body.facts.indices).not.toBeNull();
});

test("an error has the common form", async () => {
  const { status, body } = await service.call(
    "explain_plan",
    "docs",
    { query: { k: 5, filter: "nothing = 1" } },
    accept,
  );
  expect({ status, code: body.code }).toEqual({ status: 404, code: 12 });
});

test("literals and aliases with the plan's own syntax stay in their node", async () => {
  const literal = "x, metrics=[output_rows=9]\n  LanceRead: uri=a, [(\"'";
  const query = {
    k: 5,
    filter: `text = '${literal.replaceAll("'", "''")}'`,
    columns: { "a, b=[": "id", "c\n  LanceScan: d": "score" },
  };
  const [explained, analyzed] = await Promise.all([
    explain(accept, query),
    service.call("analyze_plan", "docs", query, accept),
  ]);
  for (const { body } of [explained, analyzed]) {
    const names = nodesOf(body.tree).map(({ name }) => name);
    expect(names).not.toContain("LanceScan");
    expect(names.filter((name) => name === "LanceRead").length).toBeLessThanOrEqual(2);
    expect(renderPlan(body.tree)).toBe(body.plan.replace(/\n$/, ""));
    expect(body.plan).toContain(literal);
  }
});
