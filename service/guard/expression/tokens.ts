export interface Token {
  readonly kind: "word" | "quoted" | "string" | "number" | "bytes" | "symbol" | "end";
  /** A word in lower case, a string or quoted name without its quotes, a symbol unchanged. */
  readonly value: string;
  /** UTF-16 units from the start, from 0. */
  readonly at: number;
  /** Of a quoted name: a backquote or a double quote. */
  readonly quote?: string;
}

/** @throws ServiceError code 13: the problem, its position (from 0) and what to write instead. */
export type Refuse = (problem: string, at: number, wayOut: string) => never;

/**
 * Each form is anchored at the position (sticky) and consumes what it matches, so that the whole is linear. Words are
 * ASCII only: the engine converts a word to upper case before it looks for a keyword, and some letters become ASCII then,
 * so that `ıs` would be IS for the engine and a name here.
 */
const forms: readonly (readonly [kind: Token["kind"] | "space" | "comment", form: RegExp])[] = [
  ["space", /[ \t\r\n]+/y],
  ["bytes", /[xX]'(?:[0-9a-fA-F]{2})*'/y],
  ["word", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["number", /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![A-Za-z0-9_.])/y],
  ["string", /'[^']*(?:''[^']*)*'/y],
  ["quoted", /`[^`]+(?:``[^`]*)*`/y],
  ["quoted", /"[^"]*(?:""[^"]*)*"/y],
  ["comment", /--|\/\*/y],
  ["symbol", /::|\|\||<>|<=|>=|!=|==|[-+*/%=<>(),.[\]]/y],
];

const operatorLike = /[^\w\s'"`(),]{1,3}/y;

const describe = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code > 0x20 && code < 0x7f ? character : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
};

const refuseCharacter = (expression: string, at: number, refuse: Refuse): never => {
  const character = String.fromCodePoint(expression.codePointAt(at) ?? 0);
  if ("'\"`".includes(character)) return refuse("a quotation without an end", at, `close it with another ${character}`);
  if (character === ";") return refuse("a semicolon", at, "send one expression");
  if (/\d/.test(character)) return refuse("a malformed number", at, "write it as 12, 1.5 or 1.5e3");
  if (character === "$" || character === "?" || character === "@")
    return refuse("a parameter", at, "write its value as a literal");
  if (/[\p{L}\p{N}\p{M}]/u.test(character))
    return refuse(`the letter ${describe(character)}`, at, "write a name with letters outside ASCII in backquotes");
  operatorLike.lastIndex = at;
  const seen = operatorLike.exec(expression)?.[0] ?? character;
  const shown = [...seen].every((one) => one > " " && one < "\u007f") ? seen : describe(character);
  return refuse(`${shown} is not allowed`, at, "use comparison, arithmetic, ||, LIKE, IN or BETWEEN");
};

const unquote = (text: string): string => {
  const quote = text.charAt(0);
  return text.slice(1, -1).replaceAll(quote + quote, quote);
};

const tokenValue = (kind: Token["kind"], text: string): string =>
  kind === "word" ? text.toLowerCase() : kind === "string" ? unquote(text) : text;

/** Splits an expression into tokens in time linear in its length. The last is always `end`. */
export const tokenize = (expression: string, refuse: Refuse): readonly Token[] => {
  const found: Token[] = [];
  let at = 0;
  scan: while (at < expression.length) {
    for (const [kind, form] of forms) {
      form.lastIndex = at;
      const text = form.exec(expression)?.[0];
      if (text === undefined) continue;
      if (kind === "comment") refuse("a comment", at, "remove it");
      else if (kind === "quoted") found.push({ kind, value: unquote(text), at, quote: text.charAt(0) });
      else if (kind !== "space") found.push({ kind, value: tokenValue(kind, text), at });
      at += text.length;
      continue scan;
    }
    refuseCharacter(expression, at, refuse);
  }
  found.push({ kind: "end", value: "", at });
  return found;
};
