/**
 * Whether a JSON text nests deeper than `limit` arrays and objects. Runs before `JSON.parse` and zod, which recurse and
 * would overflow the stack on a deep text.
 *
 * A text with at most `limit` opening brackets cannot. Counting brackets by `indexOf` is native code, so that a vector of
 * 1,536 numbers, which has three brackets, is not read character by character.
 */
export const nestsDeeperThan = (text: string, limit: number): boolean =>
  countUpTo(text, limit) > limit && deepest(text, limit) > limit;

const countUpTo = (text: string, limit: number): number => {
  let count = 0;
  for (const bracket of ["[", "{"])
    for (let at = text.indexOf(bracket); at !== -1 && count <= limit; at = text.indexOf(bracket, at + 1)) count++;
  return count;
};

const deepest = (text: string, limit: number): number => {
  let depth = 0;
  let max = 0;
  let inString = false;
  for (let at = 0; at < text.length && max <= limit; at++) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === 0x5c) at++;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x5b || character === 0x7b) max = Math.max(max, ++depth);
    else if (character === 0x5d || character === 0x7d) depth--;
  }
  return max;
};
