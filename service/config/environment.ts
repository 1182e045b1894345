import { z } from "zod";
import { variables } from "./schema.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** All faults of an environment, one a line: variable, value, remedy. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`invalid environment:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.faults = faults;
  }
}

/** The variables that are set, nested like the schema. An empty variable counts as not set. */
const nested = (environment: Environment): object => {
  const root: Record<string, unknown> = {};
  for (const { name, path } of variables) {
    const object = path.slice(0, -1).reduce((outer, key) => {
      outer[key] ??= {};
      return outer[key] as Record<string, unknown>;
    }, root);
    if (environment[name]) object[path.at(-1) ?? ""] = environment[name];
  }
  return root;
};

const shown = (value: string | undefined, secret = false): string => {
  if (!value) return "";
  return secret || /:\/\/[^/]*@/.test(value) ? "=(hidden)" : `=${JSON.stringify(value.slice(0, 100))}`;
};

const faultOf = ({ path, message }: z.core.$ZodIssue, environment: Environment): string => {
  const variable = variables.find((each) => each.path.every((key, index) => key === path[index]));
  if (variable === undefined) throw new Error(`no variable at ${z.core.toDotPath(path)}: ${message}`);
  const { name, secret, description } = variable;
  const inner = path.slice(variable.path.length);
  const place = inner.length === 0 ? "" : ` at ${z.core.toDotPath(inner)}:`;
  return `${name}${shown(environment[name], secret)}${place} ${message} (${description})`;
};

const prefix = "LAKEHEAD_";

/** Variables of the service's users, for examples and `npm run verify`. A shell that has them may start a service, too. */
const usersVariables: ReadonlySet<string> = new Set(["LAKEHEAD_TOKEN", "LAKEHEAD_URL"]);

/**
 * Reads environment variables by a schema of some of them.
 * @throws ConfigError with every invalid variable, and every unknown one of the service's prefix.
 */
export const parseEnvironment = <T>(part: z.ZodType<T>, environment: Environment): T => {
  const parsed = part.safeParse(nested(environment));
  const faults = [
    ...(parsed.error?.issues ?? []).map((issue) => faultOf(issue, environment)),
    ...Object.keys(environment)
      .filter((name) => name.startsWith(prefix) && !usersVariables.has(name))
      .filter((name) => !variables.some((variable) => variable.name === name))
      .map((name) => `${name} is not a variable of this service: correct its name or remove it`),
  ];
  if (parsed.data === undefined || faults.length > 0) throw new ConfigError(faults);
  return parsed.data;
};
