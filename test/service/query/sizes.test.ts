import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readConfig } from "../../../service/config/config.ts";
import { ServiceError } from "../../../service/errors.ts";
import { commonBody } from "../../../service/operations/shared/common-fields.ts";
import { flatQuery, nestedQuery } from "../../../service/operations/shared/plan-body.ts";
import { fullText } from "../../../service/query/full-text.ts";
import { listOf, maxSizes } from "../../../service/query/lists.ts";
import { parseInput } from "../../../service/server/parse-input.ts";

const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

const refusal = (schema: z.ZodType, body: unknown): ServiceError => {
  try {
    parseInput(schema, body);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("accepted");
};

const issuesOf = (schema: z.ZodType, body: unknown): number => schema.safeParse(body).error?.issues.length ?? 0;

const wrong = 30_000;
const clauses = (list: unknown) => ({ full_text_query: { structured_query: { query: { boolean: { must: list } } } } });
const multiMatch = (fields: object) => ({ full_text_query: { query: { multi_match: fields } } });

/** Every list of a body, with the key that its fault names. */
const lists: readonly (readonly [key: string, schema: z.ZodType, body: (list: unknown) => object])[] = [
  ["id", commonBody, (list) => ({ id: list })],
  ["order_by", flatQuery, (list) => ({ k: 5, order_by: list })],
  ["query.order_by", nestedQuery, (list) => ({ query: { k: 5, order_by: list } })],
  ["columns", flatQuery, (list) => ({ k: 5, columns: list })],
  ["columns", flatQuery, (list) => ({ k: 5, columns: { column_names: list } })],
  ["vector.multi_vector", flatQuery, (list) => ({ k: 5, vector: { multi_vector: list } })],
  [
    "full_text_query.string_query.columns",
    flatQuery,
    (list) => ({ k: 5, full_text_query: { string_query: { query: "a", columns: list } } }),
  ],
  ["full_text_query.query", flatQuery, (list) => ({ k: 5, ...multiMatch({ match_queries: list }) })],
  ["full_text_query.query", flatQuery, (list) => ({ k: 5, ...multiMatch({ query: "a", columns: list }) })],
  ["full_text_query.query", flatQuery, (list) => ({ k: 5, ...multiMatch({ query: "a", columns: [], boost: list }) })],
  ["full_text_query.structured_query.query", flatQuery, (list) => ({ k: 5, ...clauses(list) })],
];

describe.each(lists)("%s", (key, schema, body) => {
  test("that is too long is refused for its length alone, without faults of its elements", () => {
    const { code, message, detail } = refusal(schema, body(many(wrong, {})));
    expect(code).toBe(13);
    expect(message).toMatch(/ holds more than \d+ (elements: send fewer|keys and elements: send fewer clauses)$/);
    expect(message.startsWith(`${key} `)).toBe(true);
    expect(detail).toBeUndefined();
  });

  test("of invalid elements reports the first faults only", () => {
    const { code, message, detail = "" } = refusal(schema, body(many(100, 1)));
    expect(code).toBe(13);
    expect(message.startsWith(key)).toBe(true);
    expect(detail.length).toBeLessThan(4000);
    expect(issuesOf(schema, body(many(100, 1)))).toBeLessThan(12);
  });
});

describe("nested faults", () => {
  test("of a full-text query do not multiply with its levels", () => {
    const nested = (levels: number): unknown =>
      levels === 0
        ? {}
        : { boolean: { must: many(3, nested(levels - 1)), should: [{}], must_not: many(3, nested(levels - 1)) } };
    expect(issuesOf(fullText, { query: nested(4) })).toBeLessThan(12);
  });

  test("of a body are bounded by its keys and a few for each list", () => {
    const body = { order_by: many(5000, {}), columns: many(5000, 1), ...clauses(many(900, {})) };
    expect(issuesOf(flatQuery, body)).toBeLessThan(12);
    expect(refusal(flatQuery, body).detail).toMatch(/; and more$/);
  });
});

describe("a list within its bound", () => {
  test("is parsed completely", () => {
    const names = many(maxSizes.columns, { column_name: "a" });
    expect(parseInput(flatQuery, { k: 5, order_by: names }).orderBy).toHaveLength(maxSizes.columns);
    const all = {
      boolean: { should: many(maxSizes.clauses, { match: { terms: "a", column: "b", boost: 1, fuzziness: 0 } }) },
    };
    expect(parseInput(fullText, { query: all })).toMatchObject({ clause: { should: { length: maxSizes.clauses } } });
  });

  test("is refused with one element more", () => {
    const schema = listOf(z.string(), 3);
    expect(schema.safeParse(["a", "b", "c"]).success).toBe(true);
    expect(refusal(schema, ["a", "b", "c", "d"]).message).toBe("the body holds more than 3 elements: send fewer");
  });

  test.each([
    ["LAKEHEAD_MAX_COLUMNS", maxSizes.columns],
    ["LAKEHEAD_MAX_FULL_TEXT_CLAUSES", maxSizes.clauses],
    ["LAKEHEAD_MAX_ID_PARTS", maxSizes.parts],
    ["LAKEHEAD_MAX_VECTORS", maxSizes.vectors],
    ["LAKEHEAD_MAX_DIMENSIONS", maxSizes.dimensions],
  ])("%s cannot be configured above the bound", (name, bound) => {
    const environment = { LAKEHEAD_DATABASE: "/tables", LAKEHEAD_AUTH_ISSUER: "https://issuer.test" };
    const configured = (value: number) =>
      readConfig({ ...environment, LAKEHEAD_AUTH_AUDIENCE: "a", [name]: String(value) });
    expect(() => configured(bound)).not.toThrow();
    expect(() => configured(bound + 1)).toThrow(name);
  });
});
