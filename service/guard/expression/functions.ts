/** An argument that must be a string literal. */
export interface LiteralRule {
  /** From 0. */
  readonly index: number;
  readonly form: RegExp;
  /** The form in words, for the error message and the documentation. */
  readonly described: string;
}

/** How one function may be called. */
export interface FunctionRule {
  readonly arguments: readonly [minimum: number, maximum: number];
  /** Operators that the planner sees for one call, beside those of its arguments; per argument after the first if variadic. */
  readonly cost?: number;
  readonly variadic?: "args" | "items";
  /** Arguments that the planner writes out again, and whose types it then asks for again. */
  readonly repeats?: "first" | "all-but-last";
  /** How many times as long as its arguments a result can be, where that is more than once. */
  readonly growth?: number;
  /** Whether the first argument is a document: a column as it is, or a part of one. */
  readonly document?: true;
  readonly literals?: readonly LiteralRule[];
  /** Argument 2 is a regular expression for argument 1, with at most so many capturing groups. The last literal is its flags. */
  readonly pattern?: { readonly maxGroups: number };
  /** Whose value the result takes: it differs from row to row if that argument (or any of them) does. */
  readonly takes?: "first" | "any";
  /** Refused where every argument is constant: the planner computes the call, and its time is more than linear. */
  readonly constants?: "refused";
}

const call = (minimum: number, maximum = minimum, rest: Omit<FunctionRule, "arguments"> = {}): FunctionRule => ({
  arguments: [minimum, maximum],
  ...rest,
});

const first = { takes: "first" } as const;
const search = { constants: "refused" } as const;

const patternLiteral: LiteralRule = {
  index: 1,
  form: /^[\s\S]{0,1000}$/,
  described: "a literal pattern of at most 1000 characters",
};

/** The engine writes flags in front of the pattern as they are, so that other characters there would be a pattern. */
const flags = (index: number): LiteralRule => ({
  index,
  form: /^[imsU]{0,4}$/,
  described: "literal flags of i, m, s and U",
});

/** A row takes up to 30 µs and a compiled pattern megabytes, so an expression holds at most three. */
const pattern = (flagsIndex: number, rest: Omit<FunctionRule, "arguments"> = {}) =>
  ({ cost: 32, literals: [patternLiteral, flags(flagsIndex)], pattern: { maxGroups: 1000 }, ...rest }) as const;

/** The separator is written once for each argument, so a separator that is a call of the same kind would multiply. */
const separator = {
  literals: [{ index: 0, form: /^[\s\S]{0,100}$/, described: "a literal of at most 100 characters" }],
} as const;

/**
 * Paths of nested filters would recurse in the engine's path parser; names, indexes and wildcards do not. Each `**` takes
 * all that is beneath all that the one before took. A document that the caller wrote is never checked by the engine, which
 * panics at a forged one.
 */
