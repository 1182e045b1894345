import { arithmetic, column, combined, deepest, listOf, literal, type Part, plus, total, weights } from "./cost.ts";
import { Cursor, shown } from "./cursor.ts";
import { allowedFunctions, alternatives, type FunctionRule, type LiteralRule, listGrowth } from "./functions.ts";
import { PatternRefusal, patternSize } from "./pattern.ts";
import type { Token } from "./tokens.ts";
import * as words from "./words.ts";

const maxLikePattern = 1000;

const anyCall: FunctionRule = { arguments: [0, 32] };

/** How the operators of one level of precedence count. */
interface Level {
  readonly kind: Token["kind"];
  /** Whether a chain of them is a level of the operator depth. */
  readonly nests: boolean;
  readonly costs: ReadonlyMap<string, (left: Part, right: Part) => number>;
}

const one = (): number => 1;

const disjunction: Level = { kind: "word", nests: false, costs: new Map([["or", one]]) };
const conjunction: Level = { kind: "word", nests: false, costs: new Map([["and", one]]) };
const sum: Level = {
  kind: "symbol",
  nests: true,
  costs: new Map([
    ["+", arithmetic],
    ["-", arithmetic],
  ]),
};
const product: Level = {
  kind: "symbol",
  nests: true,
  costs: new Map([
    ["*", arithmetic],
    ["/", arithmetic],
    ["%", arithmetic],
    ["||", () => weights.concatenation],
  ]),
};

/**
 * Reads the subset of SQL that may reach the engine and returns, for every rule, the number of operators that the
 * planner will see. The levels of precedence are the engine's; where its associativity decides what is repeated
 * (a comparison of a comparison), parentheses are demanded instead. Recursion is bounded by `maxDepth`, chains are loops.
 */
export class Parser extends Cursor {
  /** @returns the operators of the whole, all tokens consumed. */
  whole(): number {
    const { operators } = this.#disjunction();
    if (this.token().kind !== "end") this.unexpected("an operator or the end");
    return operators;
  }

