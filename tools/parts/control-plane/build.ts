/** Builds every part into the cache: `npm run build:e2e [-- part…]`. */
import { goPart } from "./go.ts";
import { goParts, type PartName } from "./table.ts";

const wanted = process.argv.slice(2) as PartName[];
for (const name of wanted.length > 0 ? wanted : (Object.keys(goParts) as PartName[])) {
  const folder = await goPart(name, (line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`${name}: ${folder}\n`);
}
