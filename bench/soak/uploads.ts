/** Adds gigabytes by LanceDB's client in parts, which a runner of Functions commits, and watches the memory of both. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connect } from "@lancedb/lancedb";
import { end, startHead, startRunner } from "../../test/functions/support.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { figureTable, mebibytes, say } from "../report.ts";
import { startServer, token } from "../servers.ts";
import { memoryOf } from "./trend.ts";
import type { Outcome } from "./writes.ts";

const memoryLimit = 2 ** 30;
const requestBytes = 30_000_000;
/** As uploads.py makes them. */
const batchRows = 8192;
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const soakUploads = async (home: string, { gigabytes }: { readonly gigabytes: number }): Promise<Outcome> => {
  const runnerPython = await pythonWith(here("../../runner/requirements.txt"), say);
  const clientPython = await pythonWith(here("../../test/clients/python/requirements.txt"), say);
  if (runnerPython.python === undefined || clientPython.python === undefined)
    return { lines: [], failures: [runnerPython.missing ?? clientPython.missing ?? ""] };
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: home,
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_FUNCTIONS: "on",
    LAKEHEAD_AUTH_API_KEY: "true",
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(memoryLimit),
    LAKEHEAD_MAX_LARGE_UPLOAD_BYTES: String(Math.ceil(gigabytes * 1.1e9)),
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const head = await startHead(runnerPython.python);
  const runner = await startRunner(runnerPython.python, home, head.address);
  const most = { main: 0, all: 0, runner: 0 };
  const watch = setInterval(() => {
    const { mainBytes, allBytes } = memoryOf(server.pid);
    most.main = Math.max(most.main, mainBytes);
    most.all = Math.max(most.all, allBytes);
    most.runner = Math.max(most.runner, memoryOf(runner.child.pid ?? 0).mainBytes);
  }, 500);
  const reported = setInterval(() => say(Object.values(most).map(mebibytes).join(" ")), 60_000);
  const from = performance.now();
  try {
    const arguments_ = [here("uploads.py"), `http://127.0.0.1:${server.port}`, token, String(gigabytes)];
    const { stdout } = await promisify(execFile)(clientPython.python, arguments_, {
      env: { ...process.env, LANCE_CLIENT_MAX_BYTES_PER_REQUEST: String(requestBytes) },
    });
    const seconds = (performance.now() - from) / 1000;
    const [version, rows] = stdout.trim().split(" ").map(Number);
    const table = await (await connect(home)).openTable("large");
    const expected = Math.floor((gigabytes * 1e9) / (batchRows * 2 ** 12)) * batchRows;
    const found = [await table.version(), await table.countRows(), rows];
    return {
      lines: [
        `${gigabytes} GB in rows of 4 KiB, sent in parts of ${requestBytes / 1e6} MB by LanceDB's client; a service with ${mebibytes(memoryLimit)} MiB.`,
        figureTable(
          ["seconds", "MB/s", "versions", "rows", "main MiB", "all MiB", "runner MiB"],
          [
            [
              seconds.toFixed(0),
              ((gigabytes * 1000) / seconds).toFixed(0),
              String(version),
              String(rows),
              ...Object.values(most).map(mebibytes),
            ],
          ],
        ),
      ],
      failures:
        String(found) === String([2, expected, expected])
          ? []
          : [`version and rows are ${found}, and should be 2, ${expected}, ${expected}`],
    };
  } finally {
    clearInterval(watch);
    clearInterval(reported);
    await end(runner, "SIGTERM");
    await head.stop();
    await server.stop();
  }
};
