/** The service's entry point, and the only reader of its environment. `--health` asks the service that runs beside it. */
import { availableParallelism } from "node:os";

if (process.argv[2] === "--health") {
  const { findFault } = await import("./server/health-check.ts");
  const fault = await findFault(process.env);
  if (fault !== undefined) process.stderr.write(`lakehead: ${fault}\n`);
  process.exit(fault === undefined ? 0 : 1);
}

// The native library writes warnings of its own as plain text between the JSON lines of the log; read when it is loaded.
process.env.LANCEDB_LOG ??= "error";
// For worker processes, which read it when they start: with glibc's default of eight arenas a processor, one that has
// searched a million vectors keeps a third more memory, which it will never use again. Fewer make its threads wait.
process.env.MALLOC_ARENA_MAX ??= String(2 * availableParallelism());
const { run } = await import("./process-lifecycle.ts");
await run(process.env);
