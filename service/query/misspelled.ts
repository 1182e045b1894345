import { distance } from "fastest-levenshtein";

/** Longest unknown key that is compared, and how many are: a body may hold any number of them. */
const maxLength = 40;
const maxCompared = 64;

/** Keys of up to three letters are near too many others. */
const maxDistance = ({ length }: string): number => {
  if (length <= 3) return 0;
  return length <= 5 ? 1 : 2;
};

const letters = (key: string): string => [...key].sort().join("");

/** Letters in another order are near too, however short the key: a swap is two edits for the library. */
const isNear = (sent: string, known: string): boolean => {
  const most = maxDistance(known);
  if (Math.abs(sent.length - known.length) > most) return false;
  return distance(sent, known) <= most || (most > 0 && letters(sent) === letters(known));
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
