/**
 * Sends mixed load, valid and invalid, for minutes at 80 % of the measured capacity, and watches memory, latency and
 * responses. Then sends SIGTERM under load and counts accepted requests without a response. Prints Markdown. The exit code is
 * 1 for a wrong or lost response, not for a figure. Memory is read from `/proc`, so it needs Linux.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../tools/parts/free-port.ts";
import { writeData } from "./data.ts";
import { closeConnections } from "./ingest/rows.ts";
import { readOptions } from "./options.ts";
import { conditions, figureTable, mebibytes, print, say, whole } from "./report.ts";
import { type Server, startServer } from "./servers.ts";
import { soakBlobs } from "./soak/blobs.ts";
import type { Sent, Stretch, Task } from "./soak/load.ts";
import { growth, type Memory, memoryOf, signed, slope } from "./soak/trend.ts";
import { soakUploads } from "./soak/uploads.ts";
import { type Outcome, soakWrites } from "./soak/writes.ts";
import { startWorker } from "./task-process.ts";

/** Flags of a Node process that can be inspected on a port of loopback. */
const inspectable = (port: number): readonly string[] => [`--inspect=127.0.0.1:${port}`, "--inspect-publish-uid=http"];

/** A client of Node's inspector, by the DevTools protocol. */
class Inspector {
  readonly #socket: WebSocket;
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async connect(port: number): Promise<Inspector> {
    const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    const [{ webSocketDebuggerUrl }] = targets as [{ readonly webSocketDebuggerUrl: string }];
    const socket = new WebSocket(webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return new Inspector(socket);
  }

  ask<T>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#socket.addEventListener("message", function onMessage({ data }) {
        const message = JSON.parse(String(data));
        if (message.id !== id) return;
        this.removeEventListener("message", onMessage);
        resolve(message.result);
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close(): void {
    this.#socket.close();
  }
}

const plan = readOptions("soak", {
  minutes: { default: 10, help: "length of the run, at 80 % of the measured capacity" },
  requests: { default: 0, help: "send this many requests at full speed instead" },
  writes: { default: false, help: "reads and writes, with a ledger of the rows, then large inserts instead" },
  blobs: { default: false, help: "ranges of one large blob by 16 readers instead" },
  uploads: { default: false, help: "one upload in parts, which a runner of Functions commits, instead" },
  gigabytes: {
    default: 10,
    help: "with --writes: gigabytes of the large inserts; with --blobs: of the blob; with --uploads",
  },
});
const share = 0.8;
const callers = 32;
const warmUpSeconds = 30;
const slices = 10;
const drainSeconds = 2;
/** A connection made this long before the listener closes has been accepted. */
const surelyMs = 500;

interface Sample extends Memory {
  /** Seconds since the beginning. */
  readonly at: number;
  /** Requests answered by then. */
  readonly requests: number;
}

/** The stretches of the run, and their description for the report. */
const stretchesOf = (perSecond: number): { readonly name: string; readonly stretches: readonly Stretch[] } => {
  const { minutes, requests } = plan;
  if (requests > 0) {
    const each = Math.ceil(requests / slices);
    return {
      name: `${whole(each * slices)} requests at full speed from ${callers} callers`,
      stretches: Array.from({ length: slices }, () => ({ callers, requests: each })),
    };
  }
  const rate = perSecond * share;
  const whole60 = Array.from({ length: Math.floor(minutes) }, () => 60);
  const rest = (minutes % 1) * 60;
  return {
    name: `${minutes} minutes at ${whole(rate)} requests/s, ${share * 100} % of the ${whole(perSecond)} that ${callers} callers reached`,
    stretches: [...whole60, ...(rest > 0 ? [rest] : [])].map((seconds) => ({
      callers: 4 * callers,
      seconds,
      perSecond: rate,
    })),
  };
};

const sampleOf = ({ pid }: Server, begin: number, requests: number): Sample => ({
  at: (performance.now() - begin) / 1000,
  requests,
  ...memoryOf(pid),
});

const failuresOf = ({ unexpected, unanswered }: Sent): string[] => [
  ...Object.entries(unexpected).map(([sort, count]) => `${count} × ${sort}`),
  ...unanswered.slice(0, 3).map(({ error }) => `${unanswered.length} without an answer: ${error}`),
];

/** Heap of the main process after a garbage collection, in bytes. */
const heldBytes = async (inspector: Inspector): Promise<number> => {
  await inspector.ask("HeapProfiler.collectGarbage");
  return (await inspector.ask<{ readonly usedSize: number }>("Runtime.getHeapUsage")).usedSize;
};

const soak = async (
  server: Server,
  inspector: Inspector,
  send: (stretch: Stretch) => Promise<Sent>,
): Promise<Outcome> => {
  say(`warming up for ${warmUpSeconds} s …`);
  const warm = await send({ callers, seconds: warmUpSeconds });
  const capacity = await send({ callers, seconds: 10 });
  const { name, stretches } = stretchesOf(capacity.requests / capacity.seconds);
  say(`${name} …`);
  // Garbage of the warm-up would distort the slope when it is collected.
  await heldBytes(inspector);
  const begin = performance.now();
  const samples: Sample[] = [];
  const holdings: [hundredThousands: number, mebibytes: number][] = [];
  const rows: string[][] = [];
  /** Number of samples at the end of each stretch. */
  const ends: number[] = [];
  const failures = [...failuresOf(warm), ...failuresOf(capacity)];
  let answered = 0;
  for (const stretch of stretches) {
    const first = samples.length;
    // Requests are only counted at the end of a stretch, so they are spread evenly over its samples.
    const watch = setInterval(() => samples.push(sampleOf(server, begin, Number.NaN)), 1000);
    const sent = await send(stretch);
    clearInterval(watch);
    const before = answered;
    answered += sent.requests;
    const end = (performance.now() - begin) / 1000;
    const start = end - sent.seconds;
    for (let index = first; index < samples.length; index++) {
      const sample = samples[index] as Sample;
      samples[index] = { ...sample, requests: before + ((sample.at - start) / sent.seconds) * sent.requests };
    }
    samples.push(sampleOf(server, begin, answered));
    ends.push(samples.length);
    const held = await heldBytes(inspector);
    holdings.push([answered / 100_000, held / 2 ** 20]);
    const last = samples.at(-1) as Sample;
    failures.push(...failuresOf(sent));
    rows.push([
      String(rows.length + 1),
      whole(sent.requests),
      sent.p50.toFixed(1),
      sent.p99.toFixed(1),
      String(sent.refusals),
      String(Object.values(sent.unexpected).reduce((sum, count) => sum + count, 0) + sent.unanswered.length),
      (held / 2 ** 20).toFixed(1),
      mebibytes(last.mainBytes),
      mebibytes(last.allBytes),
    ]);
  }
  // In the first stretch the heap grows back to its usual size.
  const settled = samples.slice(rows.length > 2 ? ends[0] : 0);
  const perHour = (of: keyof Memory): string => growth(settled, of, ({ at }) => at / 3600);
  const per100k = (of: keyof Memory): string => growth(settled, of, ({ requests }) => requests / 100_000);
  return {
    failures,
    lines: [
      `${name}.`,
      figureTable(
        [
          plan.requests === 0 ? "minute" : "tenth",
          "requests",
          "p50 ms",
          "p99 ms",
          "refusals",
          "unexpected",
          "heap MiB",
          "main MiB",
          "all MiB",
        ],
        rows,
      ),
      figureTable(
        ["memory, slope of the samples after the first row", "per hour", "per 100,000 requests"],
        [
          ["heap of the main process after a collection", "", signed(slope(holdings))],
          ["main process, resident", perHour("mainBytes"), per100k("mainBytes")],
          ["main process and workers, resident", perHour("allBytes"), per100k("allBytes")],
        ],
      ),
    ],
  };
};

/** Sends SIGTERM under load: every accepted request gets a response. */
const shutDown = async (
  server: Server,
  send: (stretch: Stretch) => Promise<Sent>,
  logged: ReadonlySet<string>,
): Promise<Outcome> => {
  const sending = send({ callers, untilGone: true });
  await sleep(2000);
  const stoppedAt = Date.now();
  const code = await server.stop();
  const { requests, refusals, unexpected, unanswered } = await sending;
  const shutAt = stoppedAt + drainSeconds * 1000;
  const lost = unanswered.filter(({ id, sentAt }) => logged.has(id) || sentAt < shutAt - surelyMs);
  const wrong = Object.entries(unexpected).map(([sort, count]) => `${count} × ${sort}`);
  return {
    lines: [
      `SIGTERM under the load of ${callers} callers: ${whole(requests)} requests answered (${refusals} refused), ${lost.length} accepted and lost, ${unanswered.length - lost.length} reset before they were accepted, exit code ${code}.`,
    ],
    failures: [
      ...wrong,
      ...lost.map(({ id, error }) => `lost: ${id}: ${error}`),
      ...(code === 0 ? [] : [`the service ended with ${code}`]),
    ],
  };
};

/** Request ids in the log, while `keep` is true. */
class LoggedIds {
  readonly ids = new Set<string>();
  keep = false;
  #rest = "";

