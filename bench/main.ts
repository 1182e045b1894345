/**
 * Measures the service in one run against the bare SDK and against its own operations behind a raw server, on the same
 * machine and data, and counts the requests that each operation sends to an object store. Prints Markdown.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { writeData } from "./data.ts";
import { judge } from "./goals.ts";
import { readOptions } from "./options.ts";
import { profileService } from "./profile.ts";
import { goalTable, rawTable, speedTable, storeTable, storeTitle } from "./report.ts";
import { runRounds } from "./rounds.ts";
import { countStoreRequests } from "./store-requests.ts";

const plan = readOptions("bench", {
  rounds: { default: 9, help: "rounds of each workload; service and SDK alternate" },
  seconds: { default: 0.3, help: "length of a round" },
  concurrency: { default: [1, 16, 64], help: "concurrent requests" },
  json: { default: false, help: "print the figures as JSON instead of Markdown" },
  profile: { default: false, help: "print only the CPU profile of the service's process, by module and function" },
});
// Other load on the machine affects the sides unevenly, so the report states it.
const [loadBefore = 0] = loadavg();
const machine = `Node ${process.version}, ${availableParallelism()} CPUs shared by service, load and SDK, load average ${loadBefore.toFixed(1)} before the run`;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const compare = async (directory: string): Promise<string> => {
  say("counting requests to the store …");
  const bounded = await countStoreRequests(directory, 60);
  const strong = await countStoreRequests(directory, 0);
  const results = await runRounds(
    directory,
    { ...plan, concurrencies: plan.concurrency },
    ({ workload, concurrency, ratio }) =>
      say(`${workload} at ${concurrency}: ${Math.round(ratio[0] * 100)} % of the SDK`),
  );
  const goals = judge(results);
  if (plan.json) return JSON.stringify({ machine, results, bounded, strong, goals }, null, 2);
  return [
    "## The service against the bare SDK",
    `${machine}; median of ${plan.rounds} paired rounds of ${plan.seconds} s [minimum–maximum].`,
    speedTable(results),
    "## The service against the same operations behind a raw server",
    rawTable(results),
    `## ${storeTitle}`,
    storeTable(bounded, strong),
    "## Goals",
    goalTable(goals),
  ].join("\n\n");
};

/** A round is too short for a profile. */
const profiledSeconds = 4;

const profile = async (directory: string): Promise<string> =>
  [
    "## CPU profile of the service's process, at 16 concurrent requests",
    `${machine}; native threads of the database are not included; (program) is native code of Node.`,
    await profileService(directory, profiledSeconds),
  ].join("\n\n");

const home = await mkdtemp(join(tmpdir(), "lakehead-bench-"));
try {
  const directory = join(home, "data");
  say("writing the tables …");
  await writeData(directory);
  process.stdout.write(`${await (plan.profile ? profile : compare)(directory)}\n`);
} finally {
  await rm(home, { recursive: true, force: true });
}
