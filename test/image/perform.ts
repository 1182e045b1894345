import { existsSync } from "node:fs";
import { cp, mkdir, readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { mustRun, pinnedPath } from "./command.ts";
import { type Instruction, isIgnored, parseDockerfile, type Stage } from "./dockerfile.ts";

const repository = join(import.meta.dirname, "..", "..");

export const readProjectFile = (name: string): Promise<string> => readFile(join(repository, name), "utf8");

/** Root directory of a stage on this machine: the files of its steps, without the base image. */
interface Place {
  readonly root: string;
  readonly stage: Stage;
  workdir: string;
}

const inside = ({ root, workdir }: Place, path: string): string =>
  join(root, isAbsolute(path) ? path : join(workdir, path));

/** Sources of a COPY: from the repository without ignored files, or from an earlier stage. */
const copySource = (source: string, from: Place | undefined, ignore: string) => {
  if (from === undefined)
    return {
      path: join(repository, source),
      filter: (path: string) => !isIgnored(ignore, relative(repository, path)),
    };
  const path = inside(from, source);
  // A file of the base image: this machine's replaces it.
  return { path: existsSync(path) ? path : source, filter: () => true };
};

const copy = async (
  { from, sources, to }: Extract<Instruction, { kind: "copy" }>,
  place: Place,
  earlier: readonly Place[],
  ignore: string,
): Promise<void> => {
  const stage = from === undefined ? undefined : earlier.find((other) => other.stage.name === from);
  if (from !== undefined && stage === undefined) throw new Error(`COPY --from=${from}: there is no such stage`);
  for (const source of sources) {
    const { path, filter } = copySource(source, stage, ignore);
    if (!filter(path)) throw new Error(`COPY ${source}: .dockerignore keeps it out`);
    const target = inside(place, to.endsWith("/") ? join(to, source) : to);
    await mkdir(dirname(target), { recursive: true });
    await cp(path, target, { recursive: true, filter, verbatimSymlinks: true });
  }
};

/**
 * Does the steps of the Dockerfile in directories beneath `home`, one for each stage, with this machine's files in the
 * base images' stead.
 * @returns the last stage and its root.
 */
export const performDockerfile = async (
  home: string,
  log: (line: string) => void,
): Promise<{ readonly root: string; readonly stage: Stage }> => {
  const stages = parseDockerfile(await readProjectFile("Dockerfile"));
  const ignore = await readProjectFile(".dockerignore");
  const places: Place[] = [];
  for (const [index, stage] of stages.entries()) {
    const place: Place = { root: join(home, `stage-${index}`), stage, workdir: "/" };
    await mkdir(place.root, { recursive: true });
    for (const instruction of stage.instructions) {
      if (instruction.kind === "workdir") {
        place.workdir = instruction.path;
        await mkdir(inside(place, "."), { recursive: true });
      } else if (instruction.kind === "run") {
        log(`  RUN ${instruction.command.slice(0, 3).join(" ")} …`);
        await mustRun(instruction.command, {
          cwd: inside(place, "."),
          env: { ...process.env, PATH: pinnedPath },
        });
      } else if (instruction.kind === "copy") {
        log(`  COPY ${instruction.sources.join(" ")} ${instruction.to}`);
        await copy(instruction, place, places, ignore);
      }
    }
    places.push(place);
  }
  const last = places.at(-1);
  if (last === undefined) throw new Error("the Dockerfile has no stage");
  return { root: last.root, stage: last.stage };
};
