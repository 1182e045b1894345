/** `npm run test:monitoring`: Prometheus's own tool checks the alerts, and that each fires and does not fire. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { alertGroups, ruleGroups } from "../../infra/model/alerts.ts";
import { type AlertCase, alertCases } from "./cases.ts";

const namespace = "lancedb";

/** promtool's file of unit tests: of each alert a test in which it fires and one in which it does not. */
function unitTests(ruleFile: string, cases: Readonly<Record<string, AlertCase>> = alertCases) {
  const rules = ruleGroups(namespace).flatMap((group) => group.rules);
  return {
    rule_files: [ruleFile],
    evaluation_interval: "1m",
    tests: rules.flatMap(({ alert, labels, annotations }) => {
      const found = cases[alert];
      if (found === undefined) throw new Error(`test/monitoring/cases.ts has no case for ${alert}`);
      const one = (series: Readonly<Record<string, string>>, expected: readonly object[]) => ({
        interval: "1m",
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: found.at ?? "40m", alertname: alert, exp_alerts: expected }],
      });
      return [
        one(found.fires, [{ exp_labels: { ...labels, ...found.labels }, exp_annotations: annotations }]),
        one(found.quiet, []),
      ];
    }),
  };
}

const alertNames = alertGroups(namespace).flatMap(({ alerts }) => alerts.map(({ name }) => name));

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

if (spawnSync("promtool", ["--version"]).status !== 0) {
  print("test:monitoring skipped: no promtool; on Debian, apt-get install prometheus");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "lakehead-monitoring-"));
let failed = 0;
const promtool = (what: string, ...args: string[]): void => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) failed++;
  print(status === 0 ? `ok      ${what}` : `FAILED  ${what}\n${stdout}${stderr}`);
};
try {
  writeFileSync(join(folder, "rules.yaml"), stringify({ groups: ruleGroups(namespace) }));
  writeFileSync(join(folder, "tests.yaml"), stringify(unitTests("rules.yaml")));
  promtool("promtool reads every rule", "check", "rules", "rules.yaml");
  promtool(`${alertNames.length} alerts fire when they should, and only then`, "test", "rules", "tests.yaml");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print(`${2 - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
