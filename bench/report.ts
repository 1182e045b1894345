import { markdownTable } from "../tools/markdown-table.ts";
import type { Goal } from "./goals.ts";
import type { Ratio, Result } from "./rounds.ts";
import { type StoreCost, storeLatencyMs } from "./store-requests.ts";

/** A table of figures: the first column names them, the others are numbers. */
export const figureTable = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable(titles, rows, ["left", "right"]);

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
const percent = (share: number): string => `${Math.round(share * 100)} %`;

const share = ([median, least, greatest]: Ratio): string =>
  `${percent(median)} [${percent(least)}–${percent(greatest)}]`;

/** The service against the bare SDK, one row for each workload and concurrency. */
export const speedTable = (results: readonly Result[]): string =>
  figureTable(
    [
      "operation",
      "concurrent",
      "requests/s",
      "SDK",
      "service/SDK",
      "p50 ms",
      "SDK",
      "p99 ms",
      "SDK",
      "minimum CPU µs",
      "SDK",
    ],
    results.map(({ workload, concurrency, figures: { service, direct }, ratio }) => [
      workload,
      String(concurrency),
      whole(service.perSecond),
      whole(direct.perSecond),
      share(ratio),
      ms(service.p50),
      ms(direct.p50),
      ms(service.p99),
      ms(direct.p99),
      whole(service.cpu),
      whole(direct.cpu),
    ]),
  );

/** The service against the same operations behind a raw server. */
export const rawTable = (results: readonly Result[]): string =>
  figureTable(
    ["operation", "concurrent", "requests/s", "raw", "service/raw", "minimum CPU µs", "raw"],
    results.flatMap(({ workload, concurrency, figures: { service }, raw }) =>
      raw === undefined
        ? []
        : [
            [
              workload,
              String(concurrency),
              whole(service.perSecond),
              whole(raw.figures.perSecond),
              share(raw.ratio),
              whole(service.cpu),
              whole(raw.figures.cpu),
            ],
          ],
    ),
  );

/** Requests to the store, with bounded staleness and with strong consistency. */
export const storeTable = (bounded: readonly StoreCost[], strong: readonly StoreCost[]): string =>
  figureTable(
    ["operation", "bounded: store requests", "p50 ms", "strong: store requests", "p50 ms"],
    bounded.map(({ workload, requests, p50 }, index) => [
      workload,
      requests,
      ms(p50),
      strong[index]?.requests ?? "",
      ms(strong[index]?.p50 ?? Number.NaN),
    ]),
  );

export const storeTitle = `Store requests of one warm request, object store with ${storeLatencyMs} ms of latency`;

export const goalTable = (goals: readonly Goal[]): string =>
  figureTable(
    ["goal", "target", "measured", "met"],
    goals.map(({ name, wanted, measured, reached }) => [name, wanted, measured, reached ? "yes" : "**no**"]),
  );
