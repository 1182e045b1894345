/** Reads one blob of gigabytes by ranges with many readers for minutes, some of which stop early, and watches memory. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tableFromIPC } from "apache-arrow";
import { pythonWith } from "../../tools/parts/python.ts";
import { figureTable, mebibytes, say } from "../report.ts";
import { startServer, token } from "../servers.ts";
import { growth, type Memory, memoryOf } from "./trend.ts";
import type { Outcome } from "./writes.ts";

const readersCount = 16;
const memoryLimit = 2 ** 30;
const mostBytes = 64 * 2 ** 20;
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

/** Reads a range of the blob in three ways: to its end, until a few bytes came, and with pauses. */
type Manner = "whole" | "stops" | "slow";
const manners: readonly Manner[] = ["whole", "stops", "whole", "slow"];

interface Totals {
  bytes: number;
  reads: number;
  stopped: number;
  refused: number;
  readonly failures: string[];
}

/** Checks that each eight bytes are their place in the blob. @returns what is wrong */
const faultOf = (chunk: Uint8Array, at: number): string | undefined => {
  const first = (8 - (at % 8)) % 8;
  if (chunk.byteLength < first + 8) return undefined;
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const last = first + Math.floor((chunk.byteLength - first - 8) / 8) * 8;
  const wrong = [first, last].find((place) => Number(view.getBigUint64(place, true)) !== at + place);
  return wrong === undefined ? undefined : `other bytes than those of ${at + wrong}`;
};

const readRange = async (url: string, start: number, end: number, manner: Manner, totals: Totals): Promise<void> => {
  const range = `bytes=${start}-${end - 1}`;
  const response = await fetch(url, { headers: { ...headers, range } });
  if (response.status === 429 || response.status === 503) {
    totals.refused++;
    await response.body?.cancel();
    return;
  }
  if (response.status !== 206) throw new Error(`${range}: ${response.status} ${(await response.text()).slice(0, 200)}`);
  let at = start;
  for await (const chunk of response.body ?? []) {
    const fault = faultOf(chunk, at);
    if (fault !== undefined) throw new Error(`${range}: ${fault}`);
    at += chunk.byteLength;
    totals.bytes += chunk.byteLength;
    if (manner === "stops") {
      totals.stopped++;
      // The end of the loop closes the connection.
      return;
    }
    if (manner === "slow") await sleep(20);
  }
  totals.reads++;
  if (at !== end) throw new Error(`${range}: ${at - start} bytes`);
};

export const soakBlobs = async (
  home: string,
  { minutes, gigabytes }: { readonly minutes: number; readonly gigabytes: number },
): Promise<Outcome> => {
  const requirements = fileURLToPath(new URL("../../test/clients/python/requirements.txt", import.meta.url));
  const { python, missing = "" } = await pythonWith(requirements, say);
  if (python === undefined) return { lines: [], failures: [missing] };
  say(`writing a blob of ${gigabytes} GB …`);
  const program = fileURLToPath(new URL("blobs.py", import.meta.url));
  const { stdout } = await promisify(execFile)(python, [program, join(home, "clips.lance"), String(gigabytes)]);
  const size = Number(stdout);
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: home,
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(memoryLimit),
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const base = `http://127.0.0.1:${server.port}/v1/table/clips`;
  const totals: Totals = { bytes: 0, reads: 0, stopped: 0, refused: 0, failures: [] };
  const rows: string[][] = [];
  const samples: (Memory & { readonly at: number })[] = [];
  const begin = performance.now();
  const seconds = (): number => (performance.now() - begin) / 1000;
  try {
    const body = JSON.stringify({ k: 1, vector: [], columns: ["id"], with_row_id: true });
    const answer = await fetch(`${base}/query`, { method: "POST", headers, body });
    const row = tableFromIPC(await answer.arrayBuffer())
      .getChild("_rowid")
      ?.get(0);
    const url = `${base}/blob/clip/${row}/bytes`;
    const isOver = (): boolean => seconds() >= minutes * 60;
    const read = async (index: number): Promise<void> => {
      for (let turn = index; !isOver(); turn++) {
        const length = 1 + Math.floor(Math.random() * Math.min(mostBytes, size));
        const start = Math.floor(Math.random() * (size - length));
        await readRange(url, start, start + length, manners[turn % manners.length] ?? "whole", totals).catch(
          (error: unknown) => totals.failures.push(String(error)),
        );
      }
    };
    const report = async (): Promise<void> => {
      for (let minute = 1; !isOver(); minute++) {
        const before = { ...totals, at: seconds() };
        await sleep(Math.min(60_000, Math.max(0, minutes * 60_000 - seconds() * 1000)));
        const { mainBytes, allBytes } = memoryOf(server.pid);
        const rate = (totals.bytes - before.bytes) / 1e6 / (seconds() - before.at);
        rows.push([
          String(minute),
          rate.toFixed(0),
          ...[totals.reads - before.reads, totals.stopped - before.stopped, totals.refused - before.refused].map(
            String,
          ),
          mebibytes(mainBytes),
          mebibytes(allBytes),
        ]);
        say(rows.at(-1)?.join(" ") ?? "");
      }
    };
    const sampling = setInterval(() => samples.push({ at: seconds(), ...memoryOf(server.pid) }), 1000);
    await Promise.all([...Array.from({ length: readersCount }, (_, index) => read(index)), report()]);
    clearInterval(sampling);
    const before = memoryOf(server.pid).mainBytes;
    const whole: number[] = [];
    const watching = setInterval(() => whole.push(memoryOf(server.pid).mainBytes), 200);
    const from = seconds();
    await readRange(url, 0, size, "whole", totals);
    clearInterval(watching);
    const took = seconds() - from;
    const settled = samples.filter(({ at }) => minutes <= 2 || at > 60);
    const slopeOf = (of: keyof Memory): string => growth(settled, of, ({ at }) => at / 60);
    const most = (of: keyof Memory): string => mebibytes(Math.max(...samples.map((one) => one[of])));
    return {
      lines: [
        `${minutes} minutes of ${readersCount} readers of ranges of at most 64 MiB of one blob of ${(size / 1e9).toFixed(1)} GB, a quarter of which stop after their first bytes, and a quarter of which are slow; a service with ${mebibytes(memoryLimit)} MiB.`,
        figureTable(["minute", "MB/s", "read", "stopped", "refused", "main MiB", "all MiB"], rows),
        figureTable(
          ["memory", "most, MiB", "slope after the first minute, each minute"],
          [
            ["main process, resident", most("mainBytes"), slopeOf("mainBytes")],
            ["main process and workers, resident", most("allBytes"), slopeOf("allBytes")],
          ],
        ),
        `Then the whole blob by one reader: ${(size / 1e6 / took).toFixed(0)} MB/s, the main process at ${mebibytes(before)} MiB before and ${mebibytes(Math.max(before, ...whole))} MiB at most.`,
      ],
      failures: totals.failures,
    };
  } finally {
    await server.stop();
  }
};
