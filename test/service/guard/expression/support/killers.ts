export const nested = (levels: number, wrap: (inner: string) => string, seed: string): string =>
  Array.from({ length: levels }).reduce<string>(wrap, seed);

/** Expressions by what each of them does to the unguarded engine, measured on 0.39.0. */
export const killers: Readonly<Record<string, string>> = {
  "overflows the stack: additions": `id = ${"1+".repeat(1000)}1`,
  "overflows the stack: casts": `id${"::int".repeat(800)} = 1`,
  "overflows the stack: IS TRUE": `b${" IS TRUE".repeat(360)}`,
  "overflows the stack: a JSON literal": `jsonb '${"[".repeat(4000)}${"]".repeat(4000)}' is null`,
  "overflows the stack: a JSON cast": `'${"[".repeat(4000)}${"]".repeat(4000)}'::jsonb is null`,
  "overflows the stack: a JSON path": `json_extract(json, '$?${"(".repeat(3900)}@.a==1${")".repeat(3900)}') is null`,
  "takes gigabytes: repeat": "repeat('a',500000000)='a'",
  "takes gigabytes: range": "array_length(range(0,200000000))>1",
  "takes gigabytes: nested replace": `${nested(9, (inner) => `replace(${inner},'a','aaaaaaaaaa')`, "'a'")} = 'a'`,
  "takes gigabytes: nested regexp_replace": `${nested(9, (inner) => `regexp_replace(${inner},'a','aaaaaaaaaa','g')`, "'a'")} = 'a'`,
  "doubles with each level: coalesce": `${nested(16, (inner) => `coalesce(${inner},id)`, "id")} = 1`,
  "doubles with each level: nvl": `${nested(16, (inner) => `nvl(${inner},id)`, "id")} = 1`,
  "doubles with each level: ifnull": `${nested(16, (inner) => `ifnull(${inner},id)`, "id")} = 1`,
  "doubles with each level: nvl2": `${nested(31, (inner) => `nvl2(${inner},id,x)`, "id")} = 1`,
  "doubles with each level: BETWEEN": `${nested(16, (inner) => `((${inner}) between 1 and 2)::int`, "id")} = 1`,
  "doubles with each level: CASE": `coalesce(${nested(16, (inner) => `case when ${inner} then b else id=1 end`, "b")}, true)`,
  "exponential in the parser: NOT": `${"not not (".repeat(24)}b${")".repeat(24)}`,
  "exponential in the parser: CAST": `${"cast(1+".repeat(24)}id${" as int)".repeat(24)} = 1`,
  "exponential in the planner: arithmetic and calls in turn": `${nested(16, (inner) => `length((${inner}*0)::string)`, "id")} = 1`,
  "exponential in the planner: nvl2": `${nested(15, (inner) => `nullif(id, nvl2(id, ${inner}, 1))`, "id")} = 1`,
  "exponential in the planner: ifnull": `${nested(7, (inner) => `sqrt(ifnull(${inner}, 1))`, "id")} = 1`,
  "panics: a wide decimal": "x::decimal(76,10) = 1",
  "panics: a call without its argument": "is_valid()",
  "panics: a parameter": "s = $1",
  "panics: a question mark": "s = ?",
  "panics: a dollar-quoted string": "s = $$abc$$",
  "panics: a bit string": "s = b'01'",
  "panics: a national string": "s = n'abc'",
};
