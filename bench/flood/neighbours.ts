import { createHash } from "node:crypto";
import { scopes } from "../../service/auth/index.ts";
import { encode, makeRows, write } from "../ingest/rows.ts";
import { percentile } from "../measure.ts";
import { Probe } from "../probe.ts";
import { figureTable } from "../report.ts";
import { startServer, token } from "../servers.ts";
import { startWorker } from "../task-process.ts";
import { vectorOf } from "../workloads.ts";
import { type Flood, type Sent, shared, written } from "./neighbour.ts";

const neighbour = "neighbour";
const tokens = [token, neighbour].map((name) => ({
  name,
  sha256: createHash("sha256").update(name).digest("hex"),
  scopes,
  tables: ["**"],
}));

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

export interface NeighbourOptions {
  readonly seconds: number;
  readonly callers: number;
}

/** Plans and statistics of one caller while another one sends nothing, analyses or writes. */
export const neighbourTable = async (
  home: string,
  { seconds, callers }: NeighbourOptions,
): Promise<{ readonly table: string; readonly wrong: readonly string[] }> => {
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: home,
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_AUTH_STATIC_TOKENS: JSON.stringify(tokens),
    LAKEHEAD_MEMORY_LIMIT_BYTES: String(4 * 2 ** 30),
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const load = startWorker<Flood, Sent>(new URL("neighbour.ts", import.meta.url), [String(server.port), neighbour]);
  const wrong: string[] = [];
  const rows: string[][] = [];
  try {
    await write(server, shared.name, "create", encode(makeRows(shared.dimensions, shared.rows)));
    await write(server, written, "create", encode(makeRows(shared.dimensions, 1)));
    const query = { k: 10, vector: [...vectorOf(0.5, shared.dimensions)] };
    const probes = () => [
      new Probe(
        server.port,
        { path: `/v1/table/${shared.name}/explain_plan`, token, body: JSON.stringify({ query }) },
        25,
      ),
      new Probe(server.port, { path: `/v1/table/${shared.name}/stats`, token, body: "{}" }, 25),
    ];
    const measure = async (title: string, flood: Flood | undefined): Promise<void> => {
      const running = probes();
      const sent =
        flood === undefined
          ? await new Promise<undefined>((resolve) => setTimeout(resolve, seconds * 1000, undefined))
          : await load.run(flood);
      const probed = await Promise.all(running.map((probe) => probe.stop()));
      wrong.push(...(sent?.wrong ?? []), ...probed.flatMap(({ failures }) => failures));
      rows.push([
        title,
        sent === undefined ? "" : (sent.answered / seconds).toFixed(0),
        sent === undefined ? "" : String(sent.refused),
        ...probed.flatMap(({ latencies }) => [ms(percentile(latencies, 0.5)), ms(percentile(latencies, 0.99))]),
      ]);
    };
    await measure("(warm-up)", undefined);
    rows.pop();
    await measure("nothing", undefined);
    await measure("analyses", { kind: "analyses", callers, seconds });
    await measure("writes", { kind: "writes", callers, seconds });
    await measure("analyses again", { kind: "analyses", callers, seconds });
    await measure("writes again", { kind: "writes", callers, seconds });
  } finally {
    load.stop();
    await server.stop();
  }
  const titles = [`${callers} other callers send`, "answered/s", "refused"];
  const latencies = ["explain_plan p50 ms", "p99 ms", "stats p50 ms", "p99 ms"];
  return { table: figureTable([...titles, ...latencies], rows), wrong };
};
