/**
 * Measures the service against the bare SDK in alternating rounds, on an object store or in a local directory, and counts the
 * requests that each operation sends to the store. Prints Markdown.
 */
import { availableParallelism, loadavg } from "node:os";
import { writeData } from "./data.ts";
import { openHome, placeOf } from "./home.ts";
import { readOptions } from "./options.ts";
import { speedTable, storeTable } from "./report.ts";
import { runRounds } from "./rounds.ts";

const plan = readOptions("bench", {
  rounds: { default: 7, help: "rounds of each workload; service and SDK alternate" },
  seconds: { default: 0.5, help: "length of a round" },
  concurrency: { default: [1, 16, 64], help: "concurrent requests" },
  directory: { default: false, help: "tables in a local directory instead of an object store" },
});
// Other load on the machine affects the sides unevenly, so the report states it.
const [loadBefore = 0] = loadavg();
const say = (text: string): void => void process.stderr.write(`${text}\n`);

say("writing the tables …");
const home = await openHome(plan.directory, writeData);
try {
  const { results, costs } = await runRounds(home, plan, ({ workload, concurrency, ratio }) =>
    say(`${workload} at ${concurrency}: ${Math.round(ratio[0] * 100)} % of the SDK`),
  );
  process.stdout.write(
    `${[
      `Node ${process.version}, ${availableParallelism()} CPUs shared by service, load, SDK and store, load average ${loadBefore.toFixed(1)} before the run; ${placeOf(plan.directory)}; median of ${plan.rounds} paired rounds of ${plan.seconds} s [minimum–maximum].`,
      speedTable(results),
      ...(plan.directory ? [] : ["Requests to the store of one warm request:", storeTable(costs)]),
    ].join("\n\n")}\n`,
  );
} finally {
  await home.close();
}
