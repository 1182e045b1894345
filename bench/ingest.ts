/**
 * Measures writes through the service against the bare SDK in alternating rounds: inserts of batches, single-row appends of
 * many callers, and building an index. Prints Markdown; memory is read from `/proc`, so it needs Linux.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { appendTable } from "./ingest/appends.ts";
import { indexTable } from "./ingest/indices.ts";
import { insertTable } from "./ingest/inserts.ts";
import { closeConnections } from "./ingest/rows.ts";
import { readOptions } from "./options.ts";

const options = readOptions("bench:ingest", {
  rounds: { default: 3, help: "rounds of each kind of batch and index; service and SDK alternate" },
  megabytes: { default: 128, help: "megabytes of each round and side" },
  together: { default: 4, help: "callers that insert batches at the same time" },
  seconds: { default: 10, help: "length of the appends of single rows" },
  callers: { default: 64, help: "concurrent callers that append single rows" },
});
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const [loadBefore = 0] = loadavg();
const home = await mkdtemp(join(tmpdir(), "lakehead-bench-"));
try {
  const tables = [
    await insertTable(home, options, say),
    await appendTable(home, options, say),
    await indexTable(home, options.rounds, say),
  ];
  process.stdout.write(
    `${[
      `Node ${process.version}, ${availableParallelism()} CPUs shared by both, load average ${loadBefore.toFixed(1)} before the run; median of ${options.rounds} rounds [minimum–maximum].`,
      ...tables,
    ].join("\n\n")}\n`,
  );
} finally {
  closeConnections();
  // Calls of the SDK that began before an error still write.
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
