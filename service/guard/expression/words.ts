/** Words that are not operands, with what they begin. A column of that name is written in backquotes. */
export const reservedWords: ReadonlyMap<string, string> = new Map([
  ...["select", "with", "exists", "from", "where", "union", "values", "table"].map(
    (word) => [word, "a sub-query"] as const,
  ),
  ...["case", "when", "then", "else", "end"].map((word) => [word, "CASE, which the engine does not support,"] as const),
  ["interval", "INTERVAL, which the engine does not support,"],
  ["over", "a window function"],
  ...["and", "or", "not", "in", "is", "like", "ilike", "between", "escape", "as"].map(
    (word) => [word, `the keyword ${word.toUpperCase()}`] as const,
  ),
  ...["any", "all", "some", "similar", "rlike", "regexp", "collate", "distinct", "unknown"].map(
    (word) => [word, `${word.toUpperCase()}, which the engine does not support,`] as const,
  ),
]);

/** Words that are constants. */
export const constantWords: ReadonlySet<string> = new Set(["true", "false", "null"]);

/** Words that call a function without parentheses. */
export const bareCalls: ReadonlySet<string> = new Set([
  "current_date",
  "current_time",
  "current_timestamp",
  "localtime",
  "localtimestamp",
]);

export const castWords: ReadonlySet<string> = new Set(["cast", "try_cast", "safe_cast"]);

/** Types that may precede a string: `DATE '2020-01-01'`. */
export const typedLiterals: ReadonlySet<string> = new Set(["date", "timestamp", "datetime"]);

export const comparisons: ReadonlySet<string> = new Set(["=", "==", "<>", "!=", "<", "<=", ">", ">="]);
