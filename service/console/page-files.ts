import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { posix } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file of the console as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly content: Buffer<ArrayBuffer>;
  readonly compressed: Buffer<ArrayBuffer>;
}

export interface PageFiles {
  /** Hash of all contents. It is a part of every address, so that each file can be cached forever. */
  readonly version: string;
  /** By path. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** Modules to load at once; the others are large and loaded when they are used. */
  readonly first: readonly string[];
}

interface Package {
  /** File beside the package's entry point; absent: the entry point itself. */
  readonly file?: string;
  /** Global variable and exports of a script that is not a module. */
  readonly script?: { readonly global: string; readonly exports: readonly string[] };
  readonly loadedLater?: true;
}

/** Packages that the page imports by name. */
const packages: Readonly<Record<string, Package>> = {
  preact: {},
  "preact/hooks": {},
  htm: {},
  "d3-hierarchy": {},
  oauth4webapi: { loadedLater: true },
  // The package's modules are five hundred files; its one file is a script.
  "apache-arrow": {
    file: "Arrow.esnext.min.js",
    script: { global: "Arrow", exports: ["tableFromIPC"] },
    loadedLater: true,
  },
};

const types: Readonly<Record<string, string>> = {
  ".ts": "text/javascript; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

const pathOfPackage = (name: string): string => `packages/${name.replaceAll("/", "-")}.js`;

/** Imports of packages by name, in code as written and as minified: `from "preact"`, `from"preact"`, `import("htm")`. */
const packageImport = /(\bfrom\s*|\bimport\s*\(?\s*)"([^"./][^"]*)"/g;

/**
 * Replaces the names of packages in import statements by relative paths. An import map would have to be an inline script.
 * @param path of the importing file, from the root of the page.
 */
export const withRelativePackages = (path: string, code: string): string =>
  code.replace(packageImport, (statement: string, before: string, name: string) => {
    if (!Object.hasOwn(packages, name)) return statement;
    const relative = posix.relative(posix.dirname(path), pathOfPackage(name));
    return `${before}"${relative.startsWith(".") ? relative : `./${relative}`}"`;
  });

const withoutSourceMap = (code: string): string => code.replace(/^\/\/# sourceMappingURL=.*$/m, "");

/** `this` of a script is the global object; here it is an object that no other code sees. */
const asModule = (code: string, { global, exports }: NonNullable<Package["script"]>): string =>
  `const scope = {};\n(function () {\n${code}\n}).call(scope);\nexport const { ${exports.join(", ")} } = scope.${global};\n`;

const readPackage = async ([name, { file, script }]: readonly [string, Package]): Promise<[string, string]> => {
  const entry = import.meta.resolve(name);
  const code = withoutSourceMap(await readFile(new URL(file ?? "", entry), "utf8"));
  const path = pathOfPackage(name);
  return [path, withRelativePackages(path, script === undefined ? code : asModule(code, script))];
};

/** Node warns once that the function is experimental; the page's tests hold what it does. */
const strip = (code: string): string => {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
};

const source = new URL("page/", import.meta.url);

const readOwn = async (path: string): Promise<[string, string]> => {
  const text = await readFile(new URL(path, source), "utf8");
  return [path, path.endsWith(".ts") ? withRelativePackages(path, strip(text)) : text];
};

const compress = promisify(gzip);

/**
 * The files of the console: its own TypeScript without the types, and the packages that it imports.
 * @throws Error if a package is not installed.
 */
export const readPageFiles = async (): Promise<PageFiles> => {
  const names = (await readdir(source, { recursive: true })).map((name) => name.replaceAll("\\", "/")).sort();
  const own = names.filter((name) => /\.(ts|css)$/.test(name));
  const texts = await Promise.all([...own.map(readOwn), ...Object.entries(packages).map(readPackage)]);
  const version = createHash("sha256").update(JSON.stringify(texts)).digest("base64url").slice(0, 16);
  const files = await Promise.all(
    texts.map(async ([path, text]): Promise<[string, PageFile]> => {
      const content = Buffer.from(text);
      const compressed = (await compress(content, { level: 9 })) as Buffer<ArrayBuffer>;
      return [path, { type: types[posix.extname(path)] ?? "application/octet-stream", content, compressed }];
    }),
  );
  const firstPackages = Object.entries(packages).filter(([, { loadedLater }]) => loadedLater !== true);
  return {
    version,
    files: new Map(files),
    first: [...own.filter((path) => path.endsWith(".ts")), ...firstPackages.map(([name]) => pathOfPackage(name))],
  };
};
