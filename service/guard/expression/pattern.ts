/** What the guard knows of a regular expression. */
export interface PatternSize {
  /** States of the compiled pattern, rounded up; see `stateCosts`. */
  readonly states: number;
  /** Capturing groups. */
  readonly groups: number;
}

/** A part of the syntax that is refused, with its place in the pattern (from 0) and what to write instead. */
export class PatternRefusal extends Error {
  readonly at: number;
  readonly wayOut: string;

  constructor(problem: string, at: number, wayOut: string) {
    super(problem);
    this.at = at;
    this.wayOut = wayOut;
  }
}

/**
 * States of one element, in units of an ASCII letter: the CPU time of `explain_plan` for a pattern that the planner
 * compiles, divided by that of a letter (0.11 µs). Measured on `@lancedb/lancedb` 0.39.0 (regex 1.x), elements repeated
 * 10 to 1,000 times. A class that can hold many Unicode ranges costs as much as the most expensive one, `\w`.
 */
const stateCosts = {
  /** A character outside ASCII, or a letter with its other case forms. */
  character: 10,
  /** A range, a negated class, or `.`: the byte sequences of UTF-8. */
  range: 40,
  /** `\s` */
  space: 50,
  /** `\d` */
  digit: 300,
  /** `\w` and `\p{…}`. */
  unicode: 3500,
  /**
   * Classes whose case forms are added. The engine's parser visits every character of such a range, and the planner parses
   * a pattern once for each level around it, so that the count of characters decides.
   */
  foldedWord: 24_000,
  foldedLetters: 40_000,
  foldedWide: 0x110000,
} as const;

/** The engine refuses deeper patterns (250); the guard's own recursion is bounded sooner. */
const maxNesting = 50;

const perlClasses: Readonly<Record<string, number>> = {
  d: stateCosts.digit,
  D: stateCosts.digit,
  s: stateCosts.space,
  S: stateCosts.space,
  w: stateCosts.unicode,
  W: stateCosts.unicode,
};

