import type { Part } from "./cost.ts";
import type { ExpressionLimits } from "./limits.ts";
import type { Refuse, Token } from "./tokens.ts";

export const shown = ({ kind, value }: Token): string =>
  kind === "word" || kind === "symbol" ? value.toUpperCase().slice(0, 40) : kind === "end" ? "the end" : `a ${kind}`;

/** A position among the tokens of an expression, and the bounds of what is read from there on. */
export class Cursor {
  readonly #tokens: readonly Token[];
  readonly limits: ExpressionLimits;
  readonly refuse: Refuse;
  next = 0;
  #depth = 0;
  #growth = 1;

  constructor(tokens: readonly Token[], limits: ExpressionLimits, refuse: Refuse) {
    this.#tokens = tokens;
    this.limits = limits;
    this.refuse = refuse;
  }

  token(ahead = 0): Token {
    return this.#tokens[this.next + ahead] ?? { kind: "end", value: "", at: 0 };
  }

  is(kind: Token["kind"], value: string, ahead = 0): boolean {
    const token = this.token(ahead);
    return token.kind === kind && token.value === value;
  }

  take(kind: Token["kind"], value: string): boolean {
    if (!this.is(kind, value)) return false;
    this.next++;
    return true;
  }

  expect(kind: Token["kind"], value: string): void {
    if (!this.take(kind, value)) this.unexpected(value.toUpperCase());
  }

  unexpected(wanted: string): never {
    const token = this.token();
    return this.refuse(`${shown(token)} is not allowed`, token.at, `write ${wanted} here`);
  }

  deeper<T>(read: () => T, levels = 1): T {
    const { at } = this.token();
    this.#depth += levels;
    if (this.#depth > this.limits.maxDepth)
      this.refuse(`a nesting of more than ${this.limits.maxDepth} levels`, at, "write it flatter");
    const result = read();
    this.#depth -= levels;
    return result;
  }

  /** Adds a level to the operator depth. */
  nest(part: Part, { at }: Token): Part {
    const { maxOperatorDepth } = this.limits;
    if (part.levels >= maxOperatorDepth)
      this.refuse(
        `calls, casts and operators nested deeper than ${maxOperatorDepth} levels`,
        at,
        "write the expression flatter",
      );
    return { ...part, levels: part.levels + 1 };
  }

  /** Reads an operand whose value may come out `growth` times as long. */
  grown<T>(growth: number, read: () => T): T {
    const { at } = this.token();
    this.#growth *= growth;
    if (this.#growth > this.limits.maxGrowth)
      this.refuse(
        `a text that can grow more than ${this.limits.maxGrowth} times`,
        at,
        "nest fewer calls of encode, regexp_match and lists",
      );
    const result = this.deeper(read);
    this.#growth /= growth;
    return result;
  }
}
