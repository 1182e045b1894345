/** `npm run docs`: writes the generated parts of all pages. */
import { readFile, writeFile } from "node:fs/promises";
import { generatedPages, withBlocks } from "./blocks.ts";

for (const page of Object.keys(generatedPages)) {
  const file = new URL(`../../${page}`, import.meta.url);
  await writeFile(file, withBlocks(page, await readFile(file, "utf8")));
}
