/** `npm run docs`: writes the made parts of the README anew. */
import { readFile, writeFile } from "node:fs/promises";
import { withBlocks } from "./blocks.ts";

const file = new URL("../../README.md", import.meta.url);
await writeFile(file, withBlocks(await readFile(file, "utf8")));
