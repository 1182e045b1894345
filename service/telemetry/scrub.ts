/** Shorter words are kept: they are part of most sentences and reveal nothing. */
const minWord = 4;
const maxText = 500;

const wordsOf = (value: unknown, into: Set<string>): void => {
  if (typeof value === "string")
    for (const word of value.split(/[^\p{L}\p{N}_]+/u)) if (word.length >= minWord) into.add(word.toLowerCase());
  if (Array.isArray(value)) for (const entry of value) wordsOf(entry, into);
  else if (typeof value === "object" && value !== null)
    for (const [key, entry] of Object.entries(value)) {
      wordsOf(key, into);
      wordsOf(entry, into);
    }
};

/**
 * The text of a native error without the words of the request's body. The database quotes expressions in its own
 * spelling, so removing the whole filter would not suffice.
 */
export const scrub = (error: unknown, body: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const words = new Set<string>();
  wordsOf(body, words);
  const struck = text.replace(/[\p{L}\p{N}_]+/gu, (word) => (words.has(word.toLowerCase()) ? "[…]" : word));
  return struck.slice(0, maxText);
};
