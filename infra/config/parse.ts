import { z } from "zod";
import { at, ConfigError, type Finding, findingsOf } from "./report.ts";

const nouns: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map of keys",
  record: "a map of keys",
};

/** `at least 2 items`: bounds of lists, texts and numbers. */
function bound(direction: "at least" | "at most", limit: unknown, origin: string): string {
  const unit = { array: "item", string: "character" }[origin];
  return `${direction} ${limit}${unit === undefined ? "" : ` ${unit}${limit === 1 ? "" : "s"}`}`;
}

/** What a field expects, where its schema has no message of its own. The library's messages never reach the user. */
function expectation(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return nouns[issue.expected] ?? "another type of value";
    case "invalid_value":
      return issue.values.length === 1 ? JSON.stringify(issue.values[0]) : `one of ${issue.values.join(", ")}`;
    case "too_small":
      return bound("at least", issue.minimum, issue.origin);
    case "too_big":
      return bound("at most", issue.maximum, issue.origin);
    case "invalid_format":
      return issue.pattern === undefined ? "text of another format" : `text that matches ${issue.pattern}`;
    case "invalid_key":
      return `a key that is ${issue.issues[0]?.message ?? "valid"}`;
    default:
      return "another value";
  }
}

/** What parsing needs to know about a stack's configuration. `clouds/schema.ts` has the project's own. */
export interface StackDefinition<Config, SecretKey extends string> {
  /** The namespace of the keys, in messages. */
  readonly namespace: string;
  /** The documentation of the keys, in messages. */
  readonly page: string;
  /** One object schema for each value of the key `cloud`. */
  readonly schema: z.ZodType<Config> & { readonly options: readonly z.ZodObject[] };
  /** Keys that are read as secrets and never pass through the schema, with their descriptions. */
  readonly secrets: Readonly<Record<SecretKey, string>>;
  /** A valid value for each required key of a cloud. */
  readonly placeholders: (cloud: unknown) => Readonly<Record<string, unknown>>;
  /** What a configuration leaves off, each with its key: for the offline plan. */
  readonly off?: (config: Config) => readonly string[];
  /** Finds what no single key shows. */
  readonly check: (config: Config, context: CheckContext) => Finding[];
}

export interface CheckContext {
  /** The secrets that the stack sets; checks do not need their values. */
  readonly secrets: ReadonlySet<string>;
  /** The day on which versions must be supported. */
  readonly today: Date;
}

/** The secrets are none by default, the day is today. */
export interface ParseOptions extends Partial<CheckContext> {
  /** Findings about the stack's file as a whole, reported with the others. */
  readonly found?: readonly Finding[];
}

/**
 * Checks a whole configuration at once.
 * @param raw the stack's keys without the project's namespace, values already decoded from JSON
 * @returns the configuration with every default filled in, and its warnings
 * @throws ConfigError with every error of the file and the schema, and every error between the keys that the schema accepts
 */
export function parseConfig<Config, SecretKey extends string>(
  definition: StackDefinition<Config, SecretKey>,
  raw: unknown,
  { secrets = new Set(), today = new Date(), found = [] }: ParseOptions = {},
): { config: Config; warnings: Finding[] } {
  const context = { secrets, today };
  const parsed = definition.schema.safeParse(raw, { error: expectation });
  if (parsed.success) {
    const findings = [...found, ...checked(definition, parsed.data, context)];
    if (findings.some(({ level }) => level === "error")) throw new ConfigError(findings, definition.namespace);
    return { config: parsed.data, warnings: findings };
  }
  const invalid = findingsOf(parsed.error, raw, definition.page);
  throw new ConfigError(
    [...found, ...invalid, ...checkValidKeys(definition, raw, invalid, context)],
    definition.namespace,
  );
}

/** What the checks find, each with the value of its key. */
function checked<Config, SecretKey extends string>(
  { check }: StackDefinition<Config, SecretKey>,
  config: Config,
  context: CheckContext,
): Finding[] {
  return check(config, context).map((finding) => ({ value: at(config, finding.key.split(".")), ...finding }));
}

/** The project's own keys, decoded: the engine passes every value as text, objects and numbers as JSON. */
export function rawConfig<Config, SecretKey extends string>(
  { schema, secrets }: StackDefinition<Config, SecretKey>,
  all: Readonly<Record<string, string>>,
  project: string,
): Record<string, unknown> {
  const textKeys = textKeysOf(schema.options);
  const own = Object.entries(all).flatMap(([name, text]): [string, unknown][] => {
    if (!name.startsWith(`${project}:`)) return [];
    const key = name.slice(project.length + 1);
    return Object.hasOwn(secrets, key) ? [] : [[key, textKeys.has(key) ? text : decode(text)]];
  });
  return Object.fromEntries(own);
}

/** The top-level keys whose values are text: "1.35" and an account id must not become numbers. */
function textKeysOf(options: readonly z.ZodObject[]): ReadonlySet<string> {
  const fields = options.flatMap(({ shape }) => Object.entries(shape));
  const isText = (field: z.core.$ZodType) =>
    z.toJSONSchema(field, { io: "input", unrepresentable: "any" }).type === "string";
  return new Set(fields.flatMap(([key, field]) => (isText(field) ? [key] : [])));
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Checks between keys without the invalid ones, so that a typing error does not hide a sizing error. */
function checkValidKeys<Config, SecretKey extends string>(
  definition: StackDefinition<Config, SecretKey>,
  raw: unknown,
  invalid: readonly Finding[],
  context: CheckContext,
): Finding[] {
  if (typeof raw !== "object" || raw === null) return [];
  const rest = structuredClone(raw) as Record<string, unknown>;
  const bad = invalid.map(({ key }) => key);
  for (const key of bad) {
    const path = key.split(".");
    const parent = path.slice(0, -1);
    removeKey(rest, Array.isArray(at(rest, parent)) ? parent : path);
  }
  const parsed = definition.schema.safeParse(withPlaceholders(rest, definition.placeholders(rest.cloud)));
  if (!parsed.success) return [];
  return checked(definition, parsed.data, context).filter(
    ({ key, problem }) =>
      !problem.includes("placeholder") &&
      !bad.some((other) => key === other || key.startsWith(`${other}.`) || other.startsWith(`${key}.`)),
  );
}

function withPlaceholders(
  rest: Readonly<Record<string, unknown>>,
  placeholders: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const filled = Object.entries(placeholders).map(([key, placeholder]): [string, unknown] => {
    const given = rest[key];
    const both = typeof given === "object" && typeof placeholder === "object";
    return [key, both ? { ...placeholder, ...given } : (given ?? placeholder)];
  });
  return { ...rest, ...Object.fromEntries(filled) };
}

function removeKey(root: unknown, path: readonly string[]): void {
  const parent = at(root, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent === "object" && parent !== null && last !== undefined) {
    delete (parent as Record<string, unknown>)[last];
  }
}
