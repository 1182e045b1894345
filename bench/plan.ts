/** Measures `npm run plan` for every stack of the repository, as a process from start to end. Prints Markdown. */
import { spawn } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { stackNames } from "../infra/offline-plan/project.ts";
import { median } from "./measure.ts";
import { readOptions } from "./options.ts";
import { figureTable } from "./report.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
/** Seconds in which each plan is to end. */
const target = 4;

const { runs } = readOptions("bench:plan", {
  runs: { default: 5, help: "runs of each stack, after one that is not counted" },
});

/** @returns seconds; @throws Error when the plan fails */
async function plan(stack: string): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ["infra/offline-plan/main.ts", stack], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code !== 0) throw new Error(`the plan of ${stack} ended with ${code}`);
  return (performance.now() - started) / 1000;
}

const rows: string[][] = [];
const [loadBefore = 0] = loadavg();
for (const stack of stackNames(root)) {
  await plan(stack);
  const seconds: number[] = [];
  for (let run = 0; run < runs; run++) seconds.push(await plan(stack));
  const middle = median(seconds);
  const figures = [Math.min(...seconds), middle, Math.max(...seconds)].map((time) => time.toFixed(1));
  rows.push([stack, ...figures, middle < target ? "yes" : "no"]);
}
process.stdout.write(
  `Node ${process.version}, ${availableParallelism()} CPUs, load average ${loadBefore.toFixed(1)} before the run; ${runs} runs of each.\n\n${figureTable(
    ["stack", "fastest, s", "median, s", "slowest, s", `median below ${target} s`],
    rows,
  )}\n`,
);
