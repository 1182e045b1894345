/**
 * Measures the service in one run against the bare SDK and against its own operations behind a raw server, on the same
 * machine and data, and counts what each operation asks an object store. Prints Markdown.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeData } from "./data.ts";
import { judge } from "./goals.ts";
import { profileService } from "./profile.ts";
import { goalTable, rawTable, speedTable, storeTable, storeTitle } from "./report.ts";
import { runRounds } from "./rounds.ts";
import { countStoreRequests } from "./store-requests.ts";

const usage = `usage: npm run bench -- [--rounds 9] [--seconds 0.3] [--concurrency 1,16,64] [--json] [--profile]
  --rounds       rounds of each workload, service and SDK by turns
  --seconds      length of one round
  --concurrency  requests under way at once
  --json         the figures as JSON instead of Markdown
  --profile      instead of all that: where the service's own process spends its time, by module and by function
`;

const readPlan = () => {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: "string", default: "9" },
        seconds: { type: "string", default: "0.3" },
        concurrency: { type: "string", default: "1,16,64" },
        json: { type: "boolean", default: false },
        profile: { type: "boolean", default: false },
      },
    });
    const plan = {
      rounds: Number(values.rounds),
      seconds: Number(values.seconds),
      concurrencies: values.concurrency.split(",").map(Number),
      json: values.json,
      profile: values.profile,
    };
    if ([plan.rounds, plan.seconds, ...plan.concurrencies].every((value) => value > 0)) return plan;
    throw new Error("every number must be greater than 0");
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
};

const plan = readPlan();
// What else the machine does takes from all sides, but not evenly: a reader must know of it.
const [loadBefore = 0] = loadavg();
const machine = `Node ${process.version}, ${availableParallelism()} CPUs shared by service, load and SDK, load average ${loadBefore.toFixed(1)} before the run`;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const compare = async (directory: string): Promise<string> => {
  say("counting requests to the store …");
  const bounded = await countStoreRequests(directory, 60);
  const strong = await countStoreRequests(directory, 0);
  const results = await runRounds(directory, plan, ({ workload, concurrency, ratio }) =>
    say(`${workload} at ${concurrency}: ${Math.round(ratio[0] * 100)} % of the SDK`),
  );
  const goals = judge(results);
  if (plan.json) return JSON.stringify({ machine, results, bounded, strong, goals }, null, 2);
  return [
    "## The service beside the bare SDK",
    `${machine}; median of ${plan.rounds} paired rounds of ${plan.seconds} s [least–greatest].`,
    speedTable(results),
    "## The service beside the same operations behind a raw server",
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
    "## Where the service's own process spends its time, at 16 at once",
    `${machine}; native threads of the database are not in it, (program) is native code of Node itself.`,
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
