import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { generatedPages, withBlocks } from "../../tools/docs/blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

test.each(Object.keys(generatedPages))("the generated parts of %s are current (npm run docs)", async (page) => {
  const text = await readFile(join(root, page), "utf8");
  expect(text).toBe(withBlocks(page, text));
});
