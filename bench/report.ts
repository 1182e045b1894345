import { availableParallelism, loadavg } from "node:os";
import { markdownTable } from "../tools/markdown-table.ts";
import type { Ratio, Result, StoreCost } from "./rounds.ts";

const [loadBefore = 0] = loadavg();

/** What a report says of the machine: other load affects its figures. */
export const conditions = (sharers: string): string =>
  `Node ${process.version}, ${availableParallelism()} CPUs shared by ${sharers}, load average ${loadBefore.toFixed(1)} before the run`;

/** Prints a report in Markdown. */
export const print = (...parts: readonly string[]): void => void process.stdout.write(`${parts.join("\n\n")}\n`);

/** Tells how far the run is. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** A table of figures: the first column names them, the others are numbers. */
export const figureTable = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable(titles, rows, ["left", "right"]);

export const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
export const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
export const percent = (share: number): string => `${Math.round(share * 100)} %`;
export const mebibytes = (bytes: number): string => whole(bytes / 2 ** 20);

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

export const storeTable = (costs: readonly StoreCost[]): string =>
  figureTable(
    ["operation", "within the staleness bound", "with a bound of 0"],
    costs.map(({ workload, bounded, strong }) => [workload, bounded, strong]),
  );
