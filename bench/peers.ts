/**
 * Measures the service against the Rust reference server (pylance's RestAdapter over its directory namespace) on the same
 * data, machine and load, on an object store or in local directories,
 * in alternating rounds, with each request in the form that the server accepts. Prints Markdown. Needs Python 3.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pythonWith } from "../tools/parts/python.ts";
import { writeData } from "./data.ts";
import { environmentOf, type Home, openHome, placeOf } from "./home.ts";
import { closeConnections } from "./ingest/rows.ts";
import { median, type Round } from "./measure.ts";
import { readOptions } from "./options.ts";
import { type Ask, asks, type Task } from "./peers/requests.ts";
import { writeTable } from "./peers/writes.ts";
import { cpuSecondsOf, family, residentBytesOf } from "./processes.ts";
import { conditions, figureTable, mebibytes, ms, print, say, whole } from "./report.ts";
import { startServer, token } from "./servers.ts";
import { startWorker, type Worker } from "./task-process.ts";

type SideName = "service" | "strict" | "peer";

interface Side {
  readonly name: SideName;
  readonly port: number;
  readonly pid: number;
  readonly load: Worker<Task, Round>;
  stop(): Promise<unknown>;
}

const here = (name: string): string => fileURLToPath(new URL(`peers/${name}`, import.meta.url));

const sideOf = (name: SideName, server: { port: number; pid: number; stop(): Promise<unknown> }): Side => {
  const load = startWorker<Task, Round>(new URL("peers/load.ts", import.meta.url), [String(server.port), token]);
  return {
    name,
    port: server.port,
    pid: server.pid,
    load,
    stop: async () => {
      load.stop();
      await server.stop();
    },
  };
};

const startService = async (
  name: SideName,
  home: Home,
  consistencySeconds: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Side> =>
  sideOf(
    name,
    await startServer("../service/main.ts", {
      ...environment,
      LAKEHEAD_MEMORY_LIMIT_BYTES: String((plan.gibibytes || podGibibytes) * 2 ** 30),
      ...environmentOf(home),
      LAKEHEAD_CONSISTENCY_SECONDS: String(consistencySeconds),
    }),
  );

const startPeer = async (python: string, { address, storageOptions }: Home): Promise<Side> => {
  const child = spawn(python, [here("adapter.py"), address, JSON.stringify(storageOptions)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [line] = await Promise.race([
    once(child.stdout, "data"),
    ended.then(([code]) => Promise.reject(new Error(`the reference server ended with ${code}`))),
  ]);
  return sideOf("peer", {
    port: Number(String(line)),
    pid: child.pid ?? 0,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  });
};

/** Calls a server with pylance's client: operation -> error, or null. */
const byClient = async (python: string, { port }: Side): Promise<Readonly<Record<string, string | null>>> => {
  const { stdout } = await promisify(execFile)(python, [here("client.py"), `http://127.0.0.1:${port}`, token]);
  return JSON.parse(stdout);
};

const times = (value: number): string => value.toFixed(2);
const memoryOf = (pid: number): string => mebibytes(residentBytesOf(family(pid)));

const plan = readOptions("bench:peers", {
  rounds: { default: 5, help: "rounds of each operation; the servers alternate" },
  seconds: { default: 0.3, help: "length of a round" },
  concurrency: { default: [1, 16], help: "concurrent requests" },
  gibibytes: {
    default: 0,
    help: "memory limit of the service; 0 for that of a pod by default, 2 without writes and 4 with them",
  },
  versions: { default: 0, help: "with --writes: inserts into each table before it is measured" },
  directory: { default: false, help: "tables in local directories instead of object stores" },
  writes: { default: false, help: "the writes that both servers answer instead" },
});
const podGibibytes = plan.writes ? 4 : 2;
const found = await pythonWith(here("requirements.txt"), say);
if (found.missing !== undefined) {
  print(`skipped: the reference server needs Python: ${found.missing}`);
  process.exit(0);
}

/** A round, and the CPU seconds of all processes of its server. */
type Measured = Round & { readonly cpuSeconds: number };
type Rounds = Readonly<Record<SideName, readonly Measured[]>>;

/** Request numbers by operation. Creating and deleting tags use the same numbers, so that each created tag is deleted. */
const counted = new Map<string, number>();

