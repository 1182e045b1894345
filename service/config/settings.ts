import { z } from "zod";

/**
 * One environment variable: how its text is read, what it means, what it is without one. `variables.ts` holds the table;
 * the README's table and all error messages are made from it.
 */
export interface Setting<T> {
  readonly description: string;
  /** What stands in the README and applies when the variable is not set; undefined where it must be set or may be absent. */
  readonly defaultText?: string;
  /** Never repeated in an error message. */
  readonly secret?: boolean;
  /** @returns the value, or the sentence that says what would be right. */
  readonly read: (text: string | undefined) => { readonly value: T } | { readonly fault: string };
}

type Reader<T> = (text: string) => { readonly value: T } | { readonly fault: string };

const setting = <T>(description: string, reader: Reader<T>, fallback?: { text: string; value: T }): Setting<T> => ({
  description,
  ...(fallback === undefined ? {} : { defaultText: fallback.text }),
  read: (text) =>
    text !== undefined && text !== ""
      ? reader(text)
      : fallback === undefined
        ? { fault: "must be set" }
        : { value: fallback.value },
});

export const required = <T>(description: string, reader: Reader<T>): Setting<T> => setting(description, reader);

export const withDefault = <T>(description: string, reader: Reader<T>, value: T, text = String(value)): Setting<T> =>
  setting(description, reader, { text, value });

export const maybe = <T>(description: string, reader: Reader<T>): Setting<T | undefined> => ({
  description,
  read: (text) => (text === undefined || text === "" ? { value: undefined } : reader(text)),
});

export const secret = <T>(inner: Setting<T>): Setting<T> => ({ ...inner, secret: true });

export const text: Reader<string> = (value) => ({ value });

export const integer =
  (min: number, max: number): Reader<number> =>
  (value) => {
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max
      ? { value: number }
      : { fault: `must be a whole number from ${min} to ${max}` };
  };

export const decimal =
  (min: number, max: number): Reader<number> =>
  (value) => {
    const number = Number(value);
    return /^\d+(\.\d+)?$/.test(value) && number >= min && number <= max
      ? { value: number }
      : { fault: `must be a number from ${min} to ${max}` };
  };

export const choice =
  <const T extends string>(...choices: readonly T[]): Reader<T> =>
  (value) => {
    const found = choices.find((entry) => entry === value);
    return found === undefined ? { fault: `must be one of ${choices.join(", ")}` } : { value: found };
  };

export const flag: Reader<boolean> = (value) =>
  value === "true" || value === "false" ? { value: value === "true" } : { fault: "must be true or false" };

export const list: Reader<readonly string[]> = (value) => {
  const entries = value.split(",").map((entry) => entry.trim());
  return entries.every((entry) => entry !== "")
    ? { value: entries }
    : { fault: "must be a list with commas, without empty entries" };
};

/** JSON checked by a zod schema; `shape` says in words what is expected. */
export const json =
  <T>(schema: z.ZodType<T>, shape: string): Reader<T> =>
  (value) => {
    try {
      const parsed = schema.safeParse(JSON.parse(value));
      if (parsed.success) return { value: parsed.data };
      const [issue] = parsed.error.issues;
      const path = issue === undefined ? "" : z.core.toDotPath(issue.path);
      return { fault: `must be JSON, ${shape}; ${path === "" ? "" : `at ${path}: `}${issue?.message ?? "not valid"}` };
    } catch {
      return { fault: `must be JSON, ${shape}` };
    }
  };

/** The values of a table of settings, under the same keys. */
export type Values<S extends Readonly<Record<string, Setting<unknown>>>> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

/** Several faults of an environment, one a line: variable, value, what would be right. */
export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the environment is not valid:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.name = "SettingsError";
    this.faults = faults;
  }
}

const shown = (value: string | undefined, hidden: boolean): string =>
  value === undefined ? "" : hidden ? "=(hidden)" : `=${JSON.stringify(value.slice(0, 100))}`;

/**
 * Reads every variable of the table.
 * @throws SettingsError with all faults together, among them variables of the prefix that the table does not know.
 */
export const readSettings = <S extends Readonly<Record<string, Setting<unknown>>>>(
  table: S,
  environment: Readonly<Record<string, string | undefined>>,
  prefix: string,
): Values<S> => {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(table)) {
    const result = entry.read(environment[name]);
    if ("value" in result) values[name] = result.value;
    else
      faults.push(`${name}${shown(environment[name], entry.secret === true)} ${result.fault} (${entry.description})`);
  }
  for (const name of Object.keys(environment))
    if (name.startsWith(prefix) && !Object.hasOwn(table, name))
      faults.push(`${name} is not a variable of this service: correct its name or remove it`);
  if (faults.length > 0) throw new SettingsError(faults);
  return values as Values<S>;
};
