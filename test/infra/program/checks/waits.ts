/** What the Kubernetes provider waits for: the annotation `pulumi.com/waitFor` of every object. */

import type { Capture } from "../../../../infra/offline-plan/capture.ts";
import { mask } from "../../../../infra/offline-plan/values.ts";

const annotation = "pulumi.com/waitFor";

export interface Wait {
  /** The resource that has the annotation. */
  readonly name: string;
  /** `condition=Name` or `jsonpath={path}`, with `=value` or without. */
  readonly expression: string;
}

/** One expression or, as a JSON array, several. */
function expressions(text: string): string[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed.map(String);
  } catch {
    // Not JSON: one expression.
  }
  return [text];
}

const annotationsIn = (value: unknown): string[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) =>
        key === annotation ? [typeof inner === "string" ? inner : JSON.stringify(inner)] : annotationsIn(inner),
      );

/** Every expression of a capture. */
export const waitsOf = ({ resources }: Pick<Capture, "resources">): Wait[] =>
  resources.flatMap(({ type, name, inputs }) =>
    annotationsIn(mask(inputs)).flatMap((text) =>
      expressions(text).map((expression) => ({ name: `${type} ${name}`, expression })),
    ),
  );

/**
 * The part of the syntax that RFC 9535 (the provider) and kubectl's own dialect (`kubectl wait`) have in common: member names
 * without quotes or backslashes, and wildcards.
 */
const shared = /^(condition=\w+|jsonpath=\{(\.([A-Za-z_]\w*|\*))+\})(=[^=\s'"]+)?$/;

/** Expressions that one of the two parsers may refuse. */
export const unsharedWaits = (capture: Pick<Capture, "resources">): string[] =>
  waitsOf(capture).flatMap(({ name, expression }) =>
    shared.test(expression) ? [] : [`${name} waits for ${expression}`],
  );