const jsonPath = {
  document: true,
  takes: "first",
  literals: [
    {
      index: 1,
      form: /^(?!.*\*\*)[\p{L}\p{N}_$.[\]*"' -]{1,256}$/u,
      described: "a literal path of names and indexes such as '$.a[0].b', at most 256 characters",
    },
  ],
} as const;

/**
 * Sizes in a type name (FixedSizeList) and nested type names are the caller's numbers, so the types are listed. Not
 * LargeBinary, the type of JSON documents.
 */
const arrowType = {
  takes: "first",
  literals: [
    {
      index: 1,
      form: /^(Boolean|U?Int(8|16|32|64)|Float(16|32|64)|(Large)?Utf8|Binary|Date(32|64)|Timestamp\((s|ms|µs|us|ns|Second|Millisecond|Microsecond|Nanosecond)(, ?(None|(Some\()?"[A-Za-z0-9_/+:-]{1,40}"\)?))?\)|Decimal128\([1-9]\d?, ?\d{1,2}\)|FixedSizeBinary\(([1-9]|[1-5]\d|6[0-4])\))$/,
      described:
        "the literal name of a plain type such as 'Int32', 'Utf8', 'Timestamp(Millisecond, None)' or, up to 64 bytes, 'FixedSizeBinary(16)'",
    },
  ],
} as const;

/** A list of binary values is written in hexadecimal where text is wanted. */
export const listGrowth = 2;

type Row = readonly [rule: FunctionRule, names: string, form: string];

/** By title, in the order of the documentation. A form names the arguments, with optional ones in brackets. */
const table: Readonly<Record<string, readonly Row[]>> = {
  Numbers: [
    [
      call(1),
      "abs acos acosh asin asinh atan atanh cbrt cos cosh cot degrees exp factorial isnan iszero ln log10 log2 radians signum sin sinh sqrt tan tanh",
      "number",
    ],
    [call(1, 2), "log", "[base, ]number"],
    [call(1, 2), "round trunc", "number[, decimal places]"],
    [call(2), "atan2", "y, x"],
    [call(2), "gcd lcm", "integer, integer"],
    [call(2), "nanvl", "number, number if the first is NaN"],
    [call(2), "pow power", "base, exponent"],
    [call(0), "pi", ""],
    [call(1, 32, { variadic: "args" }), "greatest least", "value, …"],
  ],
  "Missing values": [
    [call(1, 32, { variadic: "args", repeats: "all-but-last", ...first }), "coalesce", "value, …"],
    [call(2, 2, { repeats: "first", ...first }), "ifnull nvl", "value, value if the first is NULL"],
    [call(3, 3, { repeats: "all-but-last" }), "nvl2", "value, result if not NULL, result if NULL"],
    [call(2), "nullif", "value, value that becomes NULL"],
    [call(1), "is_valid", "value"],
  ],
  // A function that can lengthen its input has a growth. Changes of case can too, but not again what has been changed.
  Text: [
    [call(1), "ascii bit_length char_length character_length length octet_length", "text"],
    [call(1, 1, first), "initcap lower reverse upper", "text"],
    [call(1), "chr", "code point"],
    [call(1), "to_hex", "integer"],
    [call(1, 2, first), "btrim ltrim rtrim", "text[, characters to remove]"],
    [call(2), "contains ends_with instr starts_with strpos", "text, text to find"],
    [call(2), "find_in_set", "text, comma-separated texts"],
    [call(2, 2, first), "left right", "text, number of characters"],
    [call(3, 3, first), "split_part", "text, separator, number of the part"],
    [call(3, 3, first), "substr_index substring_index", "text, separator, number of separators"],
    [call(3, 3, first), "translate", "text, characters, replacements"],
    [call(1, 32, { variadic: "args", cost: 4, takes: "any" }), "concat", "text, …"],
    [
      call(2, 32, { variadic: "args", cost: 4, takes: "any", ...separator }),
      "concat_ws",
      "literal separator of at most 100 characters, text, …",
    ],
    [call(1), "md5 sha224 sha256 sha384 sha512", "text or bytes"],
    [call(2, 2, { growth: 2, ...first }), "encode", "bytes, 'base64' or 'hex'"],
    [call(2), "decode", "text, 'base64' or 'hex'"],
    [call(2, 2, search), "contains_tokens", "text, words"],
    [call(2, 3, pattern(2)), "regexp_like", "text from a column, literal pattern[, literal flags]"],
    [
      // It returns a copy of what it matched for each group, and a list of those becomes one text where text is wanted.
      call(2, 3, pattern(2, { growth: 4, pattern: { maxGroups: 4 } })),
      "regexp_match",
      "text from a column, literal pattern of at most 4 groups[, literal flags]",
    ],
    [call(2, 4, pattern(3)), "regexp_count", "text from a column, literal pattern[, start[, literal flags]]"],
  ],
  "Dates and times": [
    [call(0), "now today current_date current_time current_timestamp", ""],
    [call(2), "date_part datepart", "part such as 'year', date or timestamp"],
    [call(2), "date_trunc datetrunc", "unit such as 'day', date or timestamp"],
    [
      call(1, 3),
      "to_date to_timestamp to_timestamp_micros to_timestamp_millis to_timestamp_nanos to_timestamp_seconds to_unixtime",
      "text or number[, format[, format]]",
    ],
    [call(1, 2), "from_unixtime", "seconds[, time zone]"],
    [call(3), "make_date", "year, month, day"],
  ],
  "Lists and structs": [
    [call(2, 2, search), "array_has array_contains list_has list_contains", "list, item"],
    [call(2, 2, search), "array_has_all array_has_any arrays_overlap list_has_all list_has_any", "list, list"],
    [
      call(1, 1, search),
      "array_length list_length cardinality empty array_empty list_empty array_max list_max array_min array_ndims",
      "list",
    ],
    [
      call(2, 2, { takes: "first", ...search }),
      "array_element array_extract list_element list_extract",
      "list, index from 1",
    ],
    [call(2, 2, search), "array_position list_position array_indexof list_indexof", "list, item"],
    [call(0, Number.POSITIVE_INFINITY, { variadic: "items", growth: listGrowth }), "make_array make_list", "item, …"],
    [call(2, 2, search), "array_distance list_distance cosine_distance inner_product", "vector, vector"],
    [call(2, 2, first), "get_field", "struct, name of a field"],
  ],
  "JSON columns": [
    [
      call(2, 2, jsonPath),
      "json_extract json_exists json_get json_get_string json_get_int json_get_float json_get_bool json_array_length",
      "column, literal path",
    ],
    [call(3, 3, jsonPath), "json_array_contains", "column, literal path, value"],
  ],
  Types: [
    [call(2, 2, arrowType), "arrow_cast arrow_try_cast", "value, literal name of a plain Arrow type"],
    [call(1), "arrow_typeof", "value"],
  ],
};

/** Functions of one rule, for the documentation. */
export interface FunctionGroup {
  readonly title: string;
  readonly names: readonly string[];
  /** The arguments in words, with optional ones in brackets: `number[, decimal places]`. */
  readonly form: string;
  readonly rule: FunctionRule;
}

/** All allowed functions, in the order of the documentation. */
export const functionGroups: readonly FunctionGroup[] = Object.entries(table).flatMap(([title, ofTitle]) =>
  ofTitle.map(([rule, names, form]) => ({ title, names: names.split(" "), form, rule })),
);

/**
 * Every function that an expression may call, each tried against the engine by a test. Absent on purpose: functions
 * whose result is as large as an argument says (repeat, lpad, rpad, range, generate_series, array_repeat,
 * array_resize), that multiply their input by what an argument says (replace, regexp_replace, overlay, array_to_string,
 * to_char), whose time is quadratic (levenshtein), that differ from call to call (random, uuid), and lambdas.
 */
export const allowedFunctions: ReadonlyMap<string, FunctionRule> = new Map(
  functionGroups.flatMap(({ rule, names }) => names.map((name) => [name, rule] as const)),
);

/** What a caller can write in place of a construct or function that is refused. */
export const alternatives: ReadonlyMap<string, string> = new Map([
  ["not", "write NOT before the parenthesis with the predicate"],
  ["substring", "use left, right or split_part"],
  ["substr", "use left, right or split_part"],
  ["trim", "use btrim, ltrim or rtrim"],
  ["position", "use strpos"],
  ["extract", "use date_part"],
  ["floor", "use trunc or round"],
  ["ceil", "use trunc or round"],
]);
