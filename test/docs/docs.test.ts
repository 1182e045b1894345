import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import packageFile from "../../package.json" with { type: "json" };
import { metricDefinitions } from "../../service/telemetry/metric-definitions.ts";
import { withBlocks } from "../../tools/docs/blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = await readFile(join(root, "README.md"), "utf8");

test("the made parts are what the code says; `npm run docs` writes them anew", () => {
  expect(readme).toBe(withBlocks(readme));
});

test("every npm script that it names exists", () => {
  const named = [...readme.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
  expect(Object.keys(packageFile.scripts)).toEqual(expect.arrayContaining(named));
});

/** Text as Markdown has it outside of code, where a line that begins with # is a heading. */
const prose = readme.replaceAll(/^```.*?^```/gms, "");

/** As GitHub makes a heading's anchor. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-");

test("every heading that it links to exists", () => {
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));
  const links = [...prose.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.length).toBeGreaterThan(10);
  expect(headings).toEqual(expect.arrayContaining(links));
});

test("every file and folder that it names exists", () => {
  const paths = /`((?:(?:bench|infra|service|test|\.ci|\.github)\/[\w./-]*)|(?:[\w-]+\/[\w-]+\.test\.ts))`/g;
  const named = [...prose.matchAll(paths)].map(([, path = ""]) => path);
  // The platform's tables name tests from their own folder on.
  const exists = (path: string) => ["", "test/infra/"].some((base) => existsSync(join(root, base, path)));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !exists(path))).toEqual([]);
});

test("every metric that it names exists", () => {
  const named = [...readme.matchAll(/\blakehead_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|sum|count)$/, ""),
  );
  expect(Object.keys(metricDefinitions)).toEqual(expect.arrayContaining(named));
});
