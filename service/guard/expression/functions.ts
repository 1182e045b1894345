/** How one function may be called. */
export interface FunctionRule {
  readonly arguments: readonly [least: number, most: number];
  /** Operators that the planner sees for one call, beside those of its arguments; per argument after the first if variadic. */
  readonly cost?: number;
  readonly variadic?: "args" | "items";
  /** Arguments that the planner writes out again, and whose types it then asks for again. */
  readonly repeats?: "first" | "all-but-last";
  /** How many times as long as its arguments a result can be, where that is more than once. */
  readonly growth?: number;
  /** Whether the first argument is a document: a column as it is, or a part of one. */
  readonly document?: true;
  /** The argument (from 0) that must be a string literal of the given form, and how the form is described to the caller. */
  readonly literal?: { readonly index: number; readonly form: RegExp; readonly described: string };
}

const call = (least: number, most = least, rest: Omit<FunctionRule, "arguments"> = {}): FunctionRule => ({
  arguments: [least, most],
  ...rest,
});

/** Up to 30 µs a row and 10 MB a pattern (the engine's own bound), so three of them are the most. */
const pattern = {
  cost: 32,
  literal: { index: 1, form: /^[\s\S]{0,1000}$/, described: "a literal pattern of at most 1000 characters" },
} as const;

/** Gives a copy of what it matched for each group, and a list of those becomes one text where text is wanted. */
const match = {
  ...pattern,
  growth: 4,
  literal: {
    index: 1,
    form: /^(?!(?:[\s\S]*?\((?!\?:)){5})[\s\S]{0,1000}$/,
    described: "a literal pattern of at most 1000 characters and 4 groups, others as (?:…)",
  },
} as const;

/** It is written once for each argument, so a separator that is a call of the same kind would multiply. */
const separator = {
  literal: { index: 0, form: /^[\s\S]{0,100}$/, described: "a literal of at most 100 characters" },
} as const;

/**
 * Paths of nested filters would recurse in the engine's path parser; names, indexes and wildcards do not. Each `**` takes
 * all that is beneath all that the one before took. A document that the caller wrote is never checked by the engine, which
 * panics at a forged one.
 */
const jsonPath = {
  document: true,
  literal: {
    index: 1,
    form: /^(?!.*\*\*)[\p{L}\p{N}_$.[\]*"' -]{1,256}$/u,
    described: "a literal path of names and indexes such as '$.a[0].b', at most 256 characters",
  },
} as const;

/**
 * Sizes in a type name (FixedSizeList) and nested type names are the caller's numbers, so the types are listed. Not
 * LargeBinary, the type of JSON documents.
 */
const arrowType = {
  literal: {
    index: 1,
    form: /^(Boolean|U?Int(8|16|32|64)|Float(16|32|64)|(Large)?Utf8|Binary|Date(32|64)|Timestamp\((s|ms|µs|us|ns|Second|Millisecond|Microsecond|Nanosecond)(, ?(None|(Some\()?"[A-Za-z0-9_/+:-]{1,40}"\)?))?\)|Decimal128\([1-9]\d?, ?\d{1,2}\))$/,
    described: "the literal name of a plain type such as 'Int32', 'Utf8' or 'Timestamp(Millisecond, None)'",
  },
} as const;

/** A list of binary values is written in hexadecimal where text is wanted. */
export const listGrowth = 2;

const rules: readonly (readonly [rule: FunctionRule, names: string])[] = [
  // Numbers
  [call(1), "abs acos acosh asin asinh atan atanh cbrt cos cosh cot degrees exp factorial isnan iszero ln log10 log2"],
  [call(1), "radians signum sin sinh sqrt tan tanh"],
  [call(1, 2), "log round trunc"],
  [call(2), "atan2 gcd lcm nanvl pow power"],
  [call(0), "pi"],
  [call(1, 32, { variadic: "args" }), "greatest least"],
  // Absent values
  [call(1, 32, { variadic: "args", repeats: "all-but-last" }), "coalesce"],
  [call(2, 2, { repeats: "first" }), "ifnull nvl"],
  [call(3, 3, { repeats: "all-but-last" }), "nvl2"],
  [call(2), "nullif"],
  [call(1), "is_valid"],
  // Text: what can lengthen its input says by how much. Changes of case can too, but not again what has been changed.
  [call(1), "ascii bit_length char_length character_length chr initcap length lower octet_length reverse to_hex upper"],
  [call(1, 2), "btrim ltrim rtrim"],
  [call(2), "contains ends_with find_in_set instr left right starts_with strpos"],
  [call(3), "split_part substr_index substring_index translate"],
  [call(1, 32, { variadic: "args", cost: 4 }), "concat"],
  [call(2, 32, { variadic: "args", cost: 4, ...separator }), "concat_ws"],
  [call(1), "md5 sha224 sha256 sha384 sha512"],
  [call(2, 2, { growth: 2 }), "encode"],
  [call(2), "decode contains_tokens"],
  [call(2, 3, pattern), "regexp_like"],
  [call(2, 3, match), "regexp_match"],
  [call(2, 4, pattern), "regexp_count"],
  // Dates and times
  [call(0), "now today current_date current_time current_timestamp"],
  [call(2), "date_part date_trunc datepart datetrunc"],
  [call(1, 3), "to_date to_timestamp to_timestamp_micros to_timestamp_millis to_timestamp_nanos to_timestamp_seconds"],
  [call(1, 3), "to_unixtime"],
  [call(1, 2), "from_unixtime"],
  [call(3), "make_date"],
  // Lists and structs
  [call(2), "array_has array_has_all array_has_any array_contains arrays_overlap"],
  [call(2), "list_has list_has_all list_has_any list_contains"],
  [
    call(1),
    "array_length list_length cardinality empty array_empty list_empty array_max list_max array_min array_ndims",
  ],
  [call(2), "array_element array_extract list_element list_extract array_position list_position array_indexof"],
  [call(2), "list_indexof"],
  [call(0, Number.POSITIVE_INFINITY, { variadic: "items", growth: listGrowth }), "make_array make_list"],
  [call(2), "array_distance list_distance cosine_distance inner_product"],
  [call(2), "get_field"],
  // JSON columns
  [call(2, 2, jsonPath), "json_extract json_exists json_get json_get_string json_get_int json_get_float json_get_bool"],
  [call(2, 2, jsonPath), "json_array_length"],
  [call(3, 3, jsonPath), "json_array_contains"],
  // Types
  [call(2, 2, arrowType), "arrow_cast arrow_try_cast"],
  [call(1), "arrow_typeof"],
];

/**
 * Every function that an expression may call, each tried against the engine by a test. Absent on purpose: functions
 * whose result is as large as an argument says (repeat, lpad, rpad, range, generate_series, array_repeat,
 * array_resize), that multiply their input by what an argument says (replace, regexp_replace, overlay, array_to_string,
 * to_char),
 * whose time is quadratic (levenshtein), that differ from call to call (random, uuid), and lambdas.
 */
export const allowedFunctions: ReadonlyMap<string, FunctionRule> = new Map(
  rules.flatMap(([rule, names]) => names.split(" ").map((name) => [name, rule] as const)),
);

/** What a caller can write in place of a construct or function that is refused. */
export const waysOut: ReadonlyMap<string, string> = new Map([
  ["not", "write NOT before the parenthesis with the predicate"],
  ["substring", "use left, right or split_part"],
  ["substr", "use left, right or split_part"],
  ["trim", "use btrim, ltrim or rtrim"],
  ["position", "use strpos"],
  ["extract", "use date_part"],
  ["floor", "use trunc or round"],
  ["ceil", "use trunc or round"],
]);
