import { floatSchema } from "./fields.ts";
import { unset } from "./unknown-field.ts";

/**
 * JSON Schema of a full-text query for OpenAPI: it cannot be derived from `full-text.ts`, which parses by keys. Clauses
 * are recursive, so they are shared definitions of the document.
 */
type JsonSchema = Readonly<Record<string, unknown>>;

const text = { type: "string" } as const;
const count = { type: ["integer", "null"], minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const weight = { ...floatSchema, minimum: 0 } as const;
const optionalWeight = { ...weight, type: ["number", "null"] } as const;
const column = { type: "string", minLength: 1 } as const;
const optionalColumn = { ...column, type: ["string", "null"] } as const;
const operator = { type: ["string", "null"], enum: ["And", "Or", null] } as const;
const clause = { $ref: "#/components/schemas/FullTextClause" } as const;
const match = { $ref: "#/components/schemas/FullTextMatch" } as const;
const clauses = { type: ["array", "null"], items: clause } as const;

const object = (properties: JsonSchema, required: readonly string[] = []): JsonSchema => ({
  type: "object",
  properties,
  additionalProperties: unset,
  ...(required.length > 0 ? { required } : {}),
});

/** The kinds of clauses by their key. */
const kinds: Readonly<Record<string, JsonSchema>> = {
  match,
  phrase: object({ terms: text, column: optionalColumn, slop: count }, ["terms"]),
  boost: object({ positive: clause, negative: clause, negative_boost: optionalWeight }, ["positive", "negative"]),
  multi_match: {
    anyOf: [
      object({ match_queries: { type: "array", items: match, minItems: 1 } }, ["match_queries"]),
      object(
        {
          query: text,
          columns: { type: "array", items: column, minItems: 1 },
          boost: { type: ["array", "null"], items: weight, description: "One number for each of columns" },
          operator,
        },
        ["query", "columns"],
      ),
    ],
  },
  boolean: object({ must: clauses, should: clauses, must_not: clauses }),
};

export const fullTextDefinitions: Readonly<Record<string, JsonSchema>> = {
  FullTextMatch: object(
    {
      terms: text,
      column: { ...optionalColumn, description: "Absent: the one column with a full-text index" },
      boost: optionalWeight,
      fuzziness: { type: ["integer", "null"], minimum: 0, maximum: 3, description: "Edit distance, default 0" },
      max_expansions: count,
      operator,
      prefix_length: count,
    },
    ["terms"],
  ),
  FullTextClause: {
    description: `Exactly one key of ${Object.keys(kinds).join(", ")}`,
    anyOf: Object.entries(kinds).map(([kind, schema]) => ({
      ...object({ [kind]: schema }, [kind]),
      additionalProperties: false,
    })),
  },
};

const string = object({ query: text, columns: { type: ["array", "null"], items: column } }, ["query"]);
const structured = object({ query: clause }, ["query"]);

export const fullTextSchema = {
  anyOf: [
    object({ string_query: string }, ["string_query"]),
    object({ structured_query: structured }, ["structured_query"]),
    structured,
    string,
    { type: "object", maxProperties: 0, description: "None" },
  ],
} as const;
