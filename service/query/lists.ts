import { z } from "zod";

/**
 * Maximum sizes that are checked before any element is parsed. The guard's configured bounds are checked later;
 * `config/schema.ts` bounds them by these.
 */
export const maxSizes = { parts: 100, columns: 10_000, clauses: 1000, vectors: 10_000, dimensions: 65_536 } as const;

/** Faults that a response lists. */
export const maxReportedFaults = 10;

/** Faults that a list or an inner schema reports: one more, to show that there are more. */
const maxFaults = maxReportedFaults + 1;

export const tooLong = (count: number): string => `holds more than ${count} elements: send fewer`;

/** A JSON object, not copied: a record of zod takes over a microsecond for each key. */
export const jsonObject = (error = "must be of type object") =>
  z.custom<Record<string, unknown>>((value) => typeof value === "object" && value !== null && !Array.isArray(value), {
    error,
  });

/** Reports the issues of one schema as issues of another, no more than a response can list. */
export const passOn = (
  issues: readonly z.core.$ZodIssue[],
  context: z.RefinementCtx,
  under: readonly PropertyKey[] = [],
): void => {
  for (const { message, path } of issues.slice(0, maxFaults))
    context.addIssue({ code: "custom", message, path: [...under, ...path] });
};

/**
 * A list whose length is checked first, and whose parsing stops after some invalid elements: an issue for every element
 * of a megabyte would block the process for seconds.
 */
export const listOf = <T extends z.ZodType>(element: T, max: number) =>
  z
    .array(z.unknown())
    .max(max, { error: tooLong(max) })
    .transform((values, context) => {
      const read: z.output<T>[] = [];
      let faults = 0;
      for (const [index, value] of values.entries()) {
        const parsed = element.safeParse(value);
        if (parsed.success) read.push(parsed.data);
        else {
          passOn(parsed.error.issues, context, [index]);
          if (++faults === maxFaults) break;
        }
      }
      return read;
    });

const isTree = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whether a tree has more than `count` keys and list elements. Stops at the first object or list beyond. */
export const holdsMoreThan = (count: number, root: unknown): boolean => {
  const open: object[] = isTree(root) ? [root] : [];
  let seen = 0;
  for (let tree = open.pop(); tree !== undefined; tree = open.pop()) {
    const members: readonly unknown[] = Array.isArray(tree) ? tree : Object.values(tree);
    seen += members.length;
    if (seen > count) return true;
    for (const member of members) if (isTree(member)) open.push(member);
  }
  return false;
};
