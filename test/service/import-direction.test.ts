import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** The parts of the service, from top to bottom. A part imports from its own row and the rows below. */
const layers = [
  ["main.ts", "quickstart"],
  ["process-lifecycle.ts"],
  ["start.ts"],
  ["server", "workers"],
  ["operations"],
  ["lance"],
  ["guard", "auth"],
  ["query"],
  ["config", "telemetry", "errors.ts", "contract.ts"],
];

const layerOf = (path: string): number => {
  const part = path.split("/")[1] ?? "";
  const layer = layers.findIndex((parts) => parts.includes(part));
  if (layer === -1) throw new Error(`${path} belongs to no layer`);
  return layer;
};

/** Imports of values: types may be imported in any direction, because they do not exist at run time. */
const importsOf = (file: string): string[] =>
  [
    ...readFileSync(file, "utf8").matchAll(
      /^(?:import|export) (?!type\b)[^;]*?from "(\.[^"]+)"|import\("(\.[^"]+)"\)/gm,
    ),
  ]
    .map(([, named, dynamic]) => join(file, "..", named ?? dynamic ?? ""))
    .filter((path) => path.startsWith("service/"));

test("no part of the service imports from a part above", () => {
  const imports = globSync("service/**/*.ts").flatMap((from) => importsOf(from).map((to) => ({ from, to })));
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter(({ from, to }) => layerOf(to) < layerOf(from))).toEqual([]);
});
