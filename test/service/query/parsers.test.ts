import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { ServiceError } from "../../../service/errors.ts";
import { buildClause } from "../../../service/lance/reads/full-text.ts";
import { flatQuery, nestedQuery } from "../../../service/operations/shared/plan-body.ts";
import { columns } from "../../../service/query/columns.ts";
import { fullText } from "../../../service/query/full-text.ts";
import type { Clause } from "../../../service/query/model.ts";
import { vectors } from "../../../service/query/vector.ts";
import type { Query } from "../../../service/query/wire.ts";
import { query, queryShape } from "../../../service/query/wire.ts";
import { parseInput } from "../../../service/server/parse-input.ts";

/** JSON as it comes off the wire: own keys of any name, `__proto__` and `constructor` among them. */
const json = fc.json({ maxDepth: 6 }).map((text): unknown => JSON.parse(text));

/** JSON close to a query, which reaches most of the parser. */
const nearQuery = fc
  .record(
    Object.fromEntries(
      Object.keys(queryShape).map((key) => [
        key,
        fc.oneof(
          json,
          fc.constantFrom<unknown>(null, 5, "id", true, [], {}, [1, 2], ["id"], { match: { terms: "a" } }),
        ),
      ]),
    ),
    { requiredKeys: [] },
  )
  .map((value): unknown => value);

const parsers: readonly (readonly [name: string, parser: z.ZodType])[] = [
  ["vectors", vectors],
  ["columns", columns],
  ["fullText", fullText],
  ["query", query],
  ["flatQuery", flatQuery],
  ["nestedQuery", nestedQuery],
];

describe("arbitrary JSON", () => {
  test.each(parsers)("%s reads it or refuses it with code 13", (_, parser) => {
    const inputs = fc.oneof(
      json,
      nearQuery,
      nearQuery.map((inner) => ({ query: inner })),
    );
    fc.assert(
      fc.property(inputs, (input) => {
        try {
          parseInput(parser, input);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
          const { code, message } = error as ServiceError;
          expect(code).toBe(13);
          expect(message).not.toMatch(/received|expected|nonoptional/);
        }
      }),
      { numRuns: 120 },
    );
  });
});

const finite = fc.float({ noNaN: true, noDefaultInfinity: true });
const vector = fc.array(finite, { minLength: 1, maxLength: 8 });
const name = fc.string({ minLength: 1, maxLength: 12 });
const count = fc.nat({ max: 2 ** 31 - 1 });

describe("nothing is lost", () => {
  test("of a vector: every number arrives as its 32-bit float, in every form", () => {
    fc.assert(
      fc.property(vector, (numbers) => {
        const read = (value: unknown) => parseInput(vectors, value);
        const expected = [Float32Array.from(numbers)];
        for (const form of [
          numbers,
          [numbers],
          { single_vector: numbers },
          { multi_vector: [numbers], single_vector: null },
        ])
          expect(read(form)).toEqual(expected);
        expect(read([numbers, numbers])).toEqual([...expected, ...expected]);
      }),
    );
  });

  test("of columns: every name and alias is kept", () => {
    const listed = fc.array(name, { minLength: 1, maxLength: 6 });
    const aliases = fc.dictionary(
      fc.oneof(name, fc.constantFrom("__proto__", "constructor", "toString")),
      fc.string(),
      {
        minKeys: 1,
      },
    );
    fc.assert(
      fc.property(listed, aliases, (names, dictionary) => {
        expect(parseInput(columns, names)).toEqual({ kind: "names", names });
        expect(parseInput(columns, { column_names: names })).toEqual({ kind: "names", names });
        const expressions = { kind: "expressions", expressions: Object.entries(dictionary) };
        expect(parseInput(columns, dictionary)).toEqual(expressions);
        expect(parseInput(columns, { column_aliases: dictionary })).toEqual(expressions);
      }),
    );
  });

  test("of the scalar fields: each arrives under its own name", () => {
    const fields = fc.record({
      k: count,
      offset: count,
      ef: count,
      minimum_nprobes: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      maximum_nprobes: count,
      refine_factor: count,
      version: fc.maxSafeNat(),
      lower_bound: finite,
      upper_bound: finite,
      filter: fc.string(),
      vector_column: name,
      branch: name.filter((branch) => branch !== "main"),
      distance_type: fc.constantFrom("l2", "cosine", "dot", "hamming"),
      bypass_vector_index: fc.boolean(),
      fast_search: fc.boolean(),
      with_row_id: fc.boolean(),
      prefilter: fc.boolean(),
      use_lsm: fc.boolean(),
    });
    fc.assert(
      fc.property(fields, vector, (wire, numbers) => {
        const read: Query = parseInput(query, { ...wire, vector: numbers });
        expect(read).toEqual({
          k: wire.k,
          offset: wire.offset,
          version: wire.version,
          branch: wire.branch,
          filter: wire.filter,
          prefilter: wire.prefilter,
          useLsm: wire.use_lsm,
          withRowId: wire.with_row_id,
          fastSearch: wire.fast_search,
          vector: {
            vectors: [Float32Array.from(numbers)],
            column: wire.vector_column,
            distanceType: wire.distance_type,
            bypassIndex: wire.bypass_vector_index,
            ef: wire.ef,
            minimumNprobes: wire.minimum_nprobes,
            maximumNprobes: wire.maximum_nprobes,
            refineFactor: wire.refine_factor,
            lowerBound: wire.lower_bound,
            upperBound: wire.upper_bound,
          },
        });
      }),
    );
  });

  test("of a full-text query: serialized again it equals the input", () => {
    fc.assert(
      fc.property(tree, (clause) => {
        for (const envelope of [{ query: toWire(clause) }, { structured_query: { query: toWire(clause) } }])
          expect(parseInput(fullText, envelope)).toEqual({ kind: "structured", clause });
      }),
    );
  });

  test("of a full-text query: every parsed clause can be built for the SDK", () => {
    fc.assert(
      fc.property(tree, (clause) => void buildClause(clause, ["text"])),
      { numRuns: 50 },
    );
  });
});

