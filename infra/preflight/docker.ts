import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { attempt, type Outcome } from "../check-line.ts";

const run = promisify(execFile);

const docker = async (...args: string[]): Promise<string> => (await run("docker", args, { timeout: 30_000 })).stdout;

/** The platforms in the output of `docker buildx inspect`; those of the builder's own nodes carry an asterisk. */
export const listedPlatforms = (output: string): string[] =>
  [...output.matchAll(/^Platforms:(.*)$/gm)].flatMap(([, list = ""]) =>
    list.split(",").flatMap((entry) => entry.replaceAll(/[\s*]/g, "") || []),
  );

/**
 * The platforms that Docker builds for: its own, and those that it emulates, which only the plugin buildx knows. The
 * provider of images brings buildx with it.
 */
export const readPlatforms = (): Promise<Outcome<readonly string[]>> =>
  attempt(async () => {
    const own = (await docker("version", "--format", "{{.Server.Os}}/{{.Server.Arch}}")).trim();
    const emulated = await docker("buildx", "inspect").then(listedPlatforms, () => []);
    return [...new Set([own, ...emulated])];
  });
