import { readCall, ruleOf } from "./calls.ts";
import { readType } from "./cast-type.ts";
import { arithmetic, column, combined, deepest, listOf, literal, type Part, plus, total, weights } from "./cost.ts";
import { Cursor } from "./cursor.ts";
import { listGrowth } from "./functions.ts";
import type { Token } from "./tokens.ts";
import * as words from "./words.ts";

const maxLikePattern = 1000;

type Cost = (left: Part, right: Part) => number;

/** The operators of one level of precedence. @param nests whether a chain of them is a level of the operator depth. */
const levelOf = (kind: Token["kind"], nests: boolean, costs: Readonly<Record<string, Cost>>) => ({
  kind,
  nests,
  costs: new Map(Object.entries(costs)),
});

const concatenation: Cost = () => weights.concatenation;

const disjunction = levelOf("word", false, { or: () => 1 });
const conjunction = levelOf("word", false, { and: () => 1 });
const sum = levelOf("symbol", true, { "+": arithmetic, "-": arithmetic });
const product = levelOf("symbol", true, { "*": arithmetic, "/": arithmetic, "%": arithmetic, "||": concatenation });

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

  #chain({ kind, costs, nests }: ReturnType<typeof levelOf>, operand: () => Part): Part {
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
    return this.#chain(disjunction, () => this.#chain(conjunction, () => this.#negation()));
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
    return this.#chain(sum, () => this.#chain(product, () => this.#signed()));
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
      if (this.take("symbol", "::")) readType(this);
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
      readType(this);
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
    ruleOf(this, token);
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
      readType(this);
      this.expect("symbol", ")");
      return this.nest(plus(operand, 1), start);
    });
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

  #call(name: Token): Part {
    const rule = ruleOf(this, name);
    this.next += 2;
    if (rule.variadic === "items") return this.#array(")", name);
    return readCall(this, name, rule, () => this.#disjunction());
  }
}