const weight = fc.integer({ min: 0, max: 64 }).map((value) => value / 8);
const operator = fc.constantFrom("AND" as const, "OR" as const);
const optionalColumn = fc.option(
  name.map((column) => ({ column })),
  { nil: {} },
);

const { tree } = fc.letrec<{ tree: Clause }>((tie) => {
  const clauses = fc.array(tie("tree"), { maxLength: 3 });
  const match = fc
    .record({
      kind: fc.constant("match" as const),
      terms: fc.string(),
      boost: weight,
      fuzziness: fc.nat({ max: 2 }),
      maxExpansions: count,
      operator,
      prefixLength: count,
    })
    .chain((clause) => optionalColumn.map((column) => ({ ...clause, ...column })));
  const phrase = fc
    .record({ kind: fc.constant("phrase" as const), terms: fc.string(), slop: count })
    .chain((clause) => optionalColumn.map((column) => ({ ...clause, ...column })));
  const multiMatch = fc.array(fc.tuple(name, weight), { minLength: 1, maxLength: 4 }).chain((pairs) =>
    fc.record({
      kind: fc.constant("multi_match" as const),
      terms: fc.string(),
      columns: fc.constant(pairs.map(([column]) => column)),
      boosts: fc.constant(pairs.map(([, boost]) => boost)),
      operator,
    }),
  );
  const boost = fc.record({
    kind: fc.constant("boost" as const),
    positive: tie("tree"),
    negative: tie("tree"),
    negativeBoost: weight,
  });
  const boolean = fc.record({
    kind: fc.constant("boolean" as const),
    must: clauses,
    should: clauses,
    mustNot: clauses,
  });
  return { tree: fc.oneof({ maxDepth: 4, withCrossShrink: true }, match, phrase, multiMatch, boost, boolean) };
});

function toWire(clause: Clause): Record<string, unknown> {
  switch (clause.kind) {
    case "match": {
      const { kind, maxExpansions, prefixLength, ...rest } = clause;
      return { [kind]: { ...rest, max_expansions: maxExpansions, prefix_length: prefixLength } };
    }
    case "phrase": {
      const { kind, ...rest } = clause;
      return { [kind]: rest };
    }
    case "multi_match":
      return {
        multi_match: { query: clause.terms, columns: clause.columns, boost: clause.boosts, operator: clause.operator },
      };
    case "boost":
      return {
        boost: {
          positive: toWire(clause.positive),
          negative: toWire(clause.negative),
          negative_boost: clause.negativeBoost,
        },
      };
    case "boolean":
      return {
        boolean: {
          must: clause.must.map(toWire),
          should: clause.should.map(toWire),
          must_not: clause.mustNot.map(toWire),
        },
      };
  }
}
