import { cargoBuild } from "../../tools/parts/cargo.ts";
import { pythonWith } from "../../tools/parts/python.ts";

/** A program that drives one client. */
export interface Program {
  readonly name: string;
  readonly command: string;
  readonly arguments: readonly string[];
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

const rustName = "Rust generated";

/** Every client, as a program or with what is missing for it. Installs and builds once what npm does not install. */
export const findPrograms = async (log: (line: string) => void): Promise<(Program | Missing)[]> => {
  const [python, rust] = await Promise.all([
    pythonWith(here("python/requirements.txt"), log),
    cargoBuild(here("rust"), "lakehead-clients", log),
  ]);
  return [
    node("Node remote", "remote.ts"),
    node("Node REST namespace", "rest-namespace.ts"),
    ...Object.entries(pythonPrograms).map(([name, file]) =>
      python.missing === undefined
        ? { name, command: python.python, arguments: ["-u", here(`python/${file}`)] }
        : { name, missing: python.missing },
    ),
    rust.missing === undefined
      ? { name: rustName, command: rust.program, arguments: [] }
      : { name: rustName, missing: rust.missing },
  ];
};
