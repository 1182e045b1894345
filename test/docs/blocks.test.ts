import { describe, expect, test } from "vitest";
import { commandsOf, countOf, isSilent, prints, sectionOf, stepsOf } from "../pages/blocks.ts";
import { deploymentPages, paths, servicePages } from "../pages/pages.ts";
import { textOf } from "./pages.ts";

const page = (...lines: readonly string[]): string => lines.join("\n");
const stepOf = (...lines: readonly string[]) => stepsOf(page(...lines))[0];

describe("the blocks of a page", () => {
  test.each([...servicePages, ...deploymentPages])("%s says of each what it is", (name) => {
    const steps = stepsOf(textOf(name));
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.filter(({ kind }) => kind === "fault")).toEqual([]);
  });

  test.each(servicePages)("%s has one that runs", (name) => {
    expect(stepsOf(textOf(name)).filter(({ kind }) => kind === "run" || kind === "save")).not.toEqual([]);
  });

  test.each(Object.values(paths).flat())("%s has commands under the heading %s", (name, section) => {
    expect(countOf(sectionOf(textOf(name), section)).commands).toBeGreaterThan(0);
  });

  test("a shell block is run, within a list without its indentation", () => {
    expect(stepOf("1. First.", "", "   ```sh", "   a \\", "     b", "   ```")).toEqual({
      kind: "run",
      line: 3,
      code: "a \\\n  b\n",
    });
  });

  test("a comment right before a block keeps it from running, with its reason", () => {
    const block = ["```sh", "rm -r /", "```"];
    expect(stepOf("<!-- not run: it needs", "a disk -->", ...block)).toMatchObject({
      kind: "not run",
      reason: "it needs a disk",
    });
    expect(stepOf("<!-- not run: it needs a disk -->", "", "Text.", "", ...block)).toMatchObject({ kind: "run" });
  });

  test("a comment says of a program that it stays, and what it prints first", () => {
    const block = ["```sh", "npm start", "```"];
    expect(stepOf('<!-- stays, after "ready" -->', ...block)).toMatchObject({ kind: "run", stays: "ready" });
  });

  test("the text before a block names the file that it is, and the command that runs it", () => {
    const block = ["```js", "1;", "```"];
    expect(stepOf("Save this as `a.mjs`:", "", ...block)).toMatchObject({ kind: "save", path: "a.mjs", text: "1;\n" });
    const run = "In Node, save this as `a.mjs` in this directory and run `node a.mjs`:";
    expect(stepOf(run, "", ...block)).toMatchObject({ kind: "save", path: "a.mjs", run: "node a.mjs" });
  });

  test("another block is what the one before it prints, or a fault", () => {
    const block = ["```json", "{}", "```"];
    expect(stepsOf(page("```sh", "a", "```", "", ...block))[1]).toMatchObject({ kind: "printed", text: "{}\n" });
    expect(stepOf("Like this:", "", ...block)).toMatchObject({ kind: "fault", line: 3 });
  });
});

test("an output has what the page says, in its order, whatever the white space", () => {
  expect(prints('{"a":1,\n"b":2}', '{"a": 1, "b": 2}')).toBe(true);
  expect(prints("one two three", "one … three")).toBe(true);
  expect(prints("three two one", "one … three")).toBe(false);
  expect(prints('{"findings":[]}', '{"findings": [{…')).toBe(false);
});

test("commands of a block are counted once, over several lines and without comments", () => {
  expect(commandsOf("# first\na \\\n  b   # why\n\ncurl -d '{\n}'\n")).toEqual(["a  b", "curl -d '{ }'"]);
});

test("a section ends at the next heading, and its commands and edits are counted", () => {
  const block = (...commands: readonly string[]): string => page("```sh", ...commands, "```", "");
  const text = page("# Title", "", "## Steps", "", block("a", "b \\", "  c", "$EDITOR d"), "### More", block("e"));
  expect(countOf(sectionOf(text, "Steps"))).toEqual({ commands: 3, edits: 1 });
});

test("a block prints nothing only if it sets or stores something", () => {
  expect(isSilent("export A=1\ncurl x -o file\nB=$(cat file)\n")).toBe(true);
  expect(isSilent("export A=1\ncurl x\n")).toBe(false);
});
