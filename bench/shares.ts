/**
 * Measures what one caller waits for while another one floods the service with the slowest plans that it accepts. Prints
 * Markdown; exits with 1 when a response is neither a plan nor a refusal, not when a figure is missed.
 */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scopes } from "../service/auth/index.ts";
import { makeExpressionTable } from "../test/service/guard/expression/support/table.ts";
import { Caller } from "./caller.ts";
import { median, percentile } from "./measure.ts";
import { readOptions } from "./options.ts";
import { Probe, type Probed } from "./probe.ts";
import { figureTable } from "./report.ts";
import { startServer } from "./servers.ts";

const { seconds, callers } = readOptions("bench:shares", {
  seconds: { default: 15, help: "duration of each phase" },
  callers: { default: 64, help: "concurrent requests of the flooding caller" },
});

const staticToken = (name: string, scopes: readonly string[]) => ({
  name,
  sha256: createHash("sha256").update(name).digest("hex"),
  scopes,
  tables: ["**"],
});

/** What `npm run bench:planning` found: nested calls, of which the planner looks for common parts. */
const nested =
  "(- (date_part('year', to_timestamp_micros(log(array_max(nums)))))) < ((log2(list_length([id, cbrt(x)])) % 5))";
const slowest = JSON.stringify({
  query: {
    k: 10,
    filter: nested,
    columns: { column_aliases: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`a${index}`, nested])) },
  },
});

const home = await mkdtemp(join(tmpdir(), "lakehead-shares-"));
try {
  const made = await makeExpressionTable(home, "t");
  await (await made.tags()).create("first", 1);
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: home,
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify([staticToken("flood", ["plan"]), staticToken("other", scopes)]),
  });
  const probe = async (): Promise<Readonly<Record<string, Probed>>> => {
    const other = { token: "other", body: "{}" };
    const probes = {
      stats: new Probe(server.port, { ...other, path: "/v1/table/t/stats" }, 200),
      "tags/version": new Probe(
        server.port,
        { ...other, path: "/v1/table/t/tags/version", body: '{"tag":"first"}' },
        200,
      ),
      explain_plan: new Probe(
        server.port,
        { ...other, path: "/v1/table/t/explain_plan", body: '{"query":{"k":1,"filter":"id = 7"}}' },
        200,
      ),
    };
    await sleep(seconds * 1000);
    const ended = await Promise.all(Object.values(probes).map((one) => one.stop()));
    return Object.fromEntries(Object.keys(probes).map((name, index) => [name, ended[index] as Probed]));
  };

  const quiet = await probe();
  let isFlooding = true;
  let plans = 0;
  let refusals = 0;
  const wrong: string[] = [];
  const flooding = Array.from({ length: callers }, async () => {
    const caller = new Caller(server.port);
    while (isFlooding) {
      const { status, text } = await caller.ask({ token: "flood", path: "/v1/table/t/explain_plan", body: slowest });
      if (status === 200) plans++;
      else if (status === 429 || status === 503) refusals++;
      else wrong.push(`${status}: ${text.slice(0, 200)}`);
    }
    caller.close();
  });
  await sleep(1000);
  const flooded = await probe();
  isFlooding = false;
  await Promise.all(flooding);
  await server.stop();

  for (const { failures } of [...Object.values(quiet), ...Object.values(flooded)]) wrong.push(...failures);
  const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  const figures = ({ latencies }: Probed): string[] =>
    [median(latencies), percentile(latencies, 0.99), Math.max(...latencies)].map(ms);
  const [load = 0] = loadavg();
  process.stdout.write(
    `One caller with ${callers} concurrent plans of the slowest kind (${plans} planned, ${refusals} refused in ${seconds} s); another one asks 5 times a second. Node ${process.version}, ${availableParallelism()} CPUs, load average ${load.toFixed(1)}.\n\n${figureTable(
      ["milliseconds", "quiet p50", "p99", "greatest", "flooded p50", "p99", "greatest"],
      Object.entries(quiet).map(([name, before]) => [
        name,
        ...figures(before),
        ...figures(flooded[name] ?? { latencies: [], failures: [] }),
      ]),
    )}\n`,
  );
  for (const text of wrong.slice(0, 5)) process.stderr.write(`wrong: ${text}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await rm(home, { recursive: true, force: true });
}
