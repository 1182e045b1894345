/**
 * `npm run bench:doctor`: each finding on a table that has its fault, before and after its fix, as a table in Markdown. A time
 * is the fastest of a query's runs on an open table, which other programs disturb the least; only `cold-cache` is about the
 * first run.
 */
// See service/main.ts.
process.env.LANCEDB_LOG ??= "error";
const { cases } = await import("../test/service/plan-doctor/support/cases.ts");
const { createTables } = await import("../test/service/plan-doctor/support/data.ts");
const { applyTypescript, treat } = await import("../test/service/plan-doctor/support/treat.ts");
const { inlineCode, markdownTable } = await import("../tools/markdown-table.ts");
const { median } = await import("./measure.ts");
const { readOptions } = await import("./options.ts");

const { runs, repeats } = readOptions("bench:doctor", {
  runs: { default: 5, help: "runs, each with tables of its own" },
  repeats: { default: 25, help: "runs of a query before and after its fix" },
});

interface Outcome {
  readonly severity: string;
  readonly before: number;
  readonly after: number;
  /** Time before, divided by the time after. */
  readonly faster: number;
}

const shown = (value: number): string =>
  Number.isInteger(value) ? value.toLocaleString("en-US") : value.toPrecision(2);

const outcomes = new Map<string, Outcome[]>();
for (let run = 1; run <= runs; run++) {
  const tables = await createTables();
  try {
    for (const one of cases) {
      const { finding, before, after } = await treat(tables, one, applyTypescript, repeats);
      const outcome = {
        severity: finding.severity,
        before: before.measured,
        after: after.measured,
        faster: (before.milliseconds[0] ?? Number.NaN) / (after.milliseconds[0] ?? Number.NaN),
      };
      outcomes.set(one.code, [...(outcomes.get(one.code) ?? []), outcome]);
    }
  } finally {
    await tables.remove();
  }
  process.stderr.write(`run ${run} of ${runs}\n`);
}

const rows = cases.map(({ code, data, lowers }) => {
  const all = outcomes.get(code) ?? [];
  const of = (figure: "before" | "after" | "faster"): number => median(all.map((outcome) => outcome[figure]));
  const ratios = all.map(({ faster }) => faster).toSorted((left, right) => left - right);
  return [
    inlineCode(code),
    data,
    all[0]?.severity ?? "",
    lowers,
    `${shown(of("before"))} → ${shown(of("after"))}`,
    `${of("faster").toFixed(1)} (${ratios[0]?.toFixed(1)} to ${ratios.at(-1)?.toFixed(1)})`,
  ];
});
const head = ["finding", "data", "severity", "the fix lowers", "before → after", "time before / after"];
process.stdout.write(`${markdownTable(head, rows)}\n`);
