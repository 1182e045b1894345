/** `npm run test:console`: the console in the system's Chromium. Skipped where there is none. */
import { spawnSync } from "node:child_process";
import { findChromium } from "./chromium.ts";

const chromium = findChromium();
if (chromium === undefined) {
  process.stdout.write("test:console skipped: no Chromium; on Debian, apt-get install chromium\n");
  process.exit(0);
}
// One browser at a time: several on few processors wait for each other until they time out.
const { status } = spawnSync(
  "vitest",
  ["run", "--project", "console", "--no-file-parallelism", ...process.argv.slice(2)],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