  #chain({ kind, costs, nests }: Level, operand: () => Part): Part {
    const start = this.token();
    let left = operand();
    for (let isChain = false; ; isChain = true) {
      const token = this.token();
      const cost = token.kind === kind ? costs.get(token.value) : undefined;
      if (cost === undefined) return isChain && nests ? this.nest(left, start) : left;
      this.next++;
      const right = this.deeper(operand);
      const operators = left.operators + right.operators + cost(left, right);
      const joined = combined(operators, [left, right]);
      // Text joined to text of a column comes from that column; a sum may vanish, as in `id * 0`.
      const fromColumn = token.value === "||" && [left, right].some(({ source }) => source === "column");
      left = fromColumn ? { ...joined, source: "column" } : joined;
    }
  }

  #disjunction(): Part {
    return this.#chain(disjunction, () => this.#conjunction());
  }

  #conjunction(): Part {
    return this.#chain(conjunction, () => this.#negation());
  }

  #negation(): Part {
    let negations = 0;
    while (this.take("word", "not")) negations++;
    const start = this.token();
    let operand = this.deeper(() => this.#predicate(), negations);
    if (this.is("word", "is")) operand = this.nest(operand, start);
    let operators = negations;
    while (this.take("word", "is")) {
      this.take("word", "not");
      if (!["null", "true", "false"].some((word) => this.take("word", word))) this.unexpected("NULL, TRUE or FALSE");
      operators++;
    }
    if (this.#startsComparison())
      this.refuse("a comparison of a comparison", this.token().at, "put the first one into parentheses");
    return operators === 0 ? operand : combined(operand.operators + operators, [operand]);
  }

  #startsComparison(): boolean {
    const token = this.token();
    if (token.kind === "symbol") return words.comparisons.has(token.value);
    return token.kind === "word" && ["not", "between", "in", "like", "ilike"].includes(token.value);
  }

  #predicate(): Part {
    const start = this.token();
    const left = this.#sum();
    if (!this.#startsComparison()) return left;
    return this.nest(this.#comparison(left, start), start);
  }

  /** What follows the left side of a comparison. */
  #comparison(left: Part, { at }: Token): Part {
    if (this.token().kind === "symbol") {
      this.next++;
      const right = this.deeper(() => this.#sum());
      return combined(total([left, right]) + 1, [left, right]);
    }
    this.take("word", "not");
    if (this.take("word", "between")) {
      const low = this.deeper(() => this.#sum());
      this.expect("word", "and");
      const high = this.deeper(() => this.#sum());
      return combined(total([left, left, low, high]) + 1, [left, low, high]);
    }
    if (this.take("word", "in")) {
      this.expect("symbol", "(");
      const values = listOf(
        this.deeper(() => this.#items(")")),
        weights.valuesPerIn,
      );
      return combined(total([left, values]), [left, values]);
    }
    const operator = this.token();
    if (!this.take("word", "like") && !this.take("word", "ilike")) this.unexpected("BETWEEN, IN, LIKE or ILIKE");
    if (left.source === "constant")
      this.refuse(`${operator.value.toUpperCase()} on a constant`, at, "compare a column, or write true or false");
    const wildcards = this.#likePattern();
    if (this.take("word", "escape") && this.#literal() !== "\\")
      this.refuse("another escape character than \\", this.token(-1).at, "escape with a backslash");
    return combined(left.operators + wildcards, [left]);
  }

  /**
   * The engine compiles a pattern that is no literal for each row. Its time grows with the wildcards.
   * @returns the operators that the pattern counts.
   */
  #likePattern(): number {
    const { at } = this.token();
    const pattern = this.#literal();
    if (pattern === undefined || pattern.length > maxLikePattern || this.is("symbol", "||") || this.is("symbol", "::"))
      return this.refuse("the pattern of LIKE", at, `write a literal pattern of at most ${maxLikePattern} characters`);
    return Math.max(1, pattern.replace(/[^%_]/g, "").length);
  }

  #sum(): Part {
    return this.#chain(sum, () => this.#product());
  }

  #product(): Part {
    return this.#chain(product, () => this.#signed());
  }

  #signed(): Part {
    let signs = 0;
    while (this.take("symbol", "-")) signs++;
    const start = this.token();
    if (signs === 0) return this.#accessed();
    // The sign of a literal is part of it.
    const isNumber = signs === 1 && this.token().kind === "number";
    const operand = this.deeper(() => this.#accessed(), signs);
    return isNumber ? operand : this.nest(combined(operand.operators + signs, [operand]), start);
  }

  #accessed(): Part {
    const start = this.token();
    let part = this.#primary();
    let nests = false;
    for (; ; nests = true) {
      if (this.take("symbol", "::")) this.#type();
      else if (this.take("symbol", "[")) {
        const index = this.deeper(() => this.#disjunction());
        this.expect("symbol", "]");
        const constant = part.source === "constant" && index.source === "constant";
        const source = constant || part.source === "column" ? part.source : "unknown";
        part = { operators: total([part, index]), source, levels: deepest([part, index]) };
      } else if (this.take("symbol", ".")) {
        const { kind } = this.token();
        if (kind !== "word" && kind !== "quoted") this.unexpected("a field name");
        this.next++;
      } else return nests ? this.nest(part, start) : part;
      part = plus(part, 1);
    }
  }

  #primary(): Part {
    const token = this.token();
    if (token.kind === "symbol") {
      if (this.take("symbol", "[")) return this.#array("]", token);
      if (!this.take("symbol", "(")) return this.unexpected("a column, a literal or a call");
      const part = this.deeper(() => this.#disjunction());
      this.expect("symbol", ")");
      return part;
    }
    if (token.kind === "end") return this.unexpected("a column, a literal or a call");
    if (token.kind === "word") return this.#word(token);
    this.next++;
    if (token.kind !== "quoted") return literal;
    if (this.is("symbol", "("))
      this.refuse("a function's name in quotation marks", token.at, "write it without quotation marks");
    // In an alias, double quotes make a string.
    return token.quote === '"' ? { ...column, source: "unknown" } : column;
  }

  #word(token: Token): Part {
    const { value } = token;
    if (this.#startsTypedLiteral(value)) {
      this.#type();
      this.next++;
      return plus(literal, 1);
    }
    if (this.is("symbol", "(", 1)) return words.castWords.has(value) ? this.#cast() : this.#call(token);
    const reserved = words.reservedWords.get(value);
    if (reserved !== undefined)
      this.refuse(`${reserved} is not allowed`, token.at, "write a column of that name in backquotes");
    this.next++;
    if (words.constantWords.has(value)) return literal;
    if (!words.bareCalls.has(value)) return column;
    this.#rule(token);
    return plus(literal, 1);
  }

  /** `DATE '…'`, `TIMESTAMP '…'`, `TIMESTAMP(3) '…'` */
  #startsTypedLiteral(word: string): boolean {
    if (!words.typedLiterals.has(word)) return false;
    const precision = this.is("symbol", "(", 1) && this.token(2).kind === "number" && this.is("symbol", ")", 3);
    return this.token(precision ? 4 : 1).kind === "string";
  }

  #cast(): Part {
    const start = this.token();
    this.next += 2;
    return this.deeper(() => {
      const operand = this.#disjunction();
      this.expect("word", "as");
      this.#type();
      this.expect("symbol", ")");
      return this.nest(plus(operand, 1), start);
    });
  }

  #type(): void {
    const token = this.token();
    const parameters = token.kind === "word" ? words.castTypes.get(token.value) : undefined;
    if (parameters === undefined) this.refuse(`a cast to ${shown(token)}`, token.at, words.castTypesDescribed);
    this.next++;
    if (parameters === "unsigned") this.take("word", "unsigned");
    else if (parameters === "precision" && this.take("symbol", "(")) {
      this.#number(0, 9, 3);
      this.expect("symbol", ")");
    } else if (parameters === "decimal") {
      this.expect("symbol", "(");
      const precision = this.#number(1, 38);
      this.expect("symbol", ",");
      this.#number(0, precision);
      this.expect("symbol", ")");
    }
  }

  #number(minimum: number, maximum: number, step = 1): number {
    const { kind, value, at } = this.token();
    const number = kind === "number" && /^\d{1,2}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= minimum && number <= maximum && number % step === 0))
      this.refuse(`a type's parameter outside ${minimum} to ${maximum}`, at, words.castTypesDescribed);
    this.next++;
    return number;
  }

  /** The string at the position, if it is the whole operand. */
  #literal(): string | undefined {
    const { kind, value } = this.token();
    if (kind !== "string") return undefined;
    this.next++;
    return value;
  }

  /** Items up to the closing symbol. */
  #items(close: string): readonly Part[] {
    const { at } = this.token();
    const items: Part[] = [];
    do {
      if (items.length >= this.limits.maxListItems)
        this.refuse(`a list of more than ${this.limits.maxListItems} items`, at, "send fewer, or a range");
      items.push(this.#disjunction());
    } while (this.take("symbol", ","));
    this.expect("symbol", close);
    return items;
  }

  /** The items of an array up to the closing symbol. A value that differs from row to row is copied into each row's array. */
  #array(close: string, start: Token): Part {
    const items = this.grown(listGrowth, () => (this.take("symbol", close) ? [] : this.#items(close)));
    const copied = items.map((item) => (item.source === "constant" ? item : plus(item, 1)));
    return this.nest(listOf(copied, weights.itemsPerList), start);
  }

  #rule({ value, at }: Token): FunctionRule {
    const alternative = alternatives.get(value);
    if (words.reservedWords.has(value) && alternative === undefined)
      this.refuse(`${words.reservedWords.get(value)} is not allowed`, at, "write a plain expression");
    if (!this.limits.functions.has(value))
      this.refuse(
        `the function ${value.slice(0, 40)} is not allowed`,
        at,
        alternative ?? "docs/query-safety.md lists the allowed functions",
      );
    return allowedFunctions.get(value) ?? anyCall;
  }

  #call(name: Token): Part {
    const rule = this.#rule(name);
    this.next += 2;
    const { growth = 1 } = rule;
    if (rule.variadic === "items") return this.#array(")", name);
    const { parts, literals } = this.grown(growth, () => this.#arguments(name, rule));
    const [minimum, maximum] = rule.arguments;
    if (parts.length < minimum || parts.length > maximum)
      this.refuse(
        `${name.value} with ${parts.length} arguments`,
        name.at,
        minimum === maximum ? `it takes ${minimum}` : `it takes ${minimum} to ${maximum}`,
      );
    if (rule.pattern !== undefined) this.#checkPattern(name, rule, parts, literals);
    const source = this.#sourceOfCall(rule, parts);
    if (source === "constant" && rule.constants === "refused")
      this.refuse(`${name.value} of constants`, name.at, "pass a column, or write the result");
    const repeated = rule.repeats === undefined ? 0 : rule.repeats === "first" ? 1 : parts.length - 1;
    const perCall = (rule.cost ?? 1) * (rule.variadic === "args" ? Math.max(1, parts.length - 1) : 1);
    const operators = parts.reduce(
      (sum, part, index) => sum + part.operators * (index < repeated ? weights.repetition : 1),
      perCall,
    );
    return this.nest({ operators, source, levels: deepest(parts) }, name);
  }

  #sourceOfCall({ takes }: FunctionRule, parts: readonly Part[]): Part["source"] {
    if (parts.every(({ source }) => source === "constant")) return "constant";
    const deciding = takes === "first" ? parts.slice(0, 1) : takes === "any" ? parts : [];
    return deciding.some(({ source }) => source === "column") ? "column" : "unknown";
  }

  /** @returns what is known of each argument, and the value of each that is a literal by rule. */
  #arguments(
    name: Token,
    rule: FunctionRule,
  ): { readonly parts: readonly Part[]; readonly literals: ReadonlyMap<number, Token> } {
    const parts: Part[] = [];
    const literals = new Map<number, Token>();
    if (this.take("symbol", ")")) return { parts, literals };
    do {
      if (parts.length === 0 && rule.document) this.#checkDocument(name);
      const literalRule = rule.literals?.find(({ index }) => index === parts.length);
      if (literalRule !== undefined) literals.set(parts.length, this.#checkLiteral(name, literalRule));
      parts.push(this.#disjunction());
      if (parts.length > 32) this.refuse(`${name.value} with more than 32 arguments`, name.at, "pass fewer");
    } while (this.take("symbol", ","));
    this.expect("symbol", ")");
    return { parts, literals };
  }

  #checkDocument(name: Token): void {
    const { kind, value, at } = this.token();
    if (kind === "word" && value === "json_get" && this.is("symbol", "(", 1)) return;
    let end = 1;
    while (this.is("symbol", ".", end)) end += 2;
    if ((kind !== "word" && kind !== "quoted") || !this.is("symbol", ",", end))
      this.refuse(`argument 1 of ${name.value}`, at, "write a column, or json_get of one");
  }

  #checkLiteral(name: Token, { index, form, described }: LiteralRule): Token {
    const token = this.token();
    const alone = this.is("symbol", ",", 1) || this.is("symbol", ")", 1);
    if (token.kind !== "string" || !alone || !form.test(token.value))
      this.refuse(`argument ${index + 1} of ${name.value}`, token.at, `write ${described}`);
    return token;
  }

  /** The planner computes a pattern on constant text, and compiles it up to ten times on the way. */
  #checkPattern(
    name: Token,
    { pattern: bounds, literals: rules }: FunctionRule,
    [text]: readonly Part[],
    literals: ReadonlyMap<number, Token>,
  ): void {
    if (text?.source !== "column")
      this.refuse(
        `${name.value} on text that may be constant`,
        name.at,
        "pass a column (its name in backquotes if it needs quotes), or a text function or cast of one",
      );
    const pattern = literals.get(1) ?? name;
    const flags = literals.get(rules?.at(-1)?.index ?? 0)?.value ?? "";
    const { states, groups } = this.#sizeOf(pattern, flags);
    const { maxPatternStates } = this.limits;
    if (states > maxPatternStates)
      this.refuse(
        `a pattern that compiles to about ${states} states, at most ${maxPatternStates} are allowed`,
        pattern.at,
        "repeat less often, or write [a-z0-9] for \\w and other Unicode classes, which count 3500 each time",
      );
    if (bounds !== undefined && groups > bounds.maxGroups)
      this.refuse(`a pattern of more than ${bounds.maxGroups} groups`, pattern.at, "write the others as (?:…)");
  }

  #sizeOf(pattern: Token, flags: string): { readonly states: number; readonly groups: number } {
    try {
      return patternSize(pattern.value, flags);
    } catch (error) {
      if (!(error instanceof PatternRefusal)) throw error;
      return this.refuse(`${error.message} at character ${error.at + 1} of the pattern`, pattern.at, error.wayOut);
    }
  }
}
