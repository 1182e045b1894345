/**
 * Runs in the program's process before the program: shortens its start, ends it with its parent, and reports its peak memory
 * at the end.
 */

import { writeSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

// Pulumi's runner maps the stack trace of every resource through source maps. That takes a third of the run, and a plan
// shows no stack traces.
const runner = process.argv[1];
if (runner !== undefined) {
  const require = createRequire(runner);
  const id = require.resolve("source-map-support/register");
  require.cache[id] = Object.assign(new Module(id), { loaded: true });

  // It also formats a stack trace for every promise, for a message about those that never settle. That message stays.
  const debuggable = require("../../runtime/debuggable.js") as { debuggablePromise: (...args: unknown[]) => unknown };
  const { debuggablePromise } = debuggable;
  debuggable.debuggablePromise = (...args) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return debuggablePromise(...args);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
}

// Without the parent's options, which would run this file in the thread.
new Worker(new URL("parent-watch.ts", import.meta.url), { execArgv: [] }).unref();

// The parent opens descriptor 3 as a pipe and reads kilobytes from it.
process.on("exit", () => {
  try {
    writeSync(3, String(process.resourceUsage().maxRSS));
  } catch {
    // The parent has closed the pipe. The plan does not need the number.
  }
});
