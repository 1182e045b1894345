import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { CaseResult, Introduction } from "../result.ts";
import type { World } from "../world.ts";
import type { Say } from "./checks.ts";

const { argv, stdin, stdout } = process;

export const world: World = JSON.parse(await readFile(argv[2] ?? "", "utf8"));

const input = createInterface({ input: stdin });
const acknowledgements = input[Symbol.asyncIterator]();

/** Ends the process when its output is no longer read. */
export const finish = (): void => input.close();

const print = async (line: Introduction | CaseResult): Promise<void> => {
  stdout.write(`${JSON.stringify(line)}\n`);
  await acknowledgements.next();
};

/** Prints the client's name and then each case, see test/clients/result.ts. */
export const startReport = async (client: string, version: string): Promise<Say> => {
  await print({ client, version });
  return async (operation, name, check) => {
    const fault = await check().then(
      () => undefined,
      (error: unknown) => String(error).slice(0, 400),
    );
    await print({ client, operation, case: name, ok: fault === undefined, detail: fault ?? "" });
  };
};

/**
 * Records which methods of an object were called, so that methods of a new client version are not missed.
 */
export const watched = <Subject extends object>(subject: Subject, seen: Set<string>): Subject =>
  new Proxy(subject, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      seen.add(String(name));
      return value.bind(target);
    },
  });

/** Methods that were never called, apart from `local` ones, which send no request. */
export const unseen = (subject: object, seen: ReadonlySet<string>, local: readonly string[]): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(subject)).filter(
    (name) => name !== "constructor" && !name.startsWith("_") && !seen.has(name) && !local.includes(name),
  );
