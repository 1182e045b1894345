/** Longest unknown key that is compared, and how many are: a body may hold any number of them. */
const maxLength = 40;
const maxCompared = 64;

/** Keys of up to three letters are near too many others. */
const maxDistance = ({ length }: string): number => {
  if (length <= 3) return 0;
  return length <= 5 ? 1 : 2;
};

/** Edit distance with swaps of neighbours (optimal string alignment). */
const distance = (left: string, right: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
};

const isNear = (sent: string, known: string): boolean => {
  const most = maxDistance(known);
  return Math.abs(sent.length - known.length) <= most && distance(sent, known) <= most;
};

/** An unknown key of a body that is within two edits of a known one, such as `fillter`. Other unknown keys are tolerated. */
export const misspelled = (
  body: object,
  known: readonly string[],
): { readonly sent: string; readonly message: string } | undefined => {
  const unknown = Object.keys(body).filter((key) => key.length <= maxLength && !known.includes(key));
  for (const sent of unknown.slice(0, maxCompared)) {
    const meant = known.find((key) => isNear(sent, key));
    if (meant !== undefined) return { sent, message: `is not a field of this request: write ${meant}, or remove it` };
  }
  return undefined;
};
