/** `npm run bench:doctor`: each finding on a table that has its fault, before and after its fix, as a table in Markdown. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

// See service/main.ts.
process.env.LANCEDB_LOG ??= "error";
const { connect } = await import("@lancedb/lancedb");
const { cases } = await import("../test/service/plan-doctor/support/cases.ts");
const { milliseconds } = await import("../test/service/plan-doctor/support/examine.ts");
const { treat } = await import("../test/service/plan-doctor/support/treat.ts");
const { inlineCode, markdownTable } = await import("../tools/markdown-table.ts");

const shown = (value: number): string =>
  Number.isInteger(value) ? value.toLocaleString("en-US") : value.toPrecision(2);

const directory = await mkdtemp(join(tmpdir(), "lakehead-doctor-"));
const connection = await connect(directory);
try {
  const rows: string[][] = [];
  for (const one of cases) {
    const { finding, before, after } = await treat(connection, one);
    const [slow, fast] = [milliseconds(before.examined), milliseconds(after.examined)];
    rows.push([
      inlineCode(one.code),
      one.data,
      finding.severity,
      one.lowers,
      `${shown(before.measured)} → ${shown(after.measured)}`,
      (slow / fast).toFixed(1),
    ]);
    process.stderr.write(`${rows.length} of ${cases.length}: ${one.code}\n`);
  }
  const head = ["finding", "data", "severity", "the fix lowers", "before → after", "time before / after"];
  process.stdout.write(`${markdownTable(head, rows)}\n`);
} finally {
  connection.close();
  await rm(directory, { recursive: true, force: true });
}
