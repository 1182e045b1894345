import { allowedFunctions, type FunctionRule, listGrowth, waysOut } from "./functions.ts";
import type { ExpressionLimits } from "./limits.ts";
import type { Refuse, Token } from "./tokens.ts";
import * as words from "./words.ts";

/** Each concatenation can double the text of a row, so it weighs more than an addition. */
const concatenation = 4;

/** What an operator inside a repeated argument counts: written out twice, its type asked for twice. */
const repetition = 4;

const anyCall: FunctionRule = { arguments: [0, 32] };

const shown = ({ kind, value }: Token): string =>
  kind === "word" || kind === "symbol" ? value.toUpperCase().slice(0, 40) : kind === "end" ? "the end" : `a ${kind}`;

/**
 * Reads the subset of SQL that may reach the engine and returns, for every rule, the number of operators that the
 * planner will see. The levels of precedence are the engine's; where its associativity decides what is repeated
 * (a comparison of a comparison), parentheses are demanded instead. Recursion is bounded by `maxDepth`, chains are loops.
 */
export class Parser {
  readonly #tokens: readonly Token[];
  readonly #limits: ExpressionLimits;
  readonly #refuse: Refuse;
  #next = 0;
  #depth = 0;
  #growth = 1;

  constructor(tokens: readonly Token[], limits: ExpressionLimits, refuse: Refuse) {
    this.#tokens = tokens;
    this.#limits = limits;
    this.#refuse = refuse;
  }

  /** @returns the operators of the whole, all tokens consumed. */
  whole(): number {
    const operators = this.#disjunction();
    if (this.#token().kind !== "end") this.#unexpected("an operator or the end");
    return operators;
  }

  #token(ahead = 0): Token {
    return this.#tokens[this.#next + ahead] ?? { kind: "end", value: "", at: 0 };
  }

