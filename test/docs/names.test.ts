import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configSchema, secretKeys } from "../../infra/clouds/schema.ts";
import packageFile from "../../package.json" with { type: "json" };
import { variables as serviceVariables } from "../../service/config/schema.ts";
import { metricDefinitions } from "../../service/telemetry/metric-definitions.ts";
import { configRows } from "../../tools/docs/stack-keys.ts";
import { codeOf, pages, root, textOf } from "./pages.ts";

const all = (text: string, form: RegExp): string[] => [...text.matchAll(form)].map(([, name = ""]) => name);

/** Every name that some page has and that does not exist, with its page. */
const unknown = (namesOf: (page: string) => readonly string[], exists: (name: string) => boolean): string[] =>
  pages.flatMap((page) =>
    namesOf(page)
      .filter((name) => !exists(name))
      .map((name) => `${page}: ${name}`),
  );

const count = (namesOf: (page: string) => readonly string[]): number => pages.flatMap(namesOf).length;

const sources = ["service", "runner", "infra", "bootstrap", "tools", "test", "bench", "docs/examples", ".github", ".ci"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((path) => /(\.(ts|yml|py|mjs)|\/run)$/.test(path) && !path.startsWith("test/docs/"))
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n");

test("every npm script that a page names exists", () => {
  const scripts = (page: string) => all(textOf(page), /\bnpm (?:run )?(?:-s )?((?<=run )[\w:]+|start\b|test\b)/g);
  expect(count(scripts)).toBeGreaterThan(20);
  expect(unknown(scripts, (name) => Object.hasOwn(packageFile.scripts, name))).toEqual([]);
});

test("every command that builds an image names its platform", () => {
  const stacks = readdirSync(root).filter((name) => /^Pulumi\..*\.yaml$/.test(name));
  const texts = [...pages.map(textOf), ...stacks.map((name) => readFileSync(join(root, name), "utf8")), sources];
  const commands = texts.flatMap((text) => all(text, /\b((?:docker|podman) (?:buildx )?build (?!\w).*)/g));
  expect(commands.length).toBeGreaterThan(4);
  expect(commands.filter((command) => !command.includes("--platform "))).toEqual([]);
});

test("every file and folder of the repository that a page names exists", () => {
  const form = /(?<![\w./-])((?:bench|bootstrap|docs|infra|service|test|tools|\.ci|\.github)\/[\w./-]*)/g;
  const paths = (page: string) => codeOf(page).flatMap((code) => all(code, form));
  expect(count(paths)).toBeGreaterThan(20);
  // `service/operations/<name>.ts` names its folder.
  expect(unknown(paths, (path) => existsSync(join(root, path)))).toEqual([]);
});

test("every metric that a page names exists", () => {
  const metrics = (page: string) => all(textOf(page), /\b(lakehead_[a-z0-9_]+)/g);
  const defined = (name: string) => Object.hasOwn(metricDefinitions, name);
  expect(count(metrics)).toBeGreaterThan(10);
  expect(unknown(metrics, (name) => defined(name) || defined(name.replace(/_(bucket|sum|count)$/, "")))).toEqual([]);
});

/** Variables that the service's table has, or that some program takes from its environment. */
const variables = new Set([
  ...serviceVariables.map(({ name }) => name),
  ...all(sources, /\benv(?:ironment)?\.(LAKEHEAD_[A-Z0-9_]+)/g),
  ...all(sources, /\benviron(?:\[|\.get\()"(LAKEHEAD_[A-Z0-9_]+)"/g),
  ...all(sources, /\{([^{}]*)\} = (?:process\.)?env\b/g).flatMap((names) => all(names, /\b(LAKEHEAD_[A-Z0-9_]+)/g)),
]);

test("every environment variable that a page names is read somewhere", () => {
  const named = (page: string) => all(textOf(page), /\b(LAKEHEAD_[A-Z0-9_]+)\b/g);
  expect(count(named)).toBeGreaterThan(60);
  expect(unknown(named, (name) => variables.has(name))).toEqual([]);
});

test("every variable and secret of a GitHub environment that a page names is read by a workflow", () => {
  const page = "docs/pull-requests.md";
  const named = codeOf(page).flatMap((code) => all(code, /^([A-Z]+(?:_[A-Z]+)+)$/g));
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !new RegExp(`\\b(vars|secrets)\\.${name}\\b`).test(sources))).toEqual([]);
});

const clouds = configSchema.options.map(({ shape }) => shape.cloud.value);
const keys = new Set([
  ...clouds.flatMap((cloud) => configRows(cloud).map(({ key }) => key)),
  ...Object.keys(secretKeys),
]);

/** Whether the schema has the key, or keys beneath it. */
const isKey = (name: string): boolean => keys.has(name) || [...keys].some((key) => key.startsWith(`${name}.`));

/** `a.{b,c}` as `a.b` and `a.c`. */
const expanded = (name: string): string[] => {
  const [, before = name, list = "", after = ""] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  return list === "" ? [name] : list.split(",").map((one) => `${before}${one.trim()}${after}`);
};

test("every stack key that a page names is one of the schema", () => {
  const groups = new Set([...keys].filter((key) => key.includes(".")).map((key) => key.split(".")[0] ?? ""));
  const dotted = (code: string): string[] =>
    all(code, /^(?:lakehead:)?([a-z][A-Za-z]*(?:\.(?:[A-Za-z]+|\{[A-Za-z, ]+\}))+)(?=$|[ :=])/g)
      .flatMap(expanded)
      .filter((name) => groups.has(name.split(".")[0] ?? "") && !/\.(ts|md|ya?ml|json)$/.test(name));
  const prefixed = (code: string): string[] => all(code, /\blakehead:([a-z][A-Za-z0-9.]*[A-Za-z0-9])\b(?!:)/g);
  const names = (page: string) => codeOf(page).flatMap((code) => [...dotted(code), ...prefixed(code)]);
  expect(count(names)).toBeGreaterThan(20);
  expect(unknown(names, isKey)).toEqual([]);
});
