import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pythonWith } from "../../tools/parts/python.ts";
import { startReadyServiceProcess } from "../support/service-process.ts";
import { keys } from "./world.ts";

const folder = fileURLToPath(new URL("../../docs/examples/", import.meta.url));
const execute = promisify(execFile);

export interface Example {
  readonly name: string;
  /** Its fault, or why it cannot run here; neither if it ended well. */
  readonly fault?: string;
  readonly missing?: string;
}

/** Runs every program of docs/examples as its reader does, each against a service of its own with an empty database. */
export const runExamples = async (log: (line: string) => void): Promise<readonly Example[]> => {
  const python = await pythonWith(fileURLToPath(new URL("python/requirements.txt", import.meta.url)), log);
  const commands: Readonly<Record<string, { readonly command: string; readonly needsPython: boolean }>> = {
    ".py": { command: python.python ?? "", needsPython: true },
    ".sh": { command: "sh", needsPython: true },
    ".ts": { command: process.execPath, needsPython: false },
  };
  const examples: Example[] = [];
  for (const file of (await readdir(folder)).sort()) {
    const name = `docs/examples/${basename(file)}`;
    const how = commands[extname(file)];
    if (how === undefined) examples.push({ name, fault: "no command runs such a file" });
    else if (how.needsPython && python.python === undefined) examples.push({ name, missing: python.missing });
    else examples.push(await runExample(name, how.command, `${folder}${file}`, python.python));
  }
  return examples;
};

const runExample = async (
  name: string,
  command: string,
  file: string,
  python: string | undefined,
): Promise<Example> => {
  const database = await mkdtemp(join(tmpdir(), "lakehead-example-"));
  const environment = { LAKEHEAD_DATABASE: database, LAKEHEAD_WRITES: "on" };
  const service = await startReadyServiceProcess({ environment });
  // `python3` of a shell script is the one with pyarrow.
  const path = [...(python === undefined ? [] : [dirname(python)]), process.env.PATH].join(":");
  const env = { ...process.env, PATH: path, LAKEHEAD_URL: service.base, LAKEHEAD_TOKEN: keys.all };
  try {
    await execute(command, [file], { env, timeout: 120_000 });
    return { name };
  } catch (error) {
    const { stderr = "" } = error as { readonly stderr?: string };
    return { name, fault: `${String(error).slice(0, 300)} ${stderr.slice(-1000)}` };
  } finally {
    await service.stop();
    await rm(database, { recursive: true, force: true });
  }
};
