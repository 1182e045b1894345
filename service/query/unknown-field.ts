import { distance } from "fastest-levenshtein";
import { z } from "zod";
import { isUnset } from "./fields.ts";

/** Longest unknown key that is compared, and how many are: a body may hold any number of them. */
const maxLength = 40;
const maxCompared = 64;

/** Characters of an unknown key that a message repeats. */
const maxShown = 64;

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

const notAField = "is not a field that this service supports: remove it, or see /openapi.json";

/**
 * A key that is none of the known ones and holds a value, the one nearest to a known one first. Dropping it would answer
 * another question than the caller asked.
 */
export const unknownField = (
  body: object,
  known: readonly string[],
): { readonly sent: string; readonly message: string } | undefined => {
  const unknown = Object.keys(body).filter((key) => !known.includes(key));
  for (const sent of unknown.filter((key) => key.length <= maxLength).slice(0, maxCompared)) {
    const meant = known.find((key) => isNear(sent, key));
    if (meant !== undefined) return { sent, message: `is not a field of this request: write ${meant}, or remove it` };
  }
  const first = unknown.find((key) => !isUnset((body as Record<string, unknown>)[key]));
  return first === undefined ? undefined : { sent: first.slice(0, maxShown), message: notAField };
};

/** Values of unknown keys that are tolerated, in JSON Schema: see {@link isUnset}. */
export const unset = { enum: [null, [], {}] };

/** An object inside a body: a key that it does not know is refused like one of the body itself. */
export const closed = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => {
  const known = Object.keys(shape);
  const object = z.object(shape).meta({ additionalProperties: unset });
  const check = (wire: unknown, context: z.RefinementCtx): unknown => {
    const unknown = typeof wire === "object" && wire !== null ? unknownField(wire, known) : undefined;
    if (unknown !== undefined) context.addIssue({ code: "custom", path: [unknown.sent], message: unknown.message });
    return wire;
  };
  return z.preprocess(check, object);
};