  read(text: string): void {
    if (!this.keep) return;
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const id = /"requestId":"([^"]+)"/.exec(line)?.[1];
      if (id !== undefined) this.ids.add(id);
    }
  }
}

const home = await mkdtemp(join(tmpdir(), "lakehead-soak-"));
/** The mix of reads, then the end under load. */
const soakReads = async (): Promise<Outcome> => {
  await writeData(home);
  const logged = new LoggedIds();
  const inspectorPort = await freePort();
  const server = await startServer(
    "../service/main.ts",
    { LAKEHEAD_DATABASE: home, LAKEHEAD_DRAIN_SECONDS: String(drainSeconds) },
    { flags: inspectable(inspectorPort), onLog: (text) => logged.read(text) },
  );
  const inspector = await Inspector.connect(inspectorPort);
  const load = startWorker<Task, unknown>(new URL("soak/load.ts", import.meta.url), [String(server.port)]);
  const send = (stretch: Stretch): Promise<Sent> => load.run(stretch) as Promise<Sent>;
  const wrong = (await load.run({ each: true })) as readonly string[];
  const soaked = wrong.length > 0 ? { lines: [], failures: wrong } : await soak(server, inspector, send);
  inspector.close();
  logged.keep = true;
  const stopped = await shutDown(server, send, logged.ids);
  load.stop();
  return {
    lines: [...soaked.lines, ...stopped.lines],
    failures: [...soaked.failures, ...stopped.failures],
  };
};

try {
  const { lines, failures } = await (plan.blobs
    ? soakBlobs(home, plan)
    : plan.writes
      ? soakWrites(home, plan)
      : plan.uploads
        ? soakUploads(home, plan)
        : soakReads());
  const wrong = failures.slice(0, 20).map((failure) => `- ${failure}`);
  print(
    `${conditions("service and load")}.`,
    ...lines,
    failures.length === 0 ? "All responses were expected ones or refusals." : `**Wrong:**\n\n${wrong.join("\n")}`,
  );
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  closeConnections();
  await rm(home, { recursive: true, force: true });
}
