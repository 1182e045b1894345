import { cargoBuild } from "../../tools/parts/cargo.ts";
import { javaWith } from "../../tools/parts/java.ts";
import { npmWith } from "../../tools/parts/npm.ts";
import { type Python, pythonOverlay, pythonWith } from "../../tools/parts/python.ts";

/** A program that drives one client. */
export interface Program {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A client that cannot run on this machine, and the reason. */
export interface Missing {
  readonly name: string;
  readonly missing: string;
}

const here = (path: string): string => new URL(path, import.meta.url).pathname;

const node = (name: string, file: string): Program => ({
  name,
  command: process.execPath,
  arguments: [here(`node/${file}`)],
});

const pythonPrograms = {
  "Python remote": "remote_sync.py",
  "Python remote async": "remote_async.py",
  "Python REST namespace": "connect_namespace.py",
  "pylance REST namespace": "rest_namespace.py",
  "Python generated": "generated.py",
} as const;

/** Older releases of LanceDB's Python client that people have. */
const olderPython = ["0.21.2", "0.27.1", "0.30.2", "0.36.0", "0.38.0"] as const;

const findOlderPython = async (
  python: Python,
  version: string,
  log: (line: string) => void,
): Promise<Program | Missing> => {
  const name = `Python remote ${version.replace(/\.\d+$/, "")}`;
  if (python.missing !== undefined) return { name, missing: python.missing };
  const overlay = await pythonOverlay(python.python, "lancedb", version, log);
  if (overlay.missing !== undefined) return { name, missing: overlay.missing };
  const environment = { PYTHONPATH: overlay.folder };
  return { name, command: python.python, arguments: ["-u", here("python/remote_older.py")], environment };
};

/** Older releases of LanceDB's Node client that people have. */
const olderNode = ["0.15", "0.21"] as const;

const findOlderNode = async (version: string, log: (line: string) => void): Promise<Program | Missing> => {
  const name = `Node remote ${version}`;
  const packages = await npmWith(here(`node/older/${version}`), log);
  if (packages.missing !== undefined) return { name, missing: packages.missing };
  return { ...node(name, "remote-older.ts"), environment: { LAKEHEAD_CLIENT: packages.folder } };
};

const javaName = "Java generated";

/** The generated Rust client: the newest release, and an older one whose functions take other arguments. */
const rustPrograms = {
  "Rust generated": { folder: "rust", program: "lakehead-clients" },
  "Rust generated 0.4": { folder: "rust-older", program: "lakehead-clients-older" },
} as const;

/** One after the other: both use one build folder. */
const buildRust = async (log: (line: string) => void): Promise<(Program | Missing)[]> => {
  const programs: (Program | Missing)[] = [];
  for (const [name, { folder, program }] of Object.entries(rustPrograms)) {
    const built = await cargoBuild(here(folder), program, log);
    programs.push(
      built.missing === undefined ? { name, command: built.program, arguments: [] } : { name, missing: built.missing },
    );
  }
  return programs;
};

/** Every client, as a program or with what is missing for it. Installs and builds once what npm does not install. */
export const findPrograms = async (log: (line: string) => void): Promise<(Program | Missing)[]> => {
  const [java, python, rust] = await Promise.all([
    javaWith(here("java/pom.xml"), log),
    pythonWith(here("python/requirements.txt"), log),
    buildRust(log),
  ]);
  const older = await Promise.all([
    ...olderPython.map((version) => findOlderPython(python, version, log)),
    ...olderNode.map((version) => findOlderNode(version, log)),
  ]);
  return [
    node("Node remote", "remote.ts"),
    node("Node REST namespace", "rest-namespace.ts"),
    ...Object.entries(pythonPrograms).map(([name, file]) =>
      python.missing === undefined
        ? { name, command: python.python, arguments: ["-u", here(`python/${file}`)] }
        : { name, missing: python.missing },
    ),
    ...older,
    java.missing === undefined
      ? { name: javaName, command: "java", arguments: ["-cp", java.classPath, here("java/Client.java")] }
      : { name: javaName, missing: java.missing },
    ...rust,
  ];
};
