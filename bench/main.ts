/**
 * Measures the service against the bare SDK in alternating rounds, on an object store or in a local directory, and counts the
 * requests that each operation sends to the store. Prints Markdown.
 */
import { writeData } from "./data.ts";
import { openHome, placeOf } from "./home.ts";
import { readOptions } from "./options.ts";
import { conditions, print, say, speedTable, storeTable } from "./report.ts";
import { runRounds } from "./rounds.ts";

const plan = readOptions("bench", {
  rounds: { default: 7, help: "rounds of each workload; service and SDK alternate" },
  seconds: { default: 0.5, help: "length of a round" },
  concurrency: { default: [1, 16, 64], help: "concurrent requests" },
  directory: { default: false, help: "tables in a local directory instead of an object store" },
});

say("writing the tables …");
const home = await openHome(plan.directory, writeData);
try {
  const { results, costs } = await runRounds(home, plan, ({ workload, concurrency, ratio }) =>
    say(`${workload} at ${concurrency}: ${Math.round(ratio[0] * 100)} % of the SDK`),
  );
  print(
    `${conditions("service, load, SDK and store")}; ${placeOf(plan.directory)}; median of ${plan.rounds} paired rounds of ${plan.seconds} s [minimum–maximum].`,
    speedTable(results),
    ...(plan.directory ? [] : ["Requests to the store of one warm request:", storeTable(costs)]),
  );
} finally {
  await home.close();
}
