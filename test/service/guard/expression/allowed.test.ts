import { afterAll, describe, expect, test } from "vitest";
import { allowedFunctions } from "../../../../service/guard/expression/functions.ts";
import { defaultExpressionLimits, verifyExpression } from "../../../../service/guard/expression/index.ts";
import { Engine } from "./support/engine.ts";

const engine = new Engine();
afterAll(() => engine.close());

/** Filters and aliases that clients send: the guard and the engine must accept each. */
const constructs = [
  "id = 1",
  "id == 1",
  "id != 1 AND x <> 0.5",
  "id<=1 or\tid>=3\r\nor x > 1e3 and x < .5",
  "NOT b",
  "not not b",
  "(b)",
  "b IS TRUE and b is not false and b is not null",
  "s IS NULL",
  "id IN (1, 2)",
  "s not in ('a', 'b')",
  "id BETWEEN 1 AND 2",
  "id not between -1 and 1 + 1",
  "s LIKE 'row%'",
  "s not like '%a\\_b%'",
  "s ILIKE 'ROW%'",
  "s ilike 'a%' escape '\\'",
  "s = 'it''s; -- no comment'",
  "ID = 1",
  "`Name With` = 'n1'",
  "meta.lang = 'en'",
  "`meta`.`lang` = 'en'",
  "meta['lang'] = 'en'",
  "tags[1] = 'a'",
  "id + 1 - 2 * 3 / 4 % 5 = -id",
  "s || '-' || s = 'a'",
  "id::bigint::int = 1",
  "x::int unsigned > 1",
  "cast(x AS tinyint) = 1 or cast(x as smallint) = 1 or cast(x as integer) = 1 or x::float > 1 or id::double > 1",
  "try_cast(s as int) = 1",
  "safe_cast(s as double) = 1",
  "id::string = '1' and id::boolean",
  "s::binary = X'ff00'",
  "x::decimal(38, 10) = 1",
  "cast(d as timestamp(3)) = cast(d as datetime)",
  "d > DATE '2020-01-01'",
  "ts > timestamp '2020-01-01 00:00:00'",
  "ts > TIMESTAMP(3) '2020-01-01T00:00:00Z'",
  "ts = datetime '2020-01-01'",
  "current_date > d",
  "current_timestamp > ts",
  "array_has_any(tags, ['a', 'b'])",
  "array_has([1, -2], id)",
  "regexp_like(lower(s), 'a') and regexp_like(id::string, '[0-9]{1,3}') and regexp_like(meta.lang, 'en|de', 'i')",
  "regexp_like(coalesce(tags[1], ''), 'a') and regexp_like(s || '-' || id, 'a')",
  "lower(s) = lower('ROW') and s = concat('a', 'b') and id = abs(-1) and date_trunc('day', now()) > ts",
];

/**
 * The engine's projections know no row addresses, read double quotes as a string, and refuse a constant alone.
 */
const filtersOnly = ["_rowid IN (1, 2)", "_rowoffset IN (1, 2)", "_rowaddr > 1", `"Name With" = 'n1'`, "true"];

