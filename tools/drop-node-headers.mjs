/**
 * npm runs this after an install: it removes the C headers (67 MB) of the pinned `node` package. Only native modules that
 * are built from source need them, and this project has none. Plain JavaScript, because `npm ci --omit=dev` runs it with any Node.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";

const platformPackages = "node_modules/node/node_modules";
for (const name of existsSync(platformPackages) ? readdirSync(platformPackages) : [])
  rmSync(`${platformPackages}/${name}/include`, { recursive: true, force: true });
