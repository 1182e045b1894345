/**
 * Overloads the service: a thousand concurrent searches, each through all of a million vectors, and one that exceeds its
 * deadline. Prints Markdown. The exit code is 1 after a crash or a response that is neither a plan nor a refusal, but not
 * after a missed target. Memory is read from `/proc`, so it needs Linux.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Caller } from "./caller.ts";
import { million, writeMillion } from "./flood/data.ts";
import type { Flooded } from "./flood/load.ts";
import { neighbourTable } from "./flood/neighbours.ts";
import { median, percentile } from "./measure.ts";
import { readOptions } from "./options.ts";
import { Probe } from "./probe.ts";
import { family, residentBytesOf } from "./processes.ts";
import { conditions, figureTable, print, say } from "./report.ts";
import { type Server, startServer, token } from "./servers.ts";
import { startWorker } from "./task-process.ts";
import { vectorOf } from "./workloads.ts";

const everyMs = 50;

/** Watches the resident memory of a process and its children. */
class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #peak = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.now(), everyMs);
  }

  /** Resident bytes now. */
  now(): number {
    const bytes = residentBytesOf(family(this.#pid));
    this.#peak = Math.max(this.#peak, bytes);
    return bytes;
  }

  /** Maximum since the last call, in bytes. */
  takePeak(): number {
    this.now();
    const peak = this.#peak;
    this.#peak = 0;
    return peak;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const { seconds, neighbours, ...options } = readOptions("bench:flood", {
  seconds: { default: 30, help: "maximum time of a search in the queue; with --neighbours, length of each flood" },
  neighbours: { default: false, help: "plans and statistics beside floods of analyses and of writes instead" },
  callers: { default: 16, help: "with --neighbours: callers of a flood" },
});
const searches = 1000;
const memoryLimit = 2e9;

type Row = readonly [what: string, target: string, reached: string, kept: boolean];

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;
const ms = (value: number): string => `${value.toFixed(0)} ms`;

const vector = [...vectorOf(0.5, million.dimensions)];

const metrics = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

/** Worker processes that ended, by reason, from the service's metrics. */
const workerEnds = async (port: number): Promise<string> => {
  const ends = [...(await metrics(port)).matchAll(/^lakehead_worker_ends_total\{[^}]*reason="(\w+)"[^}]*\} (\d+)$/gm)];
  return ends.map(([, reason, count]) => `${count} ${reason}`).join(", ");
};

const flood = async (directory: string): Promise<{ readonly rows: Row[]; readonly wrong: readonly string[] }> => {
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: directory,
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(memoryLimit),
    // The queue takes all searches: each runs, or is refused when it has waited too long.
    LAKEHEAD_ANALYZE_QUEUE: String(searches),
    LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: String(2 * searches),
    LAKEHEAD_QUEUE_SECONDS: String(seconds),
  });
  const load = startWorker<{ readonly requests: number }, Flooded>(new URL("flood/load.ts", import.meta.url), [
    String(server.port),
    token,
  ]);
  const memory = new MemoryWatch(server.pid);
  const livez = new Probe(server.operationsPort, { method: "GET", path: "/livez" }, 25);
  const query = { k: 10, vector, bypass_vector_index: true };
  const explain = new Probe(
    server.port,
    { path: `/v1/table/${million.name}/explain_plan`, token, body: JSON.stringify({ query }) },
    200,
  );
  const { plans, refusals, wrong } = await load.run({ requests: searches });
  const [lived, explained] = await Promise.all([livez.stop(), explain.stop()]);
  const peak = memory.takePeak();
  memory.stop();
  load.stop();
  const ends = await workerEnds(server.operationsPort).catch(() => "the service itself");
  const code = await server.stop();
  const failures = [...wrong, ...lived.failures, ...explained.failures, ...(code === 0 ? [] : [`exit code ${code}`])];
  const p99 = percentile(lived.latencies, 0.99);
  const explainP99 = percentile(explained.latencies, 0.99);
  return {
    wrong: failures,
    rows: [
      ["processes that ended", "none", ends || "none", ends === ""],
      ["searches answered with a plan", "", String(plans), true],
      [`searches refused after ${seconds} s of waiting (503, code 17)`, "", String(refusals), true],
      ["other answers", "none", String(wrong.length), wrong.length === 0],
      ["peak memory of all processes", `< ${gigabytes(memoryLimit)}`, gigabytes(peak), peak < memoryLimit],
      [`/livez p99 (of ${lived.latencies.length})`, "< 100 ms", ms(p99), p99 < 100],
      ["/livez p50, maximum", "", `${ms(median(lived.latencies))}, ${ms(Math.max(...lived.latencies))}`, true],
      [
        "explain_plan answered",
        "all",
        `${explained.latencies.length - explained.failures.length} of ${explained.latencies.length}`,
        explained.failures.length === 0,
      ],
      ["explain_plan p99", "< 200 ms", ms(explainP99), explainP99 < 200],
    ],
  };
};

