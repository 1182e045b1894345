import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { javaWith } from "../../../tools/parts/java.ts";
import { pythonWith } from "../../../tools/parts/python.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const run = promisify(execFile);

/** Runs a client's program, which finds nothing of a cloud on this machine. @returns the operations that it did. */
const operationsDone = async (
  file: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-client-"));
  try {
    const { stdout } = await run(file, args, {
      env: {
        PATH: process.env.PATH,
        HOME: home,
        LANCE_LOG: "error",
        RAY_USAGE_STATS_ENABLED: "0",
        SPARK_LOCAL_IP: "127.0.0.1",
        ...environment,
      },
      timeout: 400_000,
      maxBuffer: 16 * 2 ** 20,
    });
    return [...stdout.matchAll(/^done: (.*)$/gm)].map(([, operation = ""]) => operation);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

/** The interpreter with the clients of Python, or what is missing for it. */
export const clientsPython = (log: (line: string) => void) => pythonWith(here("requirements.txt"), log);

/** The class path of Spark, or what is missing for it. */
export const sparkClasses = (log: (line: string) => void) => javaWith(here("spark/pom.xml"), log);

/** @param seconds that one write takes. @param parameters of a namespace, as lance-ray names them. */
export const inPython = (
  python: string,
  client: string,
  seconds: number,
  parameters: object,
  environment?: Readonly<Record<string, string>>,
): Promise<readonly string[]> =>
  operationsDone(python, [here("clients.py"), client, String(seconds), JSON.stringify(parameters)], environment);

/** Packages of Java's base module into which Spark 3.5 looks, as its own scripts open them. */
const opened = ["lang", "lang.invoke", "net", "nio", "util", "util.concurrent"]
  .map((name) => `java.${name}`)
  .concat("sun.nio.ch", "sun.security.action", "sun.util.calendar")
  .map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);

export const inSpark = async (
  classPath: string,
  seconds: number,
  base: string,
  token: string,
): Promise<readonly string[]> => {
  // Executors find no function of a class that Java compiles when it starts.
  const classes = await mkdtemp(join(tmpdir(), "lakehead-classes-"));
  try {
    await run("javac", ["-d", classes, "-cp", classPath, here("spark/TokenAlone.java")]);
    const path = [classes, classPath].join(delimiter);
    return await operationsDone("java", [...opened, "-cp", path, "TokenAlone", base, token, String(seconds)]);
  } finally {
    await rm(classes, { recursive: true, force: true });
  }
};
