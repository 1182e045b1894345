import { deepest, type Part, weights } from "./cost.ts";
import type { Cursor } from "./cursor.ts";
import { allowedFunctions, alternatives, type FunctionRule, type LiteralRule } from "./functions.ts";
import { PatternRefusal, patternSize } from "./pattern.ts";
import type { Refuse, Token } from "./tokens.ts";
import { reservedWords } from "./words.ts";

const anyCall: FunctionRule = { arguments: [0, 32] };

interface Arguments {
  /** What is known of each argument. */
  readonly parts: readonly Part[];
  /** The value of each that is a literal by rule. */
  readonly literals: ReadonlyMap<number, Token>;
}

/** @throws for a function that is not allowed. */
export const ruleOf = ({ limits, refuse }: Cursor, { value, at }: Token): FunctionRule => {
  const alternative = alternatives.get(value);
  if (reservedWords.has(value) && alternative === undefined)
    refuse(`${reservedWords.get(value)} is not allowed`, at, "write a plain expression");
  if (!limits.functions.has(value))
    refuse(
      `the function ${value.slice(0, 40)} is not allowed`,
      at,
      alternative ?? "docs/query-safety.md lists the allowed functions",
    );
  return allowedFunctions.get(value) ?? anyCall;
};

/** Reads the arguments of a call up to its closing parenthesis. */
export const readCall = (cursor: Cursor, name: Token, rule: FunctionRule, readArgument: () => Part): Part => {
  const { parts, literals } = cursor.grown(rule.growth ?? 1, () => readArguments(cursor, name, rule, readArgument));
  const [minimum, maximum] = rule.arguments;
  if (parts.length < minimum || parts.length > maximum)
    cursor.refuse(
      `${name.value} with ${parts.length} arguments`,
      name.at,
      minimum === maximum ? `it takes ${minimum}` : `it takes ${minimum} to ${maximum}`,
    );
  if (rule.pattern !== undefined) checkPattern(cursor, name, rule, { parts, literals });
  const source = sourceOfCall(rule, parts);
  if (source === "constant" && rule.constants === "refused")
    cursor.refuse(`${name.value} of constants`, name.at, "pass a column, or write the result");
  const repeated = rule.repeats === undefined ? 0 : rule.repeats === "first" ? 1 : parts.length - 1;
  const perCall = (rule.cost ?? 1) * (rule.variadic === "args" ? Math.max(1, parts.length - 1) : 1);
  const operators = parts.reduce(
    (sum, part, index) => sum + part.operators * (index < repeated ? weights.repetition : 1),
    perCall,
  );
  return cursor.nest({ operators, source, levels: deepest(parts) }, name);
};

const sourceOfCall = ({ takes }: FunctionRule, parts: readonly Part[]): Part["source"] => {
  if (parts.every(({ source }) => source === "constant")) return "constant";
  const deciding = takes === "first" ? parts.slice(0, 1) : takes === "any" ? parts : [];
  return deciding.some(({ source }) => source === "column") ? "column" : "unknown";
};

const readArguments = (cursor: Cursor, name: Token, rule: FunctionRule, readArgument: () => Part): Arguments => {
  const parts: Part[] = [];
  const literals = new Map<number, Token>();
  if (cursor.take("symbol", ")")) return { parts, literals };
  do {
    if (parts.length === 0 && rule.document) checkDocument(cursor, name);
    const literalRule = rule.literals?.find(({ index }) => index === parts.length);
    if (literalRule !== undefined) literals.set(parts.length, checkLiteral(cursor, name, literalRule));
    parts.push(readArgument());
    if (parts.length > 32) cursor.refuse(`${name.value} with more than 32 arguments`, name.at, "pass fewer");
  } while (cursor.take("symbol", ","));
  cursor.expect("symbol", ")");
  return { parts, literals };
};

const checkDocument = (cursor: Cursor, name: Token): void => {
  const { kind, value, at } = cursor.token();
  if (kind === "word" && value === "json_get" && cursor.is("symbol", "(", 1)) return;
  let end = 1;
  while (cursor.is("symbol", ".", end)) end += 2;
  if ((kind !== "word" && kind !== "quoted") || !cursor.is("symbol", ",", end))
    cursor.refuse(`argument 1 of ${name.value}`, at, "write a column, or json_get of one");
};

const checkLiteral = (cursor: Cursor, name: Token, { index, form, described }: LiteralRule): Token => {
  const token = cursor.token();
  const alone = cursor.is("symbol", ",", 1) || cursor.is("symbol", ")", 1);
  if (token.kind !== "string" || !alone || !form.test(token.value))
    cursor.refuse(`argument ${index + 1} of ${name.value}`, token.at, `write ${described}`);
  return token;
};

/** The planner computes a pattern on constant text, and compiles it up to ten times on the way. */
const checkPattern = (
  { limits: { maxPatternStates }, refuse }: Cursor,
  name: Token,
  { pattern: bounds, literals: rules }: FunctionRule,
  { parts: [text], literals }: Arguments,
): void => {
  if (text?.source !== "column")
    refuse(
      `${name.value} on text that may be constant`,
      name.at,
      "pass a column (its name in backquotes if it needs quotes), or a text function or cast of one",
    );
  const pattern = literals.get(1) ?? name;
  const flags = literals.get(rules?.at(-1)?.index ?? 0)?.value ?? "";
  const { states, groups } = sizeOf(refuse, pattern, flags);
  if (states > maxPatternStates)
    refuse(
      `a pattern that compiles to about ${states} states, at most ${maxPatternStates} are allowed`,
      pattern.at,
      "repeat less often, or write [a-z0-9] for \\w and other Unicode classes, which count 3500 each time",
    );
  if (bounds !== undefined && groups > bounds.maxGroups)
    refuse(`a pattern of more than ${bounds.maxGroups} groups`, pattern.at, "write the others as (?:…)");
};

const sizeOf = (refuse: Refuse, pattern: Token, flags: string): ReturnType<typeof patternSize> => {
  try {
    return patternSize(pattern.value, flags);
  } catch (error) {
    if (!(error instanceof PatternRefusal)) throw error;
    return refuse(`${error.message} at character ${error.at + 1} of the pattern`, pattern.at, error.wayOut);
  }
};
