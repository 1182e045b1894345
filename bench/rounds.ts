import type { DirectRound } from "./bare-sdk.ts";
import { median, type Round, type Task } from "./measure.ts";
import { type Server, startServer, token } from "./servers.ts";
import { startWorker, type Worker } from "./task-process.ts";
import { createWorkloads } from "./workloads.ts";

/** One of the compared programs: runs a round and measures its CPU time. */
interface Side {
  run(task: Task): Promise<DirectRound>;
  stop(): Promise<void>;
}

export type SideName = "service" | "direct" | "raw";

/** The raw server is only a baseline, so it runs at one concurrency. */
export const rawConcurrency = 16;

/** Time in which V8 compiles the code of a workload; these requests do not count. */
const warmUpSeconds = 1;

/** Medians over the rounds, except for the CPU time. */
export interface Figures {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of CPU for a request in the best round: other load on the machine can only add to it. */
  readonly cpu: number;
}

/** Requests per second of the service divided by another side's, by round: median, minimum, maximum. */
export type Ratio = readonly [number, number, number];

export interface Result {
  readonly workload: string;
  readonly concurrency: number;
  readonly figures: Readonly<Record<"service" | "direct", Figures>>;
  readonly ratio: Ratio;
  /** Measured at one concurrency only. */
  readonly raw?: { readonly figures: Figures; readonly ratio: Ratio };
  /** Milliseconds that the service adds to the direct call: medians of the rounds' differences. */
  readonly added: { readonly p50: number; readonly p99: number };
}

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly concurrencies: readonly number[];
}

const serverSide = async (name: SideName, module: string, environment: Readonly<Record<string, string>>) => {
  const server: Server = await startServer(module, environment);
  const load: Worker<Task, Round> = startWorker(new URL("load.ts", import.meta.url), [
    String(server.port),
    token,
    name,
  ]);
  return {
    run: async (task: Task) => {
      const before = await server.cpuSeconds();
      const round = await load.run(task);
      return { ...round, cpuSeconds: (await server.cpuSeconds()) - before };
    },
    stop: async () => {
      load.stop();
      await server.stop();
    },
  } satisfies Side;
};

const directSide = (directory: string): Side => {
  const worker: Worker<Task, DirectRound> = startWorker(new URL("bare-sdk.ts", import.meta.url), [directory]);
  return { run: (task) => worker.run(task), stop: async () => worker.stop() };
};

const figuresOf = (rounds: readonly DirectRound[]): Figures => {
  const of = (figure: (round: DirectRound) => number): number => median(rounds.map(figure));
  return {
    perSecond: of(({ requests, seconds }) => requests / seconds),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    cpu: Math.min(...rounds.map(({ cpuSeconds, requests }) => (cpuSeconds / requests) * 1e6)),
  };
};

const rate = (round: DirectRound | undefined): number =>
  round === undefined ? Number.NaN : round.requests / round.seconds;

const ratios = (of: readonly DirectRound[], to: readonly DirectRound[]): Ratio => {
  const all = of.map((round, index) => rate(round) / rate(to[index]));
  return [median(all), Math.min(...all), Math.max(...all)];
};

const concluded = (
  workload: string,
  concurrency: number,
  rounds: Readonly<Record<SideName, readonly DirectRound[]>>,
): Result => {
  const { service, direct, raw } = rounds;
  const more = (figure: "p50" | "p99"): number =>
    median(service.map((round, index) => round[figure] - (direct[index]?.[figure] ?? Number.NaN)));
  return {
    workload,
    concurrency,
    figures: { service: figuresOf(service), direct: figuresOf(direct) },
    ratio: ratios(service, direct),
    ...(raw.length === 0 ? {} : { raw: { figures: figuresOf(raw), ratio: ratios(service, raw) } }),
    added: { p50: more("p50"), p99: more("p99") },
  };
};

/**
 * Runs every workload at every concurrency against the service, the bare SDK and the operations behind a raw server, in
 * alternating rounds: other load on the machine affects all sides alike, and ratios are taken within a round.
 */
export const runRounds = async (
  directory: string,
  { rounds, seconds, concurrencies }: Plan,
  onResult: (result: Result) => void,
): Promise<Result[]> => {
  const environment = { LAKEHEAD_DATABASE: directory };
  const sides: Readonly<Record<SideName, Side>> = {
    service: await serverSide("service", "../service/main.ts", environment),
    direct: directSide(directory),
    raw: await serverSide("raw", "raw-server.ts", environment),
  };
  const all = Object.keys(sides) as SideName[];
  const results: Result[] = [];
  // Request numbers by workload. Creating and deleting tags use the same numbers, so that each created tag is deleted.
  const from = new Map<string, number>();
  const round = async (names: readonly SideName[], task: Omit<Task, "from">) => {
    const begin = from.get(task.workload) ?? 0;
    from.set(task.workload, begin + (task.requests ?? 1_000_000));
    const done = {} as Record<SideName, DirectRound>;
    for (const name of names) done[name] = await sides[name].run({ ...task, from: begin });
    return done;
  };
  try {
    for (const concurrency of concurrencies)
      for (const { name: workload, perRound } of createWorkloads("")) {
        const task = { workload, concurrency, seconds, ...(perRound === undefined ? {} : { requests: perRound }) };
        const names = all.filter((name) => name !== "raw" || concurrency === rawConcurrency);
        await round(names, { ...task, seconds: Math.max(seconds, warmUpSeconds) });
        const measured: Record<SideName, DirectRound[]> = { service: [], direct: [], raw: [] };
        for (let turn = 0; turn < rounds; turn++) {
          const done = await round(turn % 2 === 0 ? names : names.toReversed(), task);
          for (const name of names) measured[name].push(done[name]);
        }
        const result = concluded(workload, concurrency, measured);
        results.push(result);
        onResult(result);
      }
    return results;
  } finally {
    for (const name of all) await sides[name].stop();
  }
};
