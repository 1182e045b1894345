import type { Described } from "./document.ts";
import type { Shapes } from "./shapes.ts";

/** Differences in one operation. */
export type Part =
  | "operation"
  | "parameter"
  | "request"
  | "request type"
  | "answer"
  | "answer type"
  | "error"
  | "status";

/** `absent`: only the specification has it; `added`: only the service has it. */
export type Kind = "absent" | "added" | "optional" | "required" | "type";

export interface Difference {
  readonly operation: string;
  readonly part: Part;
  /** The field's path, the status or the media type; the method, for a whole operation. */
  readonly field: string;
  readonly kind: Kind;
  /** Both values, if the kind alone is not enough. */
  readonly detail?: string;
}

type Found = Omit<Difference, "operation">;

/** A field inside an absent or added one is not a separate difference. */
const isWithin = (place: string, outer: Shapes): boolean =>
  [...place.matchAll(/\.|\[\]/g)].some(({ index }) => index > 0 && !outer.has(place.slice(0, index)));

const compareShapes = (part: Part, theirs: Shapes, ours: Shapes): readonly Found[] => [
  ...[...theirs].flatMap(([field, shape]): Found[] => {
    const own = ours.get(field);
    if (own === undefined) return isWithin(field, ours) ? [] : [{ part, field, kind: "absent" }];
    const found: Found[] = [];
    if (own.type !== shape.type)
      found.push({ part, field, kind: "type", detail: `${shape.type} there, ${own.type} here` });
    if (own.required !== shape.required) found.push({ part, field, kind: own.required ? "required" : "optional" });
    return found;
  }),
  ...[...ours.keys()]
    .filter((field) => !theirs.has(field) && !isWithin(field, theirs))
    .map((field): Found => ({ part, field, kind: "added" })),
];

const compareLists = (part: Part, theirs: readonly string[], ours: readonly string[]): readonly Found[] => {
  const covers = (list: readonly string[], entry: string): boolean =>
    list.some(
      (other) =>
        other === entry ||
        other.replace("XX", "") === entry.slice(0, -2) ||
        (entry.endsWith("XX") && other.startsWith(entry.slice(0, 1))),
    );
  return [
    ...theirs.filter((field) => !covers(ours, field)).map((field): Found => ({ part, field, kind: "absent" })),
    ...ours.filter((field) => !covers(theirs, field)).map((field): Found => ({ part, field, kind: "added" })),
  ];
};

const compareOperation = (theirs: Described, ours: Described): readonly Found[] => [
  ...compareShapes("parameter", theirs.parameters, ours.parameters),
  ...compareShapes("request", theirs.request, ours.request),
  ...compareLists("request type", theirs.requestTypes, ours.requestTypes),
  ...compareShapes("answer", theirs.answer, ours.answer),
  ...compareLists("answer type", theirs.answerTypes, ours.answerTypes),
  ...compareShapes("error", theirs.error, ours.error),
  ...compareLists("status", theirs.statuses, ours.statuses),
];

export interface Comparison {
  readonly operation: string;
  readonly method: string;
  /** Whether the service has the operation. */
  readonly served: boolean;
  readonly differences: readonly Difference[];
}

/** By operation: first those of the specification, then those that only the service has. */
export const compare = (theirs: readonly Described[], ours: readonly Described[]): readonly Comparison[] => {
  const key = ({ method, address }: Described): string => `${method} ${address}`;
  const own = new Map(ours.map((operation) => [key(operation), operation]));
  const known = new Set(theirs.map(key));
  return [
    ...theirs.map((operation): Comparison => {
      const { label, method } = operation;
      const served = own.get(key(operation));
      const found: readonly Found[] =
        served === undefined
          ? [{ part: "operation", field: method, kind: "absent" }]
          : compareOperation(operation, served);
      return {
        operation: label,
        method,
        served: served !== undefined,
        differences: found.map((difference) => ({ operation: label, ...difference })),
      };
    }),
    ...ours
      .filter((operation) => !known.has(key(operation)))
      .map(
        ({ label, method }): Comparison => ({
          operation: label,
          method,
          served: true,
          differences: [{ operation: label, part: "operation", field: method, kind: "added" }],
        }),
      ),
  ];
};
