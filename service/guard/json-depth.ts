/**
 * Whether a JSON text nests deeper than `limit` arrays and objects. Run before `JSON.parse` and before zod, whose
 * recursion over a deep text would overflow the stack.
 *
 * A text with no more than `limit` opening brackets cannot, and counting those is a search that the engine does in
 * machine code: a vector of 1,536 numbers has three brackets and is never walked.
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