/** Waits for an idle worker process: after one was ended, its successor needs half a second to start. */
const workerReady = async (port: number): Promise<void> => {
  while (!/^lakehead_workers\{[^}]*state="idle"[^}]*\} [1-9]/m.test(await metrics(port))) await sleep(50);
};

/** A filter that takes seconds over a million rows and that the guard allows. */
const slowFilter = Array.from({ length: 16 }, (_, index) => `cast(id as string) not like '%${index}x%y%'`).join(
  " AND ",
);

/** Waits up to five seconds until memory is at most `wanted`; returns the memory then. */
const settled = async (memory: MemoryWatch, wanted: number): Promise<number> => {
  const until = performance.now() + 5000;
  while (memory.now() > wanted && performance.now() < until) await sleep(50);
  return memory.now();
};

const deadline = async (directory: string): Promise<{ readonly rows: Row[]; readonly wrong: readonly string[] }> => {
  const server: Server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: directory,
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(memoryLimit),
    LAKEHEAD_ANALYZE_DEADLINE_SECONDS: "1",
  });
  const memory = new MemoryWatch(server.pid);
  const caller = new Caller(server.port);
  const query = { k: 10, vector, bypass_vector_index: true, prefilter: true, filter: slowFilter };
  const asked = { path: `/v1/table/${million.name}/analyze_plan`, token, body: JSON.stringify(query) };
  const answers: { readonly wrong: string | undefined; readonly seconds: number }[] = [];
  await workerReady(server.operationsPort);
  const before = memory.now();
  memory.takePeak();
  for (let turn = 0; turn < 5; turn++) {
    await workerReady(server.operationsPort);
    const start = performance.now();
    const { status, text } = await caller.ask(asked);
    const right = status === 503 && text.includes('"code":17') && text.includes("was stopped");
    answers.push({
      wrong: right ? undefined : `${status}: ${text}`,
      seconds: (performance.now() - start) / 1000,
    });
  }
  const peak = memory.takePeak();
  await workerReady(server.operationsPort);
  const after = await settled(memory, before * 1.1);
  memory.stop();
  caller.close();
  await server.stop();
  const slowest = Math.max(...answers.map((answer) => answer.seconds));
  const wrong = answers.flatMap((answer) => answer.wrong ?? []);
  return {
    wrong,
    rows: [
      [
        "deadline of 1 s for a search of several seconds, slowest of 5",
        "503 in < 2 s",
        wrong.length === 0 ? `503 in ${slowest.toFixed(2)} s` : "other answers",
        wrong.length === 0 && slowest < 2,
      ],
      [
        "memory before, peak, and after",
        "released",
        [before, peak, after].map(gigabytes).join(", "),
        after <= before * 1.1,
      ],
    ],
  };
};

const home = await mkdtemp(join(tmpdir(), "lakehead-flood-"));
const machine = `${conditions("service and load")}.`;

interface Outcome {
  readonly text: string;
  readonly wrong: readonly string[];
}

const searchesOfMany = async (): Promise<Outcome> => {
  say(`writing ${million.rows} vectors of ${million.dimensions} dimensions …`);
  await writeMillion(home);
  say(`${searches} concurrent searches …`);
  const flooded = await flood(home);
  say("a search that exceeds its deadline …");
  const ended = await deadline(home);
  const rows = [...flooded.rows, ...ended.rows];
  return {
    text: `${searches} concurrent searches, each through all of ${million.rows.toLocaleString("en-US")} vectors of ${million.dimensions} dimensions; ${machine}\n\n${figureTable(
      ["", "target", "measured", "met"],
      rows.map(([what, target, reached, kept]) => [
        what,
        target,
        reached,
        target === "" ? "" : kept ? "yes" : "**no**",
      ]),
    )}`,
    wrong: [...flooded.wrong, ...ended.wrong],
  };
};

const besideNeighbours = async (): Promise<Outcome> => {
  const { table, wrong } = await neighbourTable(home, { seconds, ...options });
  return { text: `${machine}\n\n${table}`, wrong };
};

try {
  const { text, wrong } = await (neighbours ? besideNeighbours() : searchesOfMany());
  print(text);
  for (const fault of wrong.slice(0, 5)) say(`wrong: ${fault}`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await rm(home, { recursive: true, force: true });
}
