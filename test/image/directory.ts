import { existsSync } from "node:fs";
import { chmod, lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment as names } from "../../service/contract.ts";
import { freePorts } from "../../tools/parts/free-port.ts";
import { pinnedPath, run, start } from "./command.ts";
import type { Container, Image } from "./container.ts";
import { type ContainerConfig, containerConfig } from "./dockerfile.ts";
import { canIsolate, prepareRoot, startIsolated } from "./isolated.ts";
import { performDockerfile } from "./perform.ts";

interface Entry {
  readonly path: string;
  readonly bytes: number;
  readonly changed: number;
  readonly isDirectory: boolean;
}

const walk = async (root: string): Promise<Entry[]> => {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  return Promise.all(
    found.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const { size, mtimeMs } = await lstat(path);
      return { path, bytes: entry.isFile() ? size : 0, changed: mtimeMs, isDirectory: entry.isDirectory() };
    }),
  );
};

const megabytes = (entries: readonly Entry[]): string =>
  `${Math.round(entries.reduce((total, { bytes }) => total + bytes, 0) / 1e6)} MB of layers over the base image`;

/** A process as it is started: how to ask it, and how to end it. */
export interface Process {
  readonly pid: number;
  run: Container["run"];
  output(): string;
  readonly ended: Promise<{ readonly code: number }>;
}

export interface ProcessOptions {
  readonly root: string;
  readonly config: ContainerConfig;
  readonly data: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Without the privileges for a separate root file system: as this user, in the image's directory, made read-only. */
const startPlain = async ({ root, config, data, environment }: ProcessOptions): Promise<Process> => {
  const options = {
    cwd: join(root, config.workdir),
    env: { PATH: pinnedPath, ...config.environment, ...environment, [names.database]: data },
  };
  const { child, output, ended } = start(config.command ?? [], options);
  return { pid: child.pid ?? 0, output, ended, run: (command) => run(command, options) };
};

const setWritable = async (entries: readonly Entry[], writable: boolean): Promise<void> => {
  for (const { path, isDirectory } of entries) if (isDirectory) await chmod(path, writable ? 0o755 : 0o555);
};

/** Runs the Dockerfile's steps in a directory, and its command there. */
export const directoryImage = async (log: (line: string) => void): Promise<Image> => {
  const home = await mkdtemp(join(tmpdir(), "lakehead-image-"));
  const { root, stage } = await performDockerfile(home, log).catch(async (error: unknown) => {
    await rm(home, { recursive: true, force: true });
    throw error;
  });
  const config = containerConfig(stage);
  const isolated = await canIsolate();
  const entries = await walk(root);
  await (isolated ? prepareRoot(root, config) : setWritable(entries, false));
  return {
    kind: isolated
      ? "its steps run in a directory, which is then a read-only root file system with the command as process 1"
      : "its steps run in a directory, its command by this user with read-only directories (unshare as root would isolate more)",
    size: megabytes(entries),
    async start(data, settings) {
      const [api = 0, operations = 0] = await freePorts(2);
      const environment = {
        ...settings,
        [names.port]: String(api),
        [names.operationsPort]: String(operations),
      };
      const before = new Map((await walk(root)).map(({ path, changed }) => [path, changed]));
      const service = await (isolated ? startIsolated : startPlain)({ root, config, data, environment });
      return {
        api: `http://127.0.0.1:${api}`,
        operations: `http://127.0.0.1:${operations}`,
        run: service.run,
        user: async () => (await userOf(service.pid)) ?? process.getuid?.() ?? -1,
        written: async () =>
          (await walk(root)).filter(({ path, changed }) => before.get(path) !== changed).map(({ path }) => path),
        log: async () => service.output(),
        async stop() {
          process.kill(service.pid, "SIGTERM");
          return (await service.ended).code;
        },
        async remove() {
          try {
            process.kill(service.pid, "SIGKILL");
          } catch {
            // Ended already.
          }
          await service.ended;
        },
      };
    },
    async remove() {
      if (!isolated) await setWritable(entries, true);
      await rm(home, { recursive: true, force: true });
    },
  };
};

const userOf = async (pid: number): Promise<number | undefined> => {
  const folder = `/proc/${pid}`;
  return existsSync(folder) ? (await lstat(folder)).uid : undefined;
};
