/** Runs in the program's process before the program: lets it start sooner, and tells its peak memory at the end. */

import { writeSync } from "node:fs";
import Module, { createRequire } from "node:module";

// Pulumi's runner maps every frame of every resource's stack trace back through source maps. It reads 400 map files for a
// stack of 100 resources, a third of the whole run, and a plan shows no frames.
const runner = process.argv[1];
if (runner !== undefined) {
  const require = createRequire(runner);
  const id = require.resolve("source-map-support/register");
  require.cache[id] = Object.assign(new Module(id), { loaded: true });
}

// The parent opens descriptor 3 as a pipe and reads kilobytes from it.
process.on("exit", () => {
  try {
    writeSync(3, String(process.resourceUsage().maxRSS));
  } catch {
    // Nobody listens any more; the plan does not depend on the number.
  }
});
