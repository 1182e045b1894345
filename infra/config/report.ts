import type { z } from "zod";

/** One thing that is wrong, or doubtful, with a configuration. */
export interface Finding {
  /** `error` stops the program before the first resource; `warning` is only said. */
  readonly level: "error" | "warning";
  /** The key as in `Pulumi.<stack>.yaml` below the project's namespace, such as `nodes.head.min`. */
  readonly key: string;
  /** The value that was given, or undefined when the key is missing. */
  readonly value: unknown;
  /** What is wrong. */
  readonly problem: string;
  /** What to write instead. */
  readonly remedy: string;
}

/** A finding that stops the program. */
export function refuse(key: string, value: unknown, problem: string, remedy: string): Finding {
  return { level: "error", key, value, problem, remedy };
}

/** A finding that is only said. */
export function doubt(key: string, value: unknown, problem: string, remedy: string): Finding {
  return { level: "warning", key, value, problem, remedy };
}

/** Thrown with every error of a configuration at once. Its message is what the user reads. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    const errors = findings.filter((finding) => finding.level === "error");
    const head = `The stack's configuration has ${errors.length === 1 ? "an error" : `${errors.length} errors`}:`;
    super([head, ...errors.map(describeFinding)].join("\n"));
    this.findings = findings;
  }
}

/** `  lakehead:nodes.head.min = 0: <problem>. <remedy>` */
export function describeFinding({ key, value, problem, remedy }: Finding): string {
  const given = value === undefined ? "is missing" : `= ${short(value)}`;
  return `  lakehead:${key} ${given}: ${problem}${remedy === "" ? "" : `; ${remedy}`}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

/** The schema's issues as findings; the schema's own messages are the remedies. */
export function findingsOf(error: z.ZodError, raw: unknown): Finding[] {
  return error.issues.flatMap((issue): Finding[] => {
    const path = issue.path.map(String);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        level: "error",
        key: [...path, key].join("."),
        value: at(raw, [...path, key]),
        problem: "there is no such key",
        remedy: "remove it, or correct it by docs/stack-configuration.md",
      }));
    }
    const value = at(raw, path);
    return [
      {
        level: "error",
        key: path.join("."),
        value,
        problem: value === undefined ? "the key is required" : "the value does not fit",
        remedy: `expected ${issue.message.replace(/^Invalid (input|option): expected /, "")}`,
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