const assertion = /\\(?:b\{(?:start|end|start-half|end-half)\}|[bBAz<>])/y;
const propertyClass = /\\[pP](?:[A-Za-z]|\{\^?[A-Za-z_]{1,40}(?:(?:=|:|!=)[A-Za-z_]{1,40})?\})/y;
const foldable = /^\\[pP](?:[LN]|\{(?:L|Lu|Ll|N|Nd)\})$/;
const perlClass = /\\[dDsSwW]/y;
const codePoint = /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[xuU]\{[0-9A-Fa-f]{1,8}\})/y;
const escaped = /\\[\t\n\r !-/:-@[-`{-~]|\\[afnrtv]/y;
const asciiClass = /\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/y;
const group = /\((?:\?(?:P?<([A-Za-z_][A-Za-z0-9_.[\]]{0,100})>|([imsuU]{0,5}(?:-[imsuU]{1,5})?)(:|\))))?(?!\?)/y;
const counted = /\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/y;
const operators = "*+?";
const setOperators = ["&&", "--", "~~"];

/** The code point of a character as written in a class; within ASCII for an escape such as `\n`. */
const codePointOf = (text: string): number => {
  const hexadecimal = /^\\[xuU]\{?([0-9A-Fa-f]+)\}?$/.exec(text)?.[1];
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16);
  return text.startsWith("\\") ? (text.codePointAt(1) ?? 0) : (text.codePointAt(0) ?? 0);
};

/**
 * Reads a pattern of the Rust crate `regex` far enough to bound what it compiles to: the elements' states, multiplied by
 * the repetitions around them. A construct that is not read is refused, because its size is unknown.
 * Syntax: https://docs.rs/regex/latest/regex/#syntax
 */
class PatternReader {
  readonly #text: string;
  readonly #caseless: boolean;
  #next = 0;
  #depth = 0;
  #groups = 0;

  constructor(text: string, flags: string) {
    this.#text = text;
    this.#caseless = flags.includes("i") || /\(\?[a-zA-Z]*i/.test(text);
  }

  read(): PatternSize {
    const states = this.#alternatives();
    if (this.#next < this.#text.length) this.#refuse("an unmatched )", "escape it as \\)");
    return { states, groups: this.#groups };
  }

  #refuse(problem: string, wayOut: string): never {
    throw new PatternRefusal(problem, this.#next, wayOut);
  }

  #take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#next;
    const found = form.exec(this.#text);
    if (found === null) return undefined;
    this.#next += found[0].length;
    return found;
  }

  #takeText(text: string): boolean {
    if (!this.#text.startsWith(text, this.#next)) return false;
    this.#next += text.length;
    return true;
  }

  #nested(read: () => number): number {
    if (++this.#depth > maxNesting)
      this.#refuse(`groups and classes nested deeper than ${maxNesting} levels`, "write the pattern flatter");
    const states = read();
    this.#depth--;
    return states;
  }

  #alternatives(): number {
    let states = this.#sequence();
    while (this.#takeText("|")) states += this.#sequence() + 1;
    return states;
  }

  #sequence(): number {
    let states = 1;
    while (this.#next < this.#text.length && !"|)".includes(this.#text.charAt(this.#next)))
      states += this.#repeated(this.#element());
    return states;
  }

  /** Each repetition of a repetition multiplies. */
  #repeated(states: number): number {
    let total = states;
    for (;;) {
      const next = this.#text.charAt(this.#next);
      if (next !== "" && operators.includes(next)) {
        this.#next++;
        total += 1;
      } else if (next === "{") total = this.#countedRepetition(total);
      else return total;
      // A lazy repetition is the same size.
      this.#takeText("?");
    }
  }

  #countedRepetition(states: number): number {
    const found = this.#take(counted);
    if (found === undefined)
      return this.#refuse("a repetition that is not read", "write {n}, {n,} or {n,m}, or \\{ for the character");
    const [, least = "", open, most = least] = found;
    const times = Math.max(Number(least), Number(most), 1);
    // An optional repetition has one state more to leave it.
    return open === undefined ? states * times : (states + 1) * (times + 1);
  }

  #element(): number {
    const character = this.#text.charAt(this.#next);
    if (character === "(") return this.#group();
    if (character === "[") return this.#class();
    if (character === "\\") return this.#take(assertion) === undefined ? this.#escape(false) : 1;
    if (operators.includes(character) || character === "{")
      this.#refuse("a repetition of nothing", `escape the character as \\${character}`);
    if (character === ".") {
      this.#next++;
      return stateCosts.range;
    }
    return this.#character();
  }

  #group(): number {
    const found = this.#take(group);
    if (found === undefined)
      return this.#refuse("a group that is not read", "write (…), (?:…), (?<name>…) or the flags i, m, s, u, U and -");
    const end = found[3];
    if (end === ")") return 1;
    if (end === undefined) this.#groups++;
    const states = this.#nested(() => this.#alternatives());
    if (!this.#takeText(")")) this.#refuse("a group without its end", "close it with )");
    return states + 2;
  }

  #escape(inClass: boolean): number {
    const perl = this.#take(perlClass);
    if (perl !== undefined) {
      const letter = perl[0].charAt(1);
      const states = perlClasses[letter] ?? stateCosts.unicode;
      // Outside of brackets, the engine adds no case forms to these.
      if (!inClass || !this.#caseless) return states;
      if (letter !== letter.toLowerCase()) return stateCosts.foldedWide;
      return letter === "w" ? stateCosts.foldedWord : states;
    }
    const property = this.#take(propertyClass)?.[0];
    if (property !== undefined) {
      if (!this.#caseless) return stateCosts.unicode;
      const isWide = !foldable.test(property) || (inClass && property.startsWith("\\P"));
      return isWide ? stateCosts.foldedWide : stateCosts.foldedLetters;
    }
    if (this.#take(codePoint) !== undefined) return stateCosts.character;
    if (this.#take(escaped) !== undefined) return 1;
    return this.#refuse("an escape that is not read", "write a class such as \\d, or escape punctuation only");
  }

  #character(): number {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#next) ?? 0);
    this.#next += character.length;
    return this.#caseless || character > "\u007f" ? stateCosts.character : 1;
  }

  /** A class with set operations has at most as many ranges as its parts together. */
  #class(): number {
    this.#next++;
    let states = this.#takeText("^") ? stateCosts.range : 1;
    // The bracket and hyphens that come first are characters.
    if (this.#takeText("]")) states += 1;
    while (!this.#takeText("]")) {
      if (this.#next >= this.#text.length) this.#refuse("a class without its end", "close it with ]");
      states += this.#classItem();
    }
    return states;
  }

  #classItem(): number {
    if (this.#take(asciiClass) !== undefined) return stateCosts.range;
    if (setOperators.some((operator) => this.#takeText(operator))) return 0;
    if (this.#text.charAt(this.#next) === "[") return this.#nested(() => this.#class());
    const start = this.#next;
    const states = this.#text.charAt(this.#next) === "\\" ? this.#escape(true) : this.#character();
    const from = this.#text.slice(start, this.#next);
    const isRange = this.#text.charAt(this.#next) === "-" && !"]-".includes(this.#text.charAt(this.#next + 1));
    if (!isRange) return states;
    this.#next++;
    const end = this.#next;
    if (this.#text.charAt(this.#next) === "\\") this.#escape(true);
    else this.#character();
    const [low, high] = [codePointOf(from), codePointOf(this.#text.slice(end, this.#next))];
    if (this.#caseless) return Math.max(states, stateCosts.range + high - low);
    return Math.max(states, high > 0x7f ? stateCosts.range : 2);
  }
}

/**
 * Bounds what a regular expression compiles to.
 * @param flags as the engine's functions take them: i, m, s and U.
 * @throws PatternRefusal for a construct whose size is not known.
 */
export const patternSize = (pattern: string, flags: string): PatternSize => new PatternReader(pattern, flags).read();
