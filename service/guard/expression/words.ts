/** Words that are no operand, with what they begin; a column of that name is written in backquotes. */
export const reservedWords: ReadonlyMap<string, string> = new Map([
  ...["select", "with", "exists", "from", "where", "union", "values", "table"].map(
    (word) => [word, "a sub-query"] as const,
  ),
  ...["case", "when", "then", "else", "end"].map((word) => [word, "CASE, which the engine does not take,"] as const),
  ["interval", "an INTERVAL, which the engine does not take,"],
  ["over", "a window function"],
  ...["and", "or", "not", "in", "is", "like", "ilike", "between", "escape", "as"].map(
    (word) => [word, `the keyword ${word.toUpperCase()}`] as const,
  ),
  ...["any", "all", "some", "similar", "rlike", "regexp", "collate", "distinct", "unknown"].map(
    (word) => [word, `${word.toUpperCase()}, which the engine does not take,`] as const,
  ),
]);

/** Words that call a function without parentheses. */
export const bareCalls: ReadonlySet<string> = new Set([
  "current_date",
  "current_time",
  "current_timestamp",
  "localtime",
  "localtimestamp",
]);

export const castWords: ReadonlySet<string> = new Set(["cast", "try_cast", "safe_cast"]);

/** `DATE '2020-01-01'` and its kind. */
export const typedLiterals: ReadonlySet<string> = new Set(["date", "timestamp", "datetime"]);

/** Types of a cast, and the parameters that each takes. The engine panics on a decimal of more than 38 digits. */
export const castTypes: ReadonlyMap<string, "plain" | "unsigned" | "precision" | "decimal"> = new Map([
  ...["boolean", "float", "double", "string", "binary", "date"].map((name) => [name, "plain"] as const),
  ...["tinyint", "smallint", "int", "integer", "bigint"].map((name) => [name, "unsigned"] as const),
  ["timestamp", "precision"],
  ["datetime", "precision"],
  ["decimal", "decimal"],
]);

export const castTypesDescribed =
  "use boolean, tinyint, smallint, int, bigint (each also unsigned), float, double, string, binary, date, " +
  "timestamp(0|3|6|9) or decimal(precision up to 38, scale)";

export const comparisons: ReadonlySet<string> = new Set(["=", "==", "<>", "!=", "<", "<=", ">", ">="]);
