/**
 * Measures what worker processes add to a call: the database in this process against the same database behind worker
 * processes, in alternating rounds, without HTTP. CPU time is the sum of all processes and needs Linux. Prints Markdown.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../service/config/config.ts";
import { uncheckedQuery } from "../service/guard/verify-query.ts";
import type { Database } from "../service/lance/database.ts";
import { openInProcess } from "../service/lance/in-process-database.ts";
import { openIsolated } from "../service/workers/isolated-database.ts";
import { markdownHead, markdownRow } from "../tools/markdown-table.ts";
import { writeData } from "./data.ts";
import { closedLoop, median, type Round } from "./measure.ts";
import { readOptions } from "./options.ts";
import { cpuSecondsOf, family } from "./processes.ts";
import { tables, vectorOf } from "./workloads.ts";

const {
  rounds,
  calls,
  concurrency: callers,
} = readOptions("bench:isolation", {
  rounds: { default: 5, help: "rounds of each call; the three sides alternate" },
  calls: { default: 400, help: "calls of a round" },
  concurrency: { default: [1, 16], help: "concurrent calls" },
});

const home = await mkdtemp(join(tmpdir(), "lakehead-bench-"));
await writeData(home);

const open = (environment: Readonly<Record<string, string>>): Database => {
  const { database, isolation } = readConfig({
    LAKEHEAD_DATABASE: home,
    LAKEHEAD_AUTH_ISSUER: "https://issuer.example",
    LAKEHEAD_AUTH_AUDIENCE: "bench",
    ...environment,
  });
  const own = openInProcess(database);
  return isolation === undefined ? own : openIsolated(own, isolation, () => {}).database;
};

/** The first is the baseline. Analyses run in workers of their own, which the others configure alike. */
const sides: Readonly<Record<string, Database>> = {
  "own process": open({ LAKEHEAD_ISOLATION: "off" }),
  "workers, 16 plans at a time": open({
    LAKEHEAD_ISOLATION: "all",
    LAKEHEAD_PLAN_CONCURRENCY: "16",
    LAKEHEAD_PLAN_WORKERS: "2",
  }),
  "workers, 2 plans at a time": open({
    LAKEHEAD_ISOLATION: "all",
    LAKEHEAD_PLAN_CONCURRENCY: "2",
    LAKEHEAD_PLAN_WORKERS: "2",
  }),
};

interface Ask {
  readonly name: string;
  readonly share: number;
  run(database: Database, index: number): Promise<unknown>;
}

const search = (kind: "explain" | "analyze", table: "narrow" | "wide", bypassIndex: boolean, share: number): Ask => {
  const { dimensions } = tables[table];
  const vectors = Array.from({ length: 64 }, (_, seed) => vectorOf(seed + 0.5, dimensions));
  const id = { namespace: [], name: table, parts: [table], key: table };
  const queryOf = (index: number) =>
    uncheckedQuery({
      k: 10,
      withRowId: false,
      fastSearch: false,
      vector: { vectors: [vectors[index % 64] ?? new Float32Array()], column: "vector", bypassIndex },
    });
  return {
    name: `${kind}, ${bypassIndex ? "flat" : "index"}, ${dimensions} dimensions`,
    share,
    run: (database, index) =>
      kind === "explain" ? database.explain(id, queryOf(index), false) : database.analyze(id, queryOf(index)),
  };
};

const asks: readonly Ask[] = [
  search("explain", "narrow", false, 1),
  search("explain", "wide", false, 1),
  search("analyze", "narrow", false, 1),
  search("analyze", "wide", false, 1),
  search("analyze", "narrow", true, 0.1),
];

const cpuSeconds = (): number => cpuSecondsOf(family(process.pid));

interface Measured extends Round {
  /** Microseconds of CPU for a call. */
  readonly cpu: number;
}

const measure = async (ask: Ask, database: Database, concurrency: number): Promise<Measured> => {
  const requests = Math.max(10, Math.round(calls * ask.share));
  const task = { workload: ask.name, concurrency, seconds: 0, requests, from: 0 };
  const before = cpuSeconds();
  const round = await closedLoop(task, (_, index) => ask.run(database, index));
  return { ...round, cpu: ((cpuSeconds() - before) / requests) * 1e6 };
};

const names = Object.keys(sides);
const [base = ""] = names;

/** One row for each side; added figures are medians of the differences to the baseline within a round. */
const lines = (ask: Ask, concurrency: number, measured: ReadonlyMap<string, readonly Measured[]>): string =>
  names
    .map((name) => {
      const all = measured.get(name) ?? [];
      const against = measured.get(base) ?? [];
      const of = (figure: "p50" | "cpu"): number => median(all.map((round) => round[figure]));
      const more = (figure: "p50" | "cpu"): number =>
        median(all.map((round, turn) => round[figure] - (against[turn]?.[figure] ?? Number.NaN)));
      const added = name === base ? ["", ""] : [more("p50").toFixed(2), more("cpu").toFixed(0)];
      const cells = [ask.name, String(concurrency), name, of("p50").toFixed(2), ...added, of("cpu").toFixed(0)];
      return `${markdownRow(cells)}\n`;
    })
    .join("");

try {
  process.stdout.write(
    `${markdownHead(
      ["call", "concurrent", "where", "p50, ms", "added p50, ms", "added CPU, µs", "CPU, µs"],
      ["left", "right", "left", "right"],
    )}\n`,
  );
  for (const ask of asks)
    for (const concurrency of callers) {
      const measured = new Map<string, Measured[]>(names.map((name) => [name, []]));
      // The first round only warms up.
      for (let turn = -1; turn < rounds; turn++)
        for (const name of turn % 2 === 0 ? names : names.toReversed()) {
          const database = sides[name];
          if (database === undefined) continue;
          const round = await measure(ask, database, concurrency);
          if (turn >= 0) measured.get(name)?.push(round);
        }
      process.stdout.write(lines(ask, concurrency, measured));
    }
} finally {
  for (const database of Object.values(sides)) await database.close();
  await rm(home, { recursive: true, force: true });
}
