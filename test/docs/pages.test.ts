import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { generatedPages, withBlocks, withoutBlocks } from "../../tools/docs/blocks.ts";
import { anchorsOf, linksOf, pages, proseOf, root, textOf } from "./pages.ts";

const lines = (text: string): string[] => text.replace(/\n$/, "").split("\n");

/** The page and the anchor that a link leads to. */
const resolved = (page: string, link: string): { path: string; anchor: string | undefined } => {
  const [path = "", anchor] = link.split("#");
  return { path: path === "" ? page : normalize(join(dirname(page), path)), anchor };
};

const isBroken = (page: string, link: string): boolean => {
  const { path, anchor } = resolved(page, link);
  if (!existsSync(join(root, path))) return true;
  return anchor !== undefined && !(path.endsWith(".md") && anchorsOf(path).includes(anchor));
};

test("the pages are found", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "CONTRIBUTING.md", "docs/api.md"]));
});

test("a link to a page or heading that does not exist is broken", () => {
  expect(isBroken("docs/api.md", "authentication.md#scopes")).toBe(false);
  expect(isBroken("docs/api.md", "authentication.md#no-such-heading")).toBe(true);
  expect(isBroken("docs/api.md", "no-such-page.md")).toBe(true);
});

test.each(pages)("%s links only to files and headings that exist", (page) => {
  expect(linksOf(page).filter((link) => isBroken(page, link))).toEqual([]);
});

test.each(Object.keys(generatedPages))("the generated parts of %s are current (npm run docs)", (page) => {
  const text = textOf(page);
  expect(text).toBe(withBlocks(page, text));
});

describe("the README", () => {
  const text = textOf("README.md");

  test("has at most 250 lines and 16 kB", () => {
    expect(lines(text).length).toBeLessThanOrEqual(250);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16_000);
  });

  test("has lines of less than 140 characters", () => {
    expect(lines(text).filter((line) => line.length >= 140)).toEqual([]);
  });
});

describe("the pages of docs/", () => {
  const questions = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== "docs/README.md");

  test.each(questions)("%s has at most 300 lines, generated parts left out", (page) => {
    expect(lines(withoutBlocks(textOf(page))).length).toBeLessThanOrEqual(300);
  });

  test.each(questions)("%s has one title, a question, with which the index lists it", (page) => {
    const titles = [...proseOf(page).matchAll(/^# (.+)$/gm)].map(([, title]) => title);
    expect(titles).toEqual([expect.stringMatching(/\?$/)]);
    const name = page.replace("docs/", "");
    expect(textOf("docs/README.md")).toContain(`| [${name}](${name}) | ${titles[0]} |`);
  });

  test("are all linked from the index, the decision records too", () => {
    const index = linksOf("docs/README.md").map((link) => resolved("docs/README.md", link).path);
    const design = linksOf("docs/design/README.md").map((link) => resolved("docs/design/README.md", link).path);
    const listed = ["docs/README.md", ...index, ...design];
    expect(pages.filter((page) => page.startsWith("docs/") && !listed.includes(page))).toEqual([]);
  });
});
