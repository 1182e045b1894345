/** Shared by the commands of a stack: options, `--root`, `--help`, and exit codes. */

import { fileURLToPath } from "node:url";
import { type ParseArgsConfig, parseArgs } from "node:util";

/** Wrong usage of a command: exit code 2, and the usage is printed. */
export class UsageError extends Error {}

const commonOptions = {
  root: { type: "string", default: fileURLToPath(new URL("../", import.meta.url)) },
  help: { type: "boolean", short: "h", default: false },
} as const satisfies ParseArgsConfig["options"];

/** @throws UsageError for an option that is not listed, or that lacks its value */
export function readArguments<const Options extends NonNullable<ParseArgsConfig["options"]>>(options: Options) {
  try {
    return parseArgs({ options: { ...commonOptions, ...options }, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

type ErrorClass = abstract new (...args: never[]) => Error;

/** Runs a command. Prints the message of an expected error, and the stack of any other. */
export async function runCommand(
  usage: string,
  expected: readonly ErrorClass[],
  command: () => Promise<void>,
): Promise<void> {
  try {
    await command();
  } catch (error) {
    const isExpected = [UsageError, ...expected].some((kind) => error instanceof kind);
    process.stderr.write(`${error instanceof Error ? (isExpected ? error.message : error.stack) : String(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${usage}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
