/** Geneva's client from PyPI, as a user installs it from a stack's output `clientRequirements`. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ray } from "../../infra/versions.ts";
import { cachePath } from "../../tools/parts/cache.ts";
import { type Python, pythonWith } from "../../tools/parts/python.ts";

const run = promisify(execFile);
type Log = (line: string) => void;

/** uv's program, or what is missing for it. */
export async function findUv(log: Log): Promise<{ uv: string; missing?: never } | { missing: string; uv?: never }> {
  const { python, missing } = await pythonWith(fileURLToPath(new URL("requirements.txt", import.meta.url)), log);
  return python === undefined ? { missing } : { uv: join(dirname(python), "uv") };
}

/** An interpreter of the pods' Python with the packages, made once for its requirements, or what is missing for it. */
export async function installClient(uv: string, requirements: string, log: Log): Promise<Python> {
  const key = createHash("sha256").update(requirements).digest("hex").slice(0, 12);
  const home = cachePath(`geneva-${key}`);
  const complete = join(home, "complete");
  const python = join(home, "bin", "python");
  if (existsSync(complete)) return { python };
  log(`installing the client's requirements into ${home} (once) …`);
  try {
    await mkdir(dirname(home), { recursive: true });
    // With pyenv, the name of an interpreter on PATH works only where its version is selected.
    const env = { ...process.env, PYENV_VERSION: ray.python };
    await run(uv, ["venv", "--quiet", "--clear", "--no-python-downloads", "--python", ray.python, home], { env });
    await withFile(requirements, (file) =>
      run(uv, ["pip", "install", "--quiet", "--native-tls", "--python", python, "-r", file], { maxBuffer: 2 ** 24 }),
    );
    await writeFile(complete, "");
    return { python };
  } catch (error) {
    return { missing: lastLines(error) };
  }
}

/** What does not resolve for the pods' Python; undefined when it does. */
export const unresolved = (uv: string, text: string): Promise<string | undefined> =>
  withFile(text, (file) =>
    run(uv, ["pip", "compile", "--quiet", "--native-tls", "--python-version", ray.python, file], {
      maxBuffer: 2 ** 24,
    }).then(() => undefined, lastLines),
  );

async function withFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "lakehead-geneva-"));
  try {
    const file = join(folder, "requirements.txt");
    await writeFile(file, text);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const lastLines = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split("\n").slice(-6).join(" ");
};
