import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { environment as names } from "../../service/contract.ts";
import { mustRun, run, works } from "./command.ts";
import { databasePath, type Image } from "./container.ts";

const repository = join(import.meta.dirname, "..", "..");

/** The container engine that runs here, with the base images; or why there is none. */
export type Engine =
  | { readonly program: string; readonly missing?: never }
  | { readonly missing: string; readonly program?: never };

export const findEngine = async (bases: readonly string[]): Promise<Engine> => {
  const found = [];
  for (const program of ["docker", "podman"]) if (await works([program, "info"])) found.push(program);
  const [program] = found;
  if (program === undefined) return { missing: "neither docker nor podman runs here" };
  for (const base of bases)
    if (!(await works([program, "image", "inspect", base])) && !(await works([program, "pull", base])))
      return { missing: `${program} cannot get ${base}` };
  return { program };
};

const last = (text: string): string => text.trim().split("\n").at(-1) ?? "";

/** Builds the Dockerfile with a container engine. @throws when that fails. */
export const engineImage = async (engine: string, log: (line: string) => void): Promise<Image> => {
  const tag = `lakehead-image-test:${randomUUID()}`;
  log(`  ${engine} build …`);
  // Podman's own format has no health check.
  const format = engine === "podman" ? ["--format", "docker"] : [];
  await mustRun([engine, "build", ...format, "--tag", tag, repository]);
  const inspect = (what: string, format_: string): Promise<string> =>
    mustRun([engine, "inspect", "--format", format_, what]);
  const changes = async (id: string): Promise<string[]> =>
    (await mustRun([engine, "diff", id])).split("\n").filter((line) => line !== "");
  return {
    kind: `built and run by ${engine}, read-only, without capabilities`,
    size: `${Math.round(Number(last(await inspect(tag, "{{.Size}}"))) / 1e6)} MB with its base image`,
    async start(data, environment) {
      const settings = Object.entries({ ...environment, [names.database]: databasePath });
      const flags = [
        "--read-only",
        // Podman would leave some paths writable.
        ...(engine === "podman" ? ["--read-only-tmpfs=false"] : []),
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        `--volume=${data}:${databasePath}`,
      ];
      const id = last(
        await mustRun(
          [engine, "run", "--detach", ...flags, "--publish=127.0.0.1::8080", "--publish=127.0.0.1::9090"].concat(
            settings.map(([name, value]) => `--env=${name}=${value}`),
            tag,
          ),
        ),
      );
      // Written by the engine: mount points of volumes, the user's entry in /etc.
      const before = await changes(id);
      const address = async (port: number): Promise<string> =>
        `http://${last(await mustRun([engine, "port", id, String(port)]))}`;
      return {
        api: await address(8080),
        operations: await address(9090),
        run: (command) => run([engine, "exec", id, ...command]),
        user: async () => Number(last(await mustRun([engine, "exec", id, "node", "-p", "fs.statSync('/proc/1').uid"]))),
        written: async () => (await changes(id)).filter((line) => !before.includes(line)),
        log: () => mustRun([engine, "logs", id]),
        async stop() {
          await mustRun([engine, "stop", "-t", "60", id]);
          return Number(last(await inspect(id, "{{.State.ExitCode}}")));
        },
        remove: async () => void (await run([engine, "rm", "--force", "--volumes", id])),
      };
    },
    remove: async () => void (await run([engine, "rmi", "--force", tag])),
  };
};
