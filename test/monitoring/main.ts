/**
 * `npm run test:monitoring`: promtool checks that each alert fires and stays quiet when it should; the operator's schemas, the
 * monitors and rules; a real Prometheus, that the service and a real Ray export what they read.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { alertGroups, ruleGroups } from "../../infra/model/alerts.ts";
import { unbuilt } from "../../tools/parts/control-plane/go.ts";
import { pythonWith } from "../../tools/parts/python.ts";
import { type AlertCase, alertCases } from "./cases.ts";
import { costsOfRecordedPods } from "./costs.ts";
import { askEveryQuery } from "./live.ts";
import { monitoringObjects, schemaFault } from "./objects.ts";
import { judgeScraperLabels, operatorParts } from "./prometheus-operator.ts";

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
const count = { passed: 0, failed: 0, skipped: 0 };
const conclude = (what: string, fault: string): void => {
  count[fault === "" ? "passed" : "failed"]++;
  print(fault === "" ? `ok      ${what}` : `FAILED  ${what}\n${fault}`);
};
const promtool = (what: string, ...args: string[]): void => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
  conclude(what, status === 0 ? "" : `${stdout}${stderr}`);
};
try {
  writeFileSync(join(folder, "rules.yaml"), stringify({ groups: ruleGroups(namespace) }));
  writeFileSync(join(folder, "tests.yaml"), stringify(unitTests("rules.yaml")));
  promtool("promtool reads every rule", "check", "rules", "rules.yaml");
  promtool(`${alertNames.length} alerts fire when they should, and only then`, "test", "rules", "tests.yaml");
  const objects = await monitoringObjects();
  const faults = objects.flatMap(schemaFault);
  conclude(
    `${objects.length} monitors and rules fit the operator's schemas`,
    objects.length > 5 ? faults.join("\n") : "too few",
  );
  const wrong = objects
    .slice(0, 1)
    .map((one) => ({ ...one, body: { ...one.body, spec: { podMetricsEndpoints: "metrics" } } }));
  conclude("the schemas refuse a wrong one", wrong.flatMap(schemaFault).length > 0 ? "" : "they did not");
  const wrongCosts = await costsOfRecordedPods();
  conclude("verify --cost counts the pods that a real Prometheus recorded", wrongCosts.join("\n"));
  const unbuiltParts = unbuilt(operatorParts);
  if (unbuiltParts.length > 0) {
    count.skipped++;
    print(`skipped the pods of a real Prometheus operator: ${unbuiltParts.join(", ")} not built by npm run build:e2e`);
  } else {
    const what = "the policies admit the pods of a real Prometheus operator, as a server and as an agent";
    conclude(what, (await judgeScraperLabels(print)).join("\n"));
  }
  const { python, missing } = await pythonWith(
    fileURLToPath(new URL("../../runner/requirements.txt", import.meta.url)),
    print,
  );
  if (python === undefined) {
    count.skipped++;
    print(`skipped a real Prometheus on the service and on Ray: ${missing}`);
  } else {
    const monitors = objects.filter(({ kind }) => kind === "PodMonitor");
    const asked = await askEveryQuery(python, namespace, monitors, print);
    const what = `${asked.answered} queries of alerts and dashboard have data in a real Prometheus`;
    conclude(what, asked.faults.join("\n"));
    const missing = ["TASK_DEFINITION_EVENT", "DRIVER_JOB_LIFECYCLE_EVENT"].filter(
      (kind) => !asked.rayEvents.has(kind),
    );
    conclude(
      "Ray sends its events to the place of the collector of its history",
      missing.length === 0 ? "" : `no ${missing.join(", ")}: only ${[...asked.rayEvents].join(", ")}`,
    );
    for (const [reason, queries] of asked.without) print(`        ${queries} have none here: ${reason}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exit(count.failed === 0 ? 0 : 1);
