/** A small seeded generator (mulberry32), so that a seed reproduces a failing expression. */
export const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

type Type = "boolean" | "number" | "text";
type Hole = Type | "list" | "pattern";

/** A form is a text with typed placeholders: a form of that type replaces `<number>`. */
const forms: Readonly<Record<Type, readonly string[]>> = {
  boolean: [
    "<boolean> AND <boolean>",
    "(<boolean> or <boolean>)",
    "(<boolean>) and not <boolean>",
    "NOT (<boolean>)",
    "(<number> = <number>)",
    "(<number>) < (<number>)",
    "((<number>) BETWEEN <number> AND <number>)",
    "((<number>) not between (<number>) and (<number>))",
    "((<number>) IN (<list>))",
    "((<number>) NOT IN (<number>, <number>, <number>))",
    "((<boolean>) IN (true, false))",
    "((<boolean>) = (<boolean>))",
    "((<boolean>) is not true)",
    "((<number>) IS NULL)",
    "((<text>) LIKE '<pattern>')",
    "((<text>) NOT ILIKE '<pattern>')",
    "((<text>) <> <text>)",
    "coalesce(<boolean>, <boolean>)",
    "nvl((<boolean>), b)",
    "nullif(<boolean>, <boolean>)",
    "nvl2(<number>, <boolean>, <boolean>)",
    "starts_with(<text>, <text>)",
    "contains(<text>, 'a')",
    "array_has(make_array(<number>, <number>), <number>)",
    "array_has_any(tags, make_array(<text>, <text>))",
    "is_valid(<number>)",
    "regexp_like(<text>, '<pattern>')",
    "(regexp_match(<text>, '<pattern>') is null)",
    "json_exists(json, '$.a')",
    "(<boolean>)::int::boolean",
  ],
  number: [
    "(<number> + <number>)",
    "<number> - (<number>)",
    "(<number> * 3)",
    "(<number> / 7)",
    "(<number> % 5)",
    "- (<number>)",
    "(<number>)::bigint",
    "(<number>)::double",
    "cast(<number> as int)",
    "try_cast(<text> as int)",
    "coalesce(<number>, <number>)",
    "ifnull(<number>, <number>)",
    "nullif(<number>, <number>)",
    "greatest(<number>, <number>, <number>)",
    "abs(<number>)",
    "round(<number>)",
    "power(<number>, 2)",
    "length(<text>)",
    "strpos(<text>, <text>)",
    "date_part('year', ts)",
    "array_length(make_array(<number>, <number>))",
    "array_element(nums, 1)",
    "json_get_int(json, 'a')",
    "(<boolean>)::int",
  ],
  text: [
    "lower(<text>)",
    "upper(<text>)",
    "reverse(<text>)",
    "btrim(<text>)",
    "(<text> || <text>)",
    "concat(<text>, <text>)",
    "concat_ws('-', <text>, <text>)",
    "split_part(<text>, ' ', 1)",
    "translate(<text>, 'abc', 'xyz')",
    "left(<text>, 5)",
    "coalesce(<text>, <text>)",
    "nullif(<text>, <text>)",
    "(<number>)::string",
    "json_extract(json, '$.b[0]')",
    "array_element(tags, 1)",
  ],
};

const leaves: Readonly<Record<Type, readonly string[]>> = {
  boolean: ["b", "true", "id = 1", "x > 0.5"],
  number: ["id", "x", "1", "0", "-1.5e3", "9223372036854775807", "meta.n", "_rowid"],
  text: ["s", "`Name With`", "'a'", "'it''s'", "''", "meta['lang']", "'%_\\'"],
};

const patterns = ["a%", "%a%_%b%", "[a-z]{1,50}", "(a|b)+$", "\\w{20}", "^ro.*?l"];

const types: ReadonlySet<string> = new Set(["boolean", "number", "text"]);

/** An expression of the type with about `size` forms, nested at most `depth` deep. */
export const randomExpression = (random: () => number, type: Type, size: number, depth: number): string => {
  let left = size;
  const pick = (choices: readonly string[]): string => choices[Math.floor(random() * choices.length)] ?? "";
  const fill = (hole: Hole, room: number): string => {
    if (hole === "list")
      return Array.from({ length: 1 + Math.floor(random() * 30) }, () => Math.floor(random() * 1e6)).join(", ");
    if (hole === "pattern") return pick(patterns);
    if (left <= 0 || room <= 0) return pick(leaves[hole]);
    left--;
    return pick(forms[hole]).replace(/<(\w+)>/g, (_, inner: string) =>
      fill((types.has(inner) || inner === "list" || inner === "pattern" ? inner : "number") as Hole, room - 1),
    );
  };
  return fill(type, depth);
};
