import { describe, expect, test } from "vitest";
import { compare, type Difference } from "../../contract/compare.ts";
import { deviations } from "../../contract/deviations.ts";
import { type Described, type OpenApi, operationsOf } from "../../contract/document.ts";
import { judge } from "../../contract/judge.ts";
import type { Schema } from "../../contract/shapes.ts";

/** A document of one operation, made of what differs. */
const document = (
  request: Schema,
  { path = "/v1/table/{id}/stats", method = "post", answer = { type: "integer" } as Schema, statuses = ["400"] } = {},
): readonly Described[] => {
  const json = (schema: Schema) => ({ content: { "application/json": { schema } } });
  const errors = Object.fromEntries(statuses.map((status) => [status, json({ type: "object" })]));
  const responses = { 200: json(answer), ...errors };
  const operation = { operationId: "any", requestBody: json(request), responses };
  return operationsOf({
    paths: { [path]: { [method]: operation } },
    components: { schemas: { Field: { properties: { of: { $ref: "#/components/schemas/Field" } } } } },
  } satisfies OpenApi);
};

const differences = (theirs: readonly Described[], ours: readonly Described[]): readonly string[] =>
  compare(theirs, ours)
    .flatMap((comparison) => comparison.differences)
    .map(({ part, kind, field, detail }) => [part, kind, field, detail].filter((text) => text !== undefined).join(" "));

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: "object",
  properties,
  required,
});
const text = { type: "string" } as const;
const nullable = { anyOf: [text, { type: "null" }] } as const;

describe("a difference is reported", () => {
  test.each<[what: string, theirs: Schema, ours: Schema, found: readonly string[]]>([
    ["none, where one side takes null as well", object({ a: text }), object({ a: nullable }), []],
    [
      "none, where one refers to itself",
      { $ref: "#/components/schemas/Field" },
      { $ref: "#/components/schemas/Field" },
      [],
    ],
    ["a field that we lack", object({ a: text, b: text }), object({ a: text }), ["request absent b"]],
    ["a field that they lack", object({}), object({ a: text }), ["request added a"]],
    ["a field that we must have", object({ a: text }), object({ a: text }, ["a"]), ["request required a"]],
    ["a field that they must have", object({ a: text }, ["a"]), object({ a: text }), ["request optional a"]],
    ["a type", object({ a: text }), object({ a: { type: "integer" } }), ["request type a string there, integer here"]],
    [
      "a field of a field of a list",
      object({ list: { type: "array", items: object({ a: text }) } }),
      object({ list: { type: "array", items: object({}) } }),
      ["request absent list[].a"],
    ],
    ["an outer field, and not what is within it", object({ a: object({ b: text }) }), object({}), ["request absent a"]],
    [
      "a value of a map",
      object({ a: { additionalProperties: text } }),
      object({ a: { type: "object" } }),
      ["request absent a.*"],
    ],
  ])("%s", (_, theirs, ours, found) => {
    expect(differences(document(theirs), document(ours))).toEqual(found);
  });

  test("in answers and statuses", () => {
    const theirs = document(object({}), { answer: object({ n: text }), statuses: ["400", "404", "5XX"] });
    const ours = document(object({}), { answer: object({}), statuses: ["400", "429", "503"] });
    expect(differences(theirs, ours)).toEqual(["answer absent n", "status absent 404", "status added 429"]);
  });

  test("in the operations themselves", () => {
    const other = document(object({}), { path: "/v1/table/{table}/stats", method: "get" });
    expect(differences(document(object({})), other)).toEqual(["operation absent POST", "operation added GET"]);
  });
});

describe("the list of deviations", () => {
  const found: Difference = { operation: "stats", part: "request", kind: "added", field: "branch" };
  const comparison = { operation: "stats", method: "POST", served: true, differences: [found] };
  const entry = { operations: ["stats"], part: "request", kind: "added", fields: ["branch"], reason: "why" } as const;

  test("covers what it names", () => {
    expect(judge([comparison], [entry])).toEqual({ unlisted: new Set(), stale: [], listed: 1 });
  });

  test("covers nothing else", () => {
    const others = [
      { ...entry, fields: ["tag"] },
      { ...entry, operations: ["query"] },
      { ...entry, kind: "absent" as const },
    ];
    const { unlisted, stale } = judge([comparison], others);
    expect([...unlisted]).toEqual([found]);
    expect(stale).toHaveLength(3);
  });

  test("may not have an entry that does not apply to one of its operations", () => {
    const { stale } = judge([comparison], [{ ...entry, operations: ["stats", "query"] }]);
    expect(stale).toEqual(["query: request added: branch"]);
  });

  test("gives a reason for each entry", () => {
    expect(deviations.filter(({ reason }) => reason.trim() === "")).toEqual([]);
  });
});
