import { errorIf, type Finding } from "./report.ts";

/** Values that the example stacks share with documentation, and that no deployment can use. */
const placeholders: readonly (readonly [pattern: RegExp, problem: string, remedy: string])[] = [
  [
    /\b(111122223333|444455556666|123456789012)\b/,
    "the account id is a placeholder of AWS's documentation",
    "write your own account's id",
  ],
  [/^Z0EXAMPLE/, "the zone is a placeholder of the example stacks", "write the id of your own zone"],
  [/\bexample-lakehead/, "the name is a placeholder of the example stacks", "write your own name"],
  [/(^|[/@.])example\.(com|net|org)\b/, "the domain is reserved for documentation (RFC 2606)", "write your own domain"],
  [
    /^(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+(\/|$)/,
    "the network is reserved for documentation (RFC 5737)",
    "write your own network",
  ],
];

/** An error for each value that is left from an example. */
export function findPlaceholders(raw: Readonly<Record<string, unknown>>): Finding[] {
  return Object.entries(raw).flatMap(([key, value]) => findIn(key, value));
}

function findIn(key: string, value: unknown): Finding[] {
  if (typeof value === "string")
    return placeholders
      .filter(([pattern]) => pattern.test(value))
      .slice(0, 1)
      .flatMap(([, problem, remedy]) => errorIf(true, [key, value], problem, remedy));
  if (Array.isArray(value)) return value.flatMap((item) => findIn(key, item));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => findIn(`${key}.${name}`, item));
}
