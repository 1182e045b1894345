import type { DirectRound } from "./bare-sdk.ts";
import { environmentOf, type Home } from "./home.ts";
import { median, type Round } from "./measure.ts";
import { type Server, startServer, token } from "./servers.ts";
import { startWorker, type Worker } from "./task-process.ts";
import { createWorkloads, type Task } from "./workloads.ts";

/** One of the compared programs: runs a round and measures its CPU time. */
interface Side {
  run(task: Task): Promise<DirectRound>;
  stop(): Promise<void>;
}

export type SideName = "service" | "direct";

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
  readonly figures: Readonly<Record<SideName, Figures>>;
  readonly ratio: Ratio;
  /** Milliseconds that the service adds to the direct call: medians of the rounds' differences. */
  readonly added: { readonly p50: number; readonly p99: number };
}

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly concurrency: readonly number[];
}

/** Requests to the store of one warm request, by kind, for instance `2 HEAD, 1 GET`; within the staleness bound, and with 0. */
export interface StoreCost {
  readonly workload: string;
  readonly bounded: string;
  readonly strong: string;
}

const serverSide = async (name: string, environment: Readonly<Record<string, string>>) => {
  const server: Server = await startServer("../service/main.ts", environment);
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

const directSide = ({ address, storageOptions }: Home): Side => {
  const worker: Worker<Task, DirectRound> = startWorker(new URL("bare-sdk.ts", import.meta.url), [
    address,
    JSON.stringify(storageOptions),
  ]);
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
  const { service, direct } = rounds;
  const more = (figure: "p50" | "p99"): number =>
    median(service.map((round, index) => round[figure] - (direct[index]?.[figure] ?? Number.NaN)));
  return {
    workload,
    concurrency,
    figures: { service: figuresOf(service), direct: figuresOf(direct) },
    ratio: ratios(service, direct),
    added: { p50: more("p50"), p99: more("p99") },
  };
};

/** Requests whose store requests are counted. */
const countedCalls = 10;

/** Counts what one caller's requests send to the store. */
const countRequests = async (home: Home, name: string, consistencySeconds: number): Promise<Map<string, string>> => {
  const side = await serverSide(name, {
    ...environmentOf(home),
    LAKEHEAD_CONSISTENCY_SECONDS: String(consistencySeconds),
  });
  const counts = new Map<string, string>();
  try {
    for (const { name: workload } of createWorkloads("")) {
      const task = { workload, concurrency: 1, seconds: 0, requests: countedCalls };
      await side.run({ ...task, from: 0 });
      home.take();
      await side.run({ ...task, from: countedCalls });
      const kinds = Map.groupBy(home.take(), ({ kind }) => kind);
      const shares = [...kinds].map(
        ([kind, { length }]) => `${Math.round((length / countedCalls) * 100) / 100} ${kind}`,
      );
      counts.set(workload, shares.join(", ") || "none");
    }
    return counts;
  } finally {
    await side.stop();
  }
};

/**
 * Runs every workload at every concurrency against the service and the bare SDK, in alternating rounds: other load on the
 * machine affects both sides alike, and ratios are taken within a round.
 */
export const runRounds = async (
  home: Home,
  { rounds, seconds, concurrency: concurrencies }: Plan,
  onResult: (result: Result) => void,
): Promise<{ readonly results: readonly Result[]; readonly costs: readonly StoreCost[] }> => {
  // With a long bound, no check for a newer version is counted.
  const bounded = await countRequests(home, "bounded", 60);
  const strong = await countRequests(home, "strong", 0);
  const costs = [...bounded].map(([workload, requests]) => ({
    workload,
    bounded: requests,
    strong: strong.get(workload) ?? "",
  }));
  const sides: Readonly<Record<SideName, Side>> = {
    service: await serverSide("service", environmentOf(home)),
    direct: directSide(home),
  };
  const names = Object.keys(sides) as SideName[];
  const results: Result[] = [];
  // Request numbers by workload. Creating and deleting tags use the same numbers, so that each created tag is deleted.
  const from = new Map<string, number>();
  const round = async (order: readonly SideName[], task: Omit<Task, "from">) => {
    const begin = from.get(task.workload) ?? 0;
    from.set(task.workload, begin + (task.requests ?? 1_000_000));
    const done = {} as Record<SideName, DirectRound>;
    for (const name of order) done[name] = await sides[name].run({ ...task, from: begin });
    return done;
  };
  try {
    for (const concurrency of concurrencies)
      for (const { name: workload, isNumbered } of createWorkloads("")) {
        const requests = isNumbered === true ? { requests: 8 * concurrency } : {};
        const task = { workload, concurrency, seconds, ...requests };
        await round(names, { ...task, seconds: Math.max(seconds, warmUpSeconds) });
        const measured: Record<SideName, DirectRound[]> = { service: [], direct: [] };
        for (let turn = 0; turn < rounds; turn++) {
          const done = await round(turn % 2 === 0 ? names : names.toReversed(), task);
          for (const name of names) measured[name].push(done[name]);
        }
        const result = concluded(workload, concurrency, measured);
        results.push(result);
        onResult(result);
      }
    return { results, costs };
  } finally {
    for (const name of names) await sides[name].stop();
  }
};
