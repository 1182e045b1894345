import { z } from "zod";

/**
 * What a list of a body may hold before anybody looks at its elements. The guard's configured bounds come later and are
 * never above these: `variables.ts` lets nobody configure more.
 */
export const most = { parts: 100, columns: 10_000, clauses: 1000, vectors: 10_000, dimensions: 65_536 } as const;

/** Faults that an answer tells. */
export const maxReportedFaults = 10;

/** Faults that one list, or one schema within another, hands on: one more, to show that there are more. */
const maxFaults = maxReportedFaults + 1;

export const tooLong = (count: number): string => `holds more than ${count} elements: send fewer`;

/** A JSON object as it came: unlike a record of zod's, no copy, which costs a microsecond and more for each key of a body. */
export const jsonObject = (error = "must be of type object") =>
  z.custom<Record<string, unknown>>((value) => typeof value === "object" && value !== null && !Array.isArray(value), {
    error,
  });

/** Hands the issues of one schema on to another, so many that an answer can tell them and no more. */
export const passOn = (
  issues: readonly z.core.$ZodIssue[],
  context: z.RefinementCtx,
  under: readonly PropertyKey[] = [],
): void => {
  for (const { message, path } of issues.slice(0, maxFaults))
    context.addIssue({ code: "custom", message, path: [...under, ...path] });
};

/**
 * A list whose length is looked at first and which is given up after some wrong elements: an issue for each of a
 * megabyte of them costs seconds, in which the process answers nobody.
 */
export const listOf = <T extends z.ZodType>(element: T, longest: number) =>
  z
    .array(z.unknown())
    .max(longest, { error: tooLong(longest) })
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

/** Whether a tree has more than so many keys and elements of lists. Stops at the first object or list beyond. */
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
