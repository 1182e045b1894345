import { parseArgs } from "node:util";

/** The value of an option: a number, numbers separated by commas, or a switch that is off without it. */
type Value = number | readonly number[] | false;

export interface Option {
  readonly default: Value;
  readonly help: string;
}

type Read<V> = V extends number ? number : V extends readonly number[] ? readonly number[] : boolean;

const numbersOf = (name: string, text: string, least: number): number[] => {
  const numbers = text.split(",").map(Number);
  if (numbers.every((number) => number >= least)) return numbers;
  throw new Error(`--${name} ${text}: write ${least === 0 ? "numbers of at least 0" : "numbers greater than 0"}`);
};

const readValue = (name: string, option: Option, given: string | boolean | undefined): number | number[] | boolean => {
  if (typeof given !== "string") return given ?? (option.default as number | number[] | boolean);
  // Zero switches an option off, and only options that are off by default can be.
  const numbers = numbersOf(name, given, option.default === 0 ? 0 : Number.MIN_VALUE);
  if (Array.isArray(option.default)) return numbers;
  const [number = 0, ...others] = numbers;
  if (others.length > 0) throw new Error(`--${name} ${given}: write one number`);
  return number;
};

const usageOf = (command: string, options: Readonly<Record<string, Option>>): string =>
  [
    `usage: npm run ${command} -- [options]`,
    ...Object.entries(options).map(([name, option]) => {
      const value = option.default === false ? "" : ` ${String(option.default)}`;
      return `  ${`--${name}${value}`.padEnd(26)}${option.help}`;
    }),
    "",
  ].join("\n");

/**
 * Reads the command line of a measurement. Prints the usage and ends the process for `--help` (exit code 0) and for an
 * invalid option (exit code 2).
 * @param command the npm script.
 * @param options by name, each with its default.
 */
export const readOptions = <const O extends Readonly<Record<string, Option>>>(
  command: string,
  options: O,
): { readonly [K in keyof O]: Read<O[K]["default"]> } => {
  const usage = usageOf(command, options);
  try {
    const { values } = parseArgs({
      options: {
        help: { type: "boolean" },
        ...Object.fromEntries(
          Object.entries(options).map(([name, option]) => [
            name,
            { type: option.default === false ? "boolean" : "string" } as const,
          ]),
        ),
      },
    });
    if (values.help === true) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const read = Object.entries(options).map(([name, option]) => [
      name,
      readValue(name, option, (values as Readonly<Record<string, string | boolean | undefined>>)[name]),
    ]);
    return Object.fromEntries(read);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
};