const measure = async (sides: readonly Side[], ask: Ask, concurrency: number): Promise<Rounds> => {
  const rounds: Record<SideName, Measured[]> = { service: [], strict: [], peer: [] };
  // The first turn only warms up.
  for (let turn = -1; turn < plan.rounds; turn++) {
    const from = counted.get(ask.name) ?? 0;
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
      const form = side.name === "peer" ? ask.peer : ask.service;
      // Both services send the same form: without an offset they would create the same tags.
      const offset = side.name === "strict" ? 1e9 : 0;
      const requests = ask.isNumbered === true ? { requests: 8 * concurrency } : {};
      const task = { concurrency, seconds: plan.seconds, from: from + offset, form, ...requests };
      const before = cpuSecondsOf(family(side.pid));
      const round = await side.load.run(task);
      const cpuSeconds = cpuSecondsOf(family(side.pid)) - before;
      if (turn >= 0) rounds[side.name].push({ ...round, cpuSeconds });
    }
    counted.set(ask.name, from + (ask.isNumbered === true ? 8 * concurrency : 1_000_000));
  }
  return rounds;
};

const rate = (round: Round): number => round.requests / round.seconds;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Microseconds of CPU for a request, over all rounds: the system counts it in steps of 10 ms. */
const cpuOf = (rounds: readonly Measured[]): number =>
  (sum(rounds.map(({ cpuSeconds }) => cpuSeconds)) / sum(rounds.map(({ requests }) => requests))) * 1e6;

/** Median of the ratios, each within one round. */
const ratio = (of: readonly Round[], to: readonly Round[], figure: (round: Round) => number): number =>
  median(of.map((round, turn) => figure(round) / figure(to[turn] as Round)));

const rowOf = (ask: Ask, concurrency: number, { service, strict, peer }: Rounds): string[] => {
  const both = (figure: (round: Round) => number, format: (value: number) => string): string[] => [
    format(median(service.map(figure))),
    format(median(peer.map(figure))),
    times(ratio(service, peer, figure)),
  ];
  return [
    ask.name,
    String(concurrency),
    ...both(rate, whole),
    times(ratio(strict, peer, rate)),
    ...both(({ p50 }) => p50, ms),
    ...both(({ p99 }) => p99, ms),
    ...[service, peer].map((rounds) => whole(cpuOf(rounds))),
    times(cpuOf(service) / cpuOf(peer)),
  ];
};

const heading = `The service against pylance's RestAdapter: ${conditions("both servers and the load")}; ${placeOf(plan.directory)}; medians of ${plan.rounds} rounds`;
const sides: Side[] = [];
const homes: Home[] = [];
const measureWrites = async (): Promise<void> => {
  for (const _ of ["service", "peer"]) homes.push(await openHome(plan.directory));
  const [ours, theirs] = homes as [Home, Home];
  const service = await startService("service", ours, 1, { LAKEHEAD_WRITES: "on" });
  sides.push(service);
  const peer = await startPeer(found.python, theirs);
  sides.push(peer);
  const ports = { service: service.port, peer: peer.port };
  print(`${heading}, ratios (service/peer) within a round.`, await writeTable(ports, plan));
};

const measureReads = async (): Promise<void> => {
  say("writing the tables …");
  const home = await openHome(plan.directory, writeData);
  homes.push(home);
  sides.push(await startService("service", home, 1));
  sides.push(await startService("strict", home, 0));
  sides.push(await startPeer(found.python, home));
  const [service, , peer] = sides as [Side, Side, Side];
  const idle = [service, peer].map(({ pid }) => memoryOf(pid));
  const clients = { service: await byClient(found.python, service), peer: await byClient(found.python, peer) };
  const rows: string[][] = [];
  for (const ask of asks)
    for (const concurrency of plan.concurrency) {
      say(`${ask.name} at ${concurrency} …`);
      rows.push(rowOf(ask, concurrency, await measure(sides, ask, concurrency)));
    }
  const after = [service, peer].map(({ pid }) => memoryOf(pid));
  const answered = (fault: string | null | undefined): string => (fault === null ? "yes" : `**no**: ${fault}`);
  print(
    `${heading} of ${plan.seconds} s, ratios (service/peer) within a round. More requests and fewer milliseconds are better.`,
    figureTable(
      [
        "operation",
        "concurrent",
        "requests/s",
        "peer",
        "ratio",
        "ratio, strong consistency",
        "p50 ms",
        "peer",
        "ratio",
        "p99 ms",
        "peer",
        "ratio",
        "CPU µs",
        "peer",
        "ratio",
      ],
      rows,
    ),
    figureTable(
      ["memory of all processes, MiB", "service", "peer"],
      [
        ["after the start", ...idle],
        ["after the run", ...after],
      ],
    ),
    figureTable(
      ["pylance's client succeeds with", "service", "peer"],
      Object.keys(clients.peer).map((name) => [name, answered(clients.service[name]), answered(clients.peer[name])]),
    ),
  );
  process.exitCode = Object.values(clients.service).every((fault) => fault === null) ? 0 : 1;
};

try {
  await (plan.writes ? measureWrites() : measureReads());
} finally {
  closeConnections();
  for (const side of sides) await side.stop();
  for (const { close } of homes) await close();
}
