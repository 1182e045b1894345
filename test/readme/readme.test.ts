import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import packageFile from "../../package.json" with { type: "json" };
import { metricDefinitions } from "../../service/telemetry/metric-definitions.ts";
import { withBlocks } from "./blocks.ts";

const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");

test("the made parts are what the code says; `npm run docs` writes them anew", () => {
  expect(readme).toBe(withBlocks(readme));
});

test("every npm script that it names exists", () => {
  const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
  expect(Object.keys(packageFile.scripts)).toEqual(expect.arrayContaining(named));
});

test("every file that it links to exists", () => {
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = ""]) => path);
  expect(links.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
});

test("every test file that it names exists", () => {
  const named = [...readme.matchAll(/`(test\/[\w./-]+\.ts)`/g)].map(([, path = ""]) => path);
  expect(named.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
});

test("every metric that it names exists", () => {
  const named = [...readme.matchAll(/\blakehead_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ""),
  );
  expect(Object.keys(metricDefinitions)).toEqual(expect.arrayContaining(named));
});
