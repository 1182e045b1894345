/** Entry point of the service, and the only reader of its environment. With `--health`, checks the running service. */
import { availableParallelism } from "node:os";

if (process.argv[2] === "--health") {
  const { findFault } = await import("./server/health-check.ts");
  const fault = await findFault(process.env);
  if (fault !== undefined) process.stderr.write(`lakehead: ${fault}\n`);
  process.exit(fault === undefined ? 0 : 1);
}

// The native library logs warnings as plain text between the JSON lines of the log. It reads this when it is loaded.
process.env.LANCEDB_LOG ??= "error";
// These of the image are for the main process alone: workers reuse their large buffers, and may be killed when they keep too much.
delete process.env.MALLOC_MMAP_THRESHOLD_;
delete process.env.MALLOC_TRIM_THRESHOLD_;
// For worker processes, which read it at their start. With glibc's default of eight arenas per processor, a worker keeps
// a third more unused memory after a search of a million vectors. With fewer than this, its threads wait for each other.
process.env.MALLOC_ARENA_MAX ??= String(2 * availableParallelism());
// Their large buffers are in huge pages, where the kernel permits it: the kernel prepares each page of a new buffer, which
// is half of the time of a large insert with pages of 4 KiB.
process.env.GLIBC_TUNABLES ??= "glibc.malloc.hugetlb=1";
const { serveUntilSignal } = await import("./process-lifecycle.ts");
await serveUntilSignal(process.env);
