import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Script } from "./bundle.ts";

/** A file of the console as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly content: Buffer<ArrayBuffer>;
  readonly compressed: Buffer<ArrayBuffer>;
}

export interface PageFiles {
  /** Hash of all contents. It is a part of every address, so that each file can be cached forever. */
  readonly version: string;
  /** By name. */
  readonly files: ReadonlyMap<string, PageFile>;
}

const run = promisify(execFile);
const compress = promisify(gzip);

/** The sheets of `style.css`, in the order of their rules. */
const sheets = "base frame tables query plan measures narrow changes rows uploads".split(" ");

const maxScriptBytes = 16 * 2 ** 20;

const readScripts = async (): Promise<readonly Script[]> => {
  const program = fileURLToPath(new URL("bundle.ts", import.meta.url));
  const { stdout } = await run(process.execPath, [program], { maxBuffer: maxScriptBytes });
  return JSON.parse(stdout) as readonly Script[];
};

/**
 * The files of the console: `main.js`, the scripts that it loads later, and `style.css`.
 * @throws Error if a package of the page is not installed.
 */
export const readPageFiles = async (): Promise<PageFiles> => {
  const [scripts, ...styles] = await Promise.all([
    readScripts(),
    ...sheets.map((name) => readFile(new URL(`page/style/${name}.css`, import.meta.url), "utf8")),
  ]);
  const texts = [
    ...scripts.map(({ name, code }) => ({ name, type: "text/javascript; charset=utf-8", text: code })),
    { name: "style.css", type: "text/css; charset=utf-8", text: styles.join("\n") },
  ];
  const files = texts.map(async ({ name, type, text }): Promise<[string, PageFile]> => {
    const content = Buffer.from(text);
    const compressed = (await compress(content, { level: 9 })) as Buffer<ArrayBuffer>;
    return [name, { type, content, compressed }];
  });
  return {
    version: createHash("sha256").update(JSON.stringify(texts)).digest("base64url").slice(0, 16),
    files: new Map(await Promise.all(files)),
  };
};
