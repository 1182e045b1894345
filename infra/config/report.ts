import type { z } from "zod";

/** One thing that is wrong or doubtful in a configuration. */
export interface Finding {
  /** An `error` stops the program before the first resource; a `warning` is only logged. */
  readonly level: "error" | "warning";
  /** The key in `Pulumi.<stack>.yaml` below the project's namespace, such as `nodes.head.min`, or with another namespace. */
  readonly key: string;
  /** The configured value, or undefined when the key is missing; a check leaves it out where the configuration has it. */
  readonly value?: unknown;
  /** What is wrong. */
  readonly problem: string;
  /** What to write instead. */
  readonly remedy: string;
}

/** A key, or a key with a value that the configuration does not have there, such as one item of a list. */
type Place = string | readonly [key: string, value: unknown];

const findingIf =
  (level: Finding["level"]) =>
  /** One finding when the condition holds, otherwise nothing. */
  (condition: boolean, place: Place, problem: string, remedy: string): Finding[] => {
    const at = typeof place === "string" ? { key: place } : { key: place[0], value: place[1] };
    return condition ? [{ level, ...at, problem, remedy }] : [];
  };

export const errorIf = findingIf("error");
export const warningIf = findingIf("warning");

/** Every error of a configuration at once. The user reads its message. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly findings: readonly Finding[];

  /** @param namespace the project's own, of the keys that have none */
  constructor(findings: readonly Finding[], namespace?: string) {
    const errors = findings.filter((finding) => finding.level === "error");
    const head = `The stack's configuration has ${errors.length === 1 ? "an error" : `${errors.length} errors`}:`;
    super([head, ...errors.map((finding) => describeFinding(finding, namespace))].join("\n"));
    this.findings = findings;
  }
}

/** The keys of a project's own namespace contain a colon only below their first part. */
const hasNamespace = /^[^.:]+:/;

/** `  lakehead:nodes.head.min = 0: <problem>; <remedy>` */
export function describeFinding({ key, value, problem, remedy }: Finding, namespace = "lakehead"): string {
  const given = value === undefined ? "is missing" : `= ${short(value)}`;
  return `  ${hasNamespace.test(key) ? "" : `${namespace}:`}${key} ${given}: ${problem}${remedy === "" ? "" : `; ${remedy}`}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

/**
 * The schema's issues as findings; the schema's own messages are the remedies.
 * @param page the documentation of the keys
 */
export function findingsOf(error: z.ZodError, raw: unknown, page: string): Finding[] {
  return error.issues.flatMap((issue): Finding[] => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        level: "error",
        key: [...path, key].join("."),
        value: at(raw, [...path, key]),
        problem: "the key does not exist",
        remedy: `remove it, or find its name in ${page}`,
      }));
    }
    const value = at(raw, path);
    return [
      {
        level: "error",
        key: path.join("."),
        value,
        problem: value === undefined ? "the key is required" : "the value is invalid",
        remedy: `expected ${issue.message}`,
      },
    ];
  });
}

/** The value at a path of a plain object, or undefined. */
export function at(raw: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined,
    raw,
  );
}
