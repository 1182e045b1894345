/**
 * `npm run bench:plan-document`: what a plan as data costs beside its string: the same requests in both forms, in alternating
 * rounds of one run. CPU time is that of the service with its workers and needs Linux. Prints Markdown.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planMediaType } from "../service/operations/shared/plan-document.ts";
import { Caller } from "./caller.ts";
import { writeData } from "./data.ts";
import { closedLoop, median } from "./measure.ts";
import { readOptions } from "./options.ts";
import { figureTable } from "./report.ts";
import { startServer, token } from "./servers.ts";
import { createWorkloads, type Workload } from "./workloads.ts";

const { rounds, requests } = readOptions("bench:plan-document", {
  rounds: { default: 9, help: "rounds of each form; they alternate" },
  requests: { default: 200, help: "requests of a round, one after the other" },
});

const forms = { string: "application/json", data: planMediaType } as const;
type Form = keyof typeof forms;

interface Cost {
  /** Milliseconds of a request, as the median. */
  readonly p50: number;
  /** Microseconds of CPU for a request. */
  readonly cpu: number;
  /** Of the last response. */
  readonly bytes: number;
}

const home = await mkdtemp(join(tmpdir(), "lakehead-bench-"));
await writeData(home);
const server = await startServer("../service/main.ts", { LAKEHEAD_DATABASE: home, LAKEHEAD_ANALYZE_CONCURRENCY: "1" });
const caller = new Caller(server.port);

const measure = async ({ table, operation, body, name }: Workload, form: Form): Promise<Cost> => {
  let bytes = 0;
  const before = await server.cpuSeconds();
  const { p50 } = await closedLoop(
    { workload: name, concurrency: 1, seconds: 0, requests, from: 0 },
    async (_, index) => {
      const path = `/v1/table/${table}/${operation}`;
      const { status, text } = await caller.ask({ path, token, body: body(index), headers: { accept: forms[form] } });
      if (status !== 200) throw new Error(`answered ${status}: ${text}`);
      bytes = Buffer.byteLength(text);
    },
  );
  return { p50, cpu: (((await server.cpuSeconds()) - before) / requests) * 1e6, bytes };
};

try {
  const rows: string[][] = [];
  for (const workload of createWorkloads("form").filter(({ operation }) => operation.endsWith("_plan"))) {
    const costs: Record<Form, Cost[]> = { string: [], data: [] };
    // The first round only warms up.
    for (let round = -1; round < rounds; round++)
      for (const form of round % 2 === 0 ? (["string", "data"] as const) : (["data", "string"] as const)) {
        const cost = await measure(workload, form);
        if (round >= 0) costs[form].push(cost);
      }
    const of = (form: Form, figure: keyof Cost): number => median(costs[form].map((cost) => cost[figure]));
    const ratio = (figure: keyof Cost): string =>
      median(costs.data.map((cost, round) => cost[figure] / (costs.string[round]?.[figure] ?? Number.NaN))).toFixed(2);
    rows.push([
      workload.name,
      of("string", "p50").toFixed(2),
      of("data", "p50").toFixed(2),
      ratio("p50"),
      of("string", "cpu").toFixed(0),
      of("data", "cpu").toFixed(0),
      ratio("cpu"),
      (of("data", "bytes") / of("string", "bytes")).toFixed(1),
    ]);
  }
  const head = [
    "operation",
    "string, ms",
    "data, ms",
    "data/string",
    "string, CPU µs",
    "data, CPU µs",
    "data/string",
    "bytes",
  ];
  process.stdout.write(`${figureTable(head, rows)}\n`);
} finally {
  caller.close();
  await server.stop();
  await rm(home, { recursive: true, force: true });
}