  #is(kind: Token["kind"], value: string, ahead = 0): boolean {
    const token = this.#token(ahead);
    return token.kind === kind && token.value === value;
  }

  #take(kind: Token["kind"], value: string): boolean {
    if (!this.#is(kind, value)) return false;
    this.#next++;
    return true;
  }

  #expect(kind: Token["kind"], value: string): void {
    if (!this.#take(kind, value)) this.#unexpected(value.toUpperCase());
  }

  #unexpected(wanted: string): never {
    const token = this.#token();
    return this.#refuse(`${shown(token)} is not allowed`, token.at, `${wanted} may stand here`);
  }

  #deeper<T>(read: () => T, levels = 1): T {
    const { at } = this.#token();
    this.#depth += levels;
    if (this.#depth > this.#limits.maxDepth)
      this.#refuse(`a nesting of more than ${this.#limits.maxDepth} levels`, at, "write it flatter");
    const result = read();
    this.#depth -= levels;
    return result;
  }

  /** Reads what may come out `growth` times as long. */
  #grown<T>(growth: number, read: () => T): T {
    const { at } = this.#token();
    this.#growth *= growth;
    if (this.#growth > this.#limits.maxGrowth)
      this.#refuse(
        `a text that can grow more than ${this.#limits.maxGrowth} times`,
        at,
        "nest fewer calls of encode, regexp_match and lists",
      );
    const result = this.#deeper(read);
    this.#growth /= growth;
    return result;
  }

  #chain(operators: ReadonlyMap<string, number>, kind: Token["kind"], operand: () => number): number {
    let total = operand();
    for (;;) {
      const token = this.#token();
      const cost = token.kind === kind ? operators.get(token.value) : undefined;
      if (cost === undefined) return total;
      this.#next++;
      total += this.#deeper(operand) + cost;
    }
  }

  #disjunction(): number {
    return this.#chain(orOperator, "word", () => this.#conjunction());
  }

  #conjunction(): number {
    return this.#chain(andOperator, "word", () => this.#negation());
  }

  #negation(): number {
    let negations = 0;
    while (this.#take("word", "not")) negations++;
    let operators = this.#deeper(() => this.#predicate(), negations) + negations;
    while (this.#take("word", "is")) {
      this.#take("word", "not");
      if (!["null", "true", "false"].some((word) => this.#take("word", word))) this.#unexpected("NULL, TRUE or FALSE");
      operators++;
    }
    if (this.#startsComparison())
      this.#refuse("a comparison of a comparison", this.#token().at, "put the first one into parentheses");
    return operators;
  }

  #startsComparison(): boolean {
    const token = this.#token();
    if (token.kind === "symbol") return words.comparisons.has(token.value);
    return token.kind === "word" && ["not", "between", "in", "like", "ilike"].includes(token.value);
  }

  #predicate(): number {
    const left = this.#sum();
    if (!this.#startsComparison()) return left;
    if (this.#token().kind === "symbol") {
      this.#next++;
      return left + this.#deeper(() => this.#sum()) + 1;
    }
    this.#take("word", "not");
    if (this.#take("word", "between")) {
      const low = this.#deeper(() => this.#sum());
      this.#expect("word", "and");
      return 2 * left + low + this.#deeper(() => this.#sum()) + 1;
    }
    if (this.#take("word", "in")) {
      this.#expect("symbol", "(");
      return left + this.#deeper(() => this.#items(")", { least: 1, column: 0 })) + 1;
    }
    if (!this.#take("word", "like") && !this.#take("word", "ilike")) this.#unexpected("BETWEEN, IN, LIKE or ILIKE");
    const pattern = this.#pattern();
    if (this.#take("word", "escape") && this.#literal() !== "\\")
      this.#refuse("another escape character than \\", this.#token(-1).at, "escape with a backslash");
    return left + pattern;
  }

  /** The engine compiles a pattern that is no literal for each row; its time grows with the wildcards. */
  #pattern(): number {
    const { at } = this.#token();
    const pattern = this.#literal();
    if (pattern === undefined || pattern.length > 1000 || this.#is("symbol", "||") || this.#is("symbol", "::"))
      return this.#refuse("the pattern of LIKE", at, "write a literal pattern of at most 1000 characters");
    return Math.max(1, pattern.replace(/[^%_]/g, "").length);
  }

  #sum(): number {
    return this.#chain(sumOperators, "symbol", () => this.#product());
  }

  #product(): number {
    return this.#chain(productOperators, "symbol", () => this.#signed());
  }

  #signed(): number {
    let signs = 0;
    while (this.#take("symbol", "-")) signs++;
    // The sign of a literal is part of it.
    const literal = signs === 1 && this.#token().kind === "number";
    return this.#deeper(() => this.#accessed(), signs) + (literal ? 0 : signs);
  }

  #accessed(): number {
    let operators = this.#primary();
    for (;;) {
      if (this.#take("symbol", "::")) this.#type();
      else if (this.#take("symbol", "[")) {
        operators += this.#deeper(() => this.#disjunction());
        this.#expect("symbol", "]");
      } else if (this.#take("symbol", ".")) {
        const { kind } = this.#token();
        if (kind !== "word" && kind !== "quoted") this.#unexpected("a field name");
        this.#next++;
      } else return operators;
      operators++;
    }
  }

  #primary(): number {
    const token = this.#token();
    if (token.kind === "symbol") {
      if (this.#take("symbol", "[")) return this.#grown(listGrowth, () => this.#items("]", { least: 0, column: 1 }));
      if (!this.#take("symbol", "(")) return this.#unexpected("a column, a literal or a call");
      const operators = this.#deeper(() => this.#disjunction());
      this.#expect("symbol", ")");
      return operators;
    }
    if (token.kind === "end") return this.#unexpected("a column, a literal or a call");
    if (token.kind === "word") return this.#word(token);
    this.#next++;
    if (token.kind === "quoted" && this.#is("symbol", "("))
      this.#refuse("a function's name in quotation marks", token.at, "write it without");
    return 0;
  }

  #word(token: Token): number {
    const { value } = token;
    if (this.#startsTypedLiteral(value)) {
      this.#type();
      this.#next++;
      return 1;
    }
    if (this.#is("symbol", "(", 1)) return words.castWords.has(value) ? this.#cast() : this.#call(token);
    const reserved = words.reservedWords.get(value);
    if (reserved !== undefined)
      this.#refuse(`${reserved} is not allowed`, token.at, "a column of that name is written in backquotes");
    this.#next++;
    if (!words.bareCalls.has(value)) return 0;
    this.#rule(token);
    return 1;
  }

  /** `DATE '…'`, `TIMESTAMP '…'`, `TIMESTAMP(3) '…'` */
  #startsTypedLiteral(word: string): boolean {
    if (!words.typedLiterals.has(word)) return false;
    const precision = this.#is("symbol", "(", 1) && this.#token(2).kind === "number" && this.#is("symbol", ")", 3);
    return this.#token(precision ? 4 : 1).kind === "string";
  }

  #cast(): number {
    this.#next += 2;
    return this.#deeper(() => {
      const operators = this.#disjunction() + 1;
      this.#expect("word", "as");
      this.#type();
      this.#expect("symbol", ")");
      return operators;
    });
  }

  #type(): void {
    const token = this.#token();
    const parameters = token.kind === "word" ? words.castTypes.get(token.value) : undefined;
    if (parameters === undefined) this.#refuse(`a cast to ${shown(token)}`, token.at, words.castTypesDescribed);
    this.#next++;
    if (parameters === "unsigned") this.#take("word", "unsigned");
    else if (parameters === "precision" && this.#take("symbol", "(")) {
      this.#number(0, 9, 3);
      this.#expect("symbol", ")");
    } else if (parameters === "decimal") {
      this.#expect("symbol", "(");
      const precision = this.#number(1, 38);
      this.#expect("symbol", ",");
      this.#number(0, precision);
      this.#expect("symbol", ")");
    }
  }

  #number(least: number, most: number, step = 1): number {
    const { kind, value, at } = this.#token();
    const number = kind === "number" && /^\d{1,2}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= least && number <= most && number % step === 0))
      this.#refuse(`a type's parameter outside ${least} to ${most}`, at, words.castTypesDescribed);
    this.#next++;
    return number;
  }

  /** The string at the position, if it is the whole operand. */
  #literal(): string | undefined {
    const { kind, value } = this.#token();
    if (kind !== "string") return undefined;
    this.#next++;
    return value;
  }

  /** Items up to the closing symbol; `column` is what a column costs where its values are copied. */
  #items(close: string, { least, column }: { least: 0 | 1; column: 0 | 1 }): number {
    const { at } = this.#token();
    let operators = 0;
    let count = 0;
    if (least === 0 && this.#take("symbol", close)) return 0;
    do {
      if (++count > this.#limits.maxListItems)
        this.#refuse(`a list of more than ${this.#limits.maxListItems} items`, at, "send fewer, or a range");
      const first = this.#token();
      operators += this.#disjunction() + (first.kind === "word" || first.kind === "quoted" ? column : 0);
    } while (this.#take("symbol", ","));
    this.#expect("symbol", close);
    return operators;
  }

  #rule({ value, at }: Token): FunctionRule {
    const way = waysOut.get(value);
    if (words.reservedWords.has(value) && way === undefined)
      this.#refuse(`${words.reservedWords.get(value)} is not allowed`, at, "write a plain expression");
    if (!this.#limits.functions.has(value))
      this.#refuse(`the function ${value.slice(0, 40)} is not allowed`, at, way ?? "use one on the service's list");
    return allowedFunctions.get(value) ?? anyCall;
  }

  #call(name: Token): number {
    const rule = this.#rule(name);
    this.#next += 2;
    const { growth = 1 } = rule;
    if (rule.variadic === "items") return this.#grown(growth, () => this.#items(")", { least: 0, column: 1 })) + 1;
    const operators = this.#grown(growth, () => this.#arguments(name, rule));
    const [least, most] = rule.arguments;
    if (operators.length < least || operators.length > most)
      this.#refuse(
        `${name.value} with ${operators.length} arguments`,
        name.at,
        least === most ? `it takes ${least}` : `it takes ${least} to ${most}`,
      );
    const repeated = rule.repeats === undefined ? 0 : rule.repeats === "first" ? 1 : operators.length - 1;
    const perCall = (rule.cost ?? 1) * (rule.variadic === "args" ? Math.max(1, operators.length - 1) : 1);
    return operators.reduce((sum, one, index) => sum + one * (index < repeated ? repetition : 1), perCall);
  }

  /** @returns the operators of each argument. */
  #arguments(name: Token, rule: FunctionRule): readonly number[] {
    const operators: number[] = [];
    if (this.#take("symbol", ")")) return operators;
    do {
      if (operators.length === 0 && rule.document) this.#checkDocument(name);
      if (operators.length === rule.literal?.index) this.#checkLiteral(name, rule.literal);
      operators.push(this.#disjunction());
      if (operators.length > 32) this.#refuse(`${name.value} with more than 32 arguments`, name.at, "pass fewer");
    } while (this.#take("symbol", ","));
    this.#expect("symbol", ")");
    return operators;
  }

  #checkDocument(name: Token): void {
    const { kind, value, at } = this.#token();
    if (kind === "word" && value === "json_get" && this.#is("symbol", "(", 1)) return;
    let end = 1;
    while (this.#is("symbol", ".", end)) end += 2;
    if ((kind !== "word" && kind !== "quoted") || !this.#is("symbol", ",", end))
      this.#refuse(`argument 1 of ${name.value}`, at, "write a column, or json_get of one");
  }

  #checkLiteral(name: Token, { index, form, described }: NonNullable<FunctionRule["literal"]>): void {
    const { kind, value, at } = this.#token();
    const alone = this.#is("symbol", ",", 1) || this.#is("symbol", ")", 1);
    if (kind !== "string" || !alone || !form.test(value))
      this.#refuse(`argument ${index + 1} of ${name.value}`, at, `write ${described}`);
  }
}

const orOperator = new Map([["or", 1]]);
const andOperator = new Map([["and", 1]]);
const sumOperators = new Map([
  ["+", 1],
  ["-", 1],
]);
const productOperators = new Map([
  ["*", 1],
  ["/", 1],
  ["%", 1],
  ["||", concatenation],
]);
