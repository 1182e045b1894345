/**
 * Measures writes through the service against the bare SDK in alternating rounds: inserts of batches, single-row appends of
 * many callers, and building an index. Prints Markdown; memory is read from `/proc`, so it needs Linux.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appendTable } from "./ingest/appends.ts";
import { indexTable } from "./ingest/indices.ts";
import { insertTable } from "./ingest/inserts.ts";
import { closeConnections } from "./ingest/rows.ts";
import { readOptions } from "./options.ts";
import { conditions, print } from "./report.ts";

const options = readOptions("bench:ingest", {
  rounds: { default: 3, help: "rounds of each kind of batch and index; service and SDK alternate" },
  megabytes: { default: 128, help: "megabytes of each round and side" },
  together: { default: 4, help: "callers that insert batches at the same time" },
  seconds: { default: 10, help: "length of the appends of single rows" },
  callers: { default: 64, help: "concurrent callers that append single rows" },
});

const home = await mkdtemp(join(tmpdir(), "lakehead-bench-"));
try {
  print(
    `${conditions("both")}; median of ${options.rounds} rounds [minimum–maximum].`,
    await insertTable(home, options),
    await appendTable(home, options),
    await indexTable(home, options.rounds),
  );
} finally {
  closeConnections();
  // Calls of the SDK that began before an error still write.
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
