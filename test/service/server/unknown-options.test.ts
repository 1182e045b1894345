import { describe, expect, test } from "vitest";
import { operations } from "../../../service/operations/index.ts";
import { addressOf, type Operation } from "../../../service/operations/operation.ts";
import { useService } from "../../support/service.ts";
import { asRows, plainStream, writesOn } from "../writes/support.ts";

const service = useService({ environment: { ...writesOn, LAKEHEAD_FUNCTIONS: "on" } });

/** The operation's address on something that exists. */
const pathOf = (operation: Operation): string =>
  addressOf(operation)
    .replace("{id}", operation.target === "namespace" ? "prod" : "plain")
    .replace("{index_name}", "text_idx");

const takesJson = operations.filter(({ input, methods }) => input !== "arrow" && methods.includes("POST"));

describe("an option that the operation does not have is refused by its name", () => {
  test.each(takesJson.map((operation) => [operation.name, operation] as const))(
    "in the body of %s",
    async (_, operation) => {
      const body = { ...operation.example, approx_mode: "fast" };
      const answer = await service.ask(pathOf(operation), body);
      expect([answer.status, answer.body.code, answer.body.error]).toEqual([
        400,
        13,
        "approx_mode is not a field that this service supports: remove it, or see /openapi.json",
      ]);
    },
  );

  test.each(operations.map((operation) => [operation.name, operation] as const))(
    "in the query string of %s",
    async (_, operation) => {
      const options = operation.input === "arrow" ? asRows(plainStream([1])) : {};
      const body = operation.input === "arrow" ? undefined : operation.example;
      const method = operation.methods.includes("POST") ? "POST" : "GET";
      const answer = await service.ask(`${pathOf(operation)}?approx_mode=fast`, body, { ...options, method });
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.stringContaining("approx_mode is not a field that this service supports"),
      ]);
    },
  );

  const match = { terms: "row", column: "text" };
  test.each<[where: string, operation: string, body: unknown, field: string]>([
    ["query", "explain_plan", { query: { k: 1, approx_mode: "fast" } }, "query.approx_mode"],
    ["query", "analyze_plan", { query: { k: 1 }, filter: "id < 3" }, "filter"],
    ["ordering", "query", { k: 1, order_by: [{ column_name: "id", collation: "de" }] }, "order_by[0].collation"],
    [
      "match clause",
      "query",
      { k: 1, full_text_query: { query: { match: { ...match, analyzer: "x" } } } },
      "full_text_query.query.match.analyzer",
    ],
    [
      "boolean clause",
      "query",
      { k: 1, full_text_query: { query: { boolean: { must: [{ match }], minimum_should_match: 2 } } } },
      "full_text_query.query.boolean.minimum_should_match",
    ],
    [
      "new column",
      "add_columns",
      { new_columns: [{ name: "n", expression: "id", virtual_column: { image: "x" } }] },
      "new_columns[0].virtual_column",
    ],
    [
      "alteration",
      "alter_columns",
      { alterations: [{ path: "id", rename: "n", virtual_column: { image: "x" } }] },
      "alterations[0].virtual_column",
    ],
  ])("in the %s of %s", async (_, operation, body, field) => {
    const { status, body: answer } = await service.call(operation, "plain", body);
    expect([status, answer.error]).toEqual([400, expect.stringContaining(`${field} `)]);
  });
});
