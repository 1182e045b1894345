import { alertGroups, ruleGroups } from "../../infra/model/alerts.ts";
import { type AlertCase, alertCases } from "./cases.ts";

export const namespace = "lancedb";

/** promtool's file of unit tests: of each alert a test in which it fires and one in which it does not. */
export function unitTests(ruleFile: string, cases: Readonly<Record<string, AlertCase>> = alertCases) {
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

export const alertNames = alertGroups(namespace).flatMap(({ alerts }) => alerts.map(({ name }) => name));