/** One call or more of every allowed function; a test below compares the two lists. */
const calls: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    "abs acos acosh asin asinh atan atanh cbrt cos cosh cot degrees exp ln log10 log2 radians signum sin sinh sqrt tan tanh log round trunc"
      .split(" ")
      .map((name) => [name, `${name}(x) > 0.5`]),
  ),
  isnan: "isnan(x)",
  iszero: "iszero(x)",
  factorial: "factorial(5) = id",
  atan2: "atan2(x, 2) > 1",
  gcd: "gcd(id, 6) = 2",
  lcm: "lcm(id, 6) = 6",
  nanvl: "nanvl(x, 0.5) = 1",
  pow: "pow(x, 2) > 4",
  power: "power(id, 2) > 4",
  pi: "x > pi()",
  greatest: "greatest(id, 1, 2) = 2",
  least: "least(id, 1) = 1",
  coalesce: "coalesce(s, 'none') = 'none'",
  ifnull: "ifnull(id, 0) = 0",
  nvl: "nvl(id, 0) = 0",
  nvl2: "nvl2(s, 1, 2) = 1",
  nullif: "nullif(s, '') is null",
  is_valid: "is_valid(s)",
  ascii: "ascii(s) = 97",
  bit_length: "bit_length(s) > 8",
  char_length: "char_length(s) > 8",
  character_length: "character_length(s) > 8",
  length: "length(s) > 8",
  octet_length: "octet_length(s) > 8",
  chr: "chr(id) = 'a'",
  initcap: "initcap(s) = 'Row'",
  lower: "lower(s) = 'row'",
  upper: "UPPER (s) = 'ROW'",
  reverse: "reverse(s) = 'wor'",
  to_hex: "to_hex(id) = 'ff'",
  btrim: "btrim(s) = 'a' or btrim(s, 'x') = 'a'",
  ltrim: "ltrim(s) = 'a'",
  rtrim: "rtrim(s, 'x') = 'a'",
  contains: "contains(s, 'row')",
  starts_with: "starts_with(s, 'row')",
  ends_with: "ends_with(s, 'row')",
  find_in_set: "find_in_set(s, 'a,b') = 1",
  instr: "instr(s, 'row') = 1",
  strpos: "strpos(s, 'row') = 1",
  left: "left(s, 3) = 'row'",
  right: "right(s, 3) = 'row'",
  split_part: "split_part(s, ' ', 1) = 'row'",
  substr_index: "substr_index(s, ' ', 1) = 'row'",
  substring_index: "substring_index(s, ' ', 1) = 'row'",
  translate: "translate(s, 'abc', 'xyz') = 'row'",
  concat: "concat(s, '-', id) = 'row'",
  concat_ws: "concat_ws('-', s, id) = 'row'",
  ...Object.fromEntries("md5 sha224 sha256 sha384 sha512".split(" ").map((name) => [name, `${name}(s) is not null`])),
  encode: "encode(s, 'hex') = '00'",
  decode: "decode(encode(s, 'hex'), 'hex') = X'00'",
  contains_tokens: "contains_tokens(s, 'row lorem')",
  regexp_like: "regexp_like(s, '^row [0-9]+', 'i')",
  regexp_match: "regexp_match(s, '(r)(?:o)(w)')",
  regexp_count: "regexp_count(s, 'o', 1) = 2",
  now: "ts < now()",
  today: "d < today()",
  current_date: "d < current_date()",
  current_time: "b and current_time() is not null",
  current_timestamp: "ts < current_timestamp()",
  date_part: "date_part('year', ts) = 2023",
  datepart: "datepart('month', d) = 1",
  date_trunc: "date_trunc('day', ts) = timestamp '2020-01-01 00:00:00'",
  datetrunc: "datetrunc('day', ts) = timestamp '2020-01-01 00:00:00'",
  to_date: "d = to_date('2020-01-01')",
  to_timestamp: "ts > to_timestamp('2020-01-01 00:00:00', '%Y-%m-%d %H:%M:%S')",
  to_timestamp_micros: "ts > to_timestamp_micros(1)",
  to_timestamp_millis: "ts > to_timestamp_millis(1)",
  to_timestamp_nanos: "ts > to_timestamp_nanos(1)",
  to_timestamp_seconds: "ts > to_timestamp_seconds(1)",
  to_unixtime: "to_unixtime(ts) > 1",
  from_unixtime: "from_unixtime(id) < ts",
  make_date: "d > make_date(2020, 1, 31)",
  array_has: "array_has(tags, 'a')",
  array_contains: "array_contains(tags, 'a')",
  array_has_all: "array_has_all(tags, ['a', 'b'])",
  array_has_any: "array_has_any(tags, make_array(s, 'b'))",
  arrays_overlap: "arrays_overlap(tags, ['a'])",
  list_has: "list_has(tags, 'a')",
  list_contains: "list_contains(tags, 'a')",
  list_has_all: "list_has_all(tags, ['a'])",
  list_has_any: "list_has_any(tags, ['a'])",
  ...Object.fromEntries(
    "array_length list_length cardinality array_max list_max array_min array_ndims"
      .split(" ")
      .map((name) => [name, `${name}(nums) > 1`]),
  ),
  empty: "empty(tags)",
  array_empty: "array_empty(tags)",
  list_empty: "list_empty(tags)",
  ...Object.fromEntries(
    "array_element array_extract list_element list_extract".split(" ").map((name) => [name, `${name}(tags, 1) = 'a'`]),
  ),
  ...Object.fromEntries(
    "array_position list_position array_indexof list_indexof"
      .split(" ")
      .map((name) => [name, `${name}(tags, 'a') = 1`]),
  ),
  make_array: "array_has(make_array(id, 1), 2)",
  make_list: "array_has(make_list(id, 1), 2)",
  ...Object.fromEntries(
    "array_distance list_distance cosine_distance inner_product"
      .split(" ")
      .map((name) => [name, `${name}(vector, [1.0, 2.0, 3.0, 4.0]) < 1`]),
  ),
  get_field: "get_field(meta, 'lang') = 'en'",
  json_extract: "json_extract(`json`, '$.b[0]') = '1' or json_extract(json_get(json, 'b'), '$[0]') = '1'",
  json_exists: "json_exists(json, '$.a')",
  json_get: "json_get(json, 'a') is not null",
  json_get_string: "json_get_string(json, 's') = 'x'",
  json_get_int: "json_get_int(json, 'a') = 1",
  json_get_float: "json_get_float(json, 'a') > 0.5",
  json_get_bool: "json_get_bool(json, 't')",
  json_array_length: "json_array_length(json, '$.b') = 2",
  json_array_contains: "json_array_contains(json, '$.b', '1')",
  arrow_cast: "arrow_cast(ts, 'Timestamp(Millisecond, Some(\"UTC\"))') is null or arrow_cast(x, 'Int32') = 1",
  arrow_try_cast: "arrow_try_cast(s, 'Int32') = 1",
  arrow_typeof: "arrow_typeof(s) = 'Utf8'",
};

const runBoth = async (expression: string) => {
  verifyExpression(expression, defaultExpressionLimits, "filter");
  return {
    filter: await engine.try({ expression, as: "filter" }),
    alias: await engine.try({ expression, as: "alias" }),
  };
};

const accepted = { filter: { kind: "accepted" }, alias: { kind: "accepted" } };

describe("the engine accepts what the guard allows", () => {
  test("with one example for each allowed function and no other", () => {
    expect(Object.keys(calls).sort()).toEqual([...allowedFunctions.keys()].sort());
    for (const [name, example] of Object.entries(calls)) expect(example.toLowerCase()).toContain(name);
  });

  test.each(Object.entries(calls))("%s: %s", async (_, expression) => {
    expect(await runBoth(expression)).toEqual(accepted);
  });

  test.each(constructs)("%s", async (expression) => {
    expect(await runBoth(expression)).toEqual(accepted);
  });

  test.each(filtersOnly)("%s in a filter", async (expression) => {
    expect((await runBoth(expression)).filter).toEqual(accepted.filter);
  });
});
