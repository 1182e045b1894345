import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import packageFile from "../../package.json" with { type: "json" };
import { variables } from "../../service/config/schema.ts";
import { entry, ports } from "../../service/contract.ts";
import { containerConfig, isIgnored, parseDockerfile } from "../image/dockerfile.ts";
import { readProjectFile } from "../image/perform.ts";

/** Checks of the image without a build; `npm run test:image` builds and runs it. */
const stages = parseDockerfile(await readProjectFile("Dockerfile"));
const last = stages.at(-1) ?? stages[0];
const config = containerConfig(last);

test("every base image is Node.js in the version of the tests", () => {
  expect(packageFile.devDependencies.node).toMatch(/^\d+\.\d+\.\d+$/);
  for (const { base } of stages) expect(base).toMatch(new RegExp(`^node:${packageFile.devDependencies.node}-bookworm`));
  expect(`v${packageFile.devDependencies.node}`).toBe(process.version);
});

test("it runs the service's entry point without a shell, as a user other than root", () => {
  expect(config.command).toEqual(["node", entry]);
  expect(config.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

test("its health check runs the entry point with --health", () => {
  expect(config.healthCheck).toEqual(["node", entry, "--health"]);
});

test("it exposes the ports that the service listens on, on every address", () => {
  expect(config.ports).toEqual([ports.api, ports.operations]);
  expect(config.environment).toMatchObject({ NODE_ENV: "production", LAKEHEAD_HOST: "0.0.0.0" });
  expect(variables.map(({ name }) => name)).toContain("LAKEHEAD_HOST");
});

test("it installs from the lock file, without development dependencies and install scripts", () => {
  const installs = stages.flatMap(({ instructions }) =>
    instructions.flatMap((step) => (step.kind === "run" && step.command[0] === "npm" ? [step.command] : [])),
  );
  expect(installs).toEqual([expect.arrayContaining(["npm", "ci", "--omit=dev", "--ignore-scripts"])]);
});

test.each(["test/support/service.ts", "infra/index.ts", "bench/main.ts", ".git/config", ".lakehead/token", ".env"])(
  "%s is not in the build context",
  async (path) => {
    expect(isIgnored(await readProjectFile(".dockerignore"), path)).toBe(true);
  },
);

/** Modules of this project that a file imports, directly or indirectly. */
const reachable = async (file: string, seen = new Set<string>()): Promise<Set<string>> => {
  if (seen.has(file) || !file.endsWith(".ts")) return seen;
  seen.add(file);
  const source = await readProjectFile(file);
  for (const [, path = ""] of source.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g))
    await reachable(relative(".", join(dirname(file), path)), seen);
  return seen;
};

test("all modules of the entry points are in the build context", async () => {
  const ignore = await readProjectFile(".dockerignore");
  const needed = [...(await reachable(entry)), ...(await reachable("service/workers/worker-entry.ts")), "package.json"];
  expect(needed.length).toBeGreaterThan(50);
  expect(needed.filter((path) => isIgnored(ignore, path))).toEqual([]);
});
