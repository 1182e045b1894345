import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import packageFile from "../../package.json" with { type: "json" };
import { variables } from "../../service/config/schema.ts";
import { entry, ports } from "../../service/contract.ts";
import { containerConfig, isIgnored, parseDockerfile } from "../image/dockerfile.ts";
import { readProjectFile } from "../image/perform.ts";

/** What can be told of the image without building it; `npm run test:image` builds and runs it. */
const stages = parseDockerfile(await readProjectFile("Dockerfile"));
const last = stages.at(-1) ?? stages[0];
const config = containerConfig(last);

test("every base image is Node's, of exactly the version that the tests run on", () => {
  expect(packageFile.devDependencies.node).toMatch(/^\d+\.\d+\.\d+$/);
  for (const { base } of stages) expect(base).toMatch(new RegExp(`^node:${packageFile.devDependencies.node}-bookworm`));
  expect(`v${packageFile.devDependencies.node}`).toBe(process.version);
});

test("it runs the service's entry point, without a shell, as a user who is not root", () => {
  expect(config.command).toEqual(["node", entry]);
  expect(config.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

test("its health check asks by the environment of the service", () => {
  expect(config.healthCheck).toEqual(["node", entry, "--health"]);
});

test("it exposes the ports that the service listens on, on every address", () => {
  expect(config.ports).toEqual([ports.api, ports.operations]);
  expect(config.environment).toEqual({ NODE_ENV: "production", LAKEHEAD_HOST: "0.0.0.0" });
  expect(variables.map(({ name }) => name)).toContain("LAKEHEAD_HOST");
});

test("it installs by the lock file, without what is for development, and runs nobody's install script", () => {
  const installs = stages.flatMap(({ instructions }) =>
    instructions.flatMap((step) => (step.kind === "run" && step.command[0] === "npm" ? [step.command] : [])),
  );
  expect(installs).toEqual([expect.arrayContaining(["npm", "ci", "--omit=dev", "--ignore-scripts"])]);
});

test.each(["test/support/service.ts", "infra/index.ts", "bench/main.ts", ".git/config", ".lakehead/token", ".env"])(
  "%s is not sent to the builder",
  async (path) => {
    expect(isIgnored(await readProjectFile(".dockerignore"), path)).toBe(true);
  },
);

/** Modules of this project that a file reaches, directly or not. */
const reachable = async (file: string, seen = new Set<string>()): Promise<Set<string>> => {
  if (seen.has(file) || !file.endsWith(".ts")) return seen;
  seen.add(file);
  const source = await readProjectFile(file);
  for (const [, path = ""] of source.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g))
    await reachable(relative(".", join(dirname(file), path)), seen);
  return seen;
};

test("what the entry point needs of the project is sent", async () => {
  const ignore = await readProjectFile(".dockerignore");
  const needed = [...(await reachable(entry)), ...(await reachable("service/workers/worker-entry.ts")), "package.json"];
  expect(needed.length).toBeGreaterThan(50);
  expect(needed.filter((path) => isIgnored(ignore, path))).toEqual([]);
});

test.each([
  ["a shell's command", "FROM node:1\nRUN npm ci"],
  ["a command of a shell at the start", "FROM node:1\nCMD node service/main.ts"],
  ["an instruction that it does not know", "FROM node:1\nADD https://example.com/x /x"],
  ["a variable", "FROM node:1\nENV PATH=$PATH:/x"],
])("the reader of the Dockerfile refuses %s", (_, text) => {
  expect(() => parseDockerfile(text)).toThrow(/RUN|CMD|ADD|PATH/);
});
