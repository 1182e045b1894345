import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { alertGroups, ruleGroups } from "../../../infra/model/alerts.ts";
import { type MetricDefinition, metricDefinitions } from "../../../service/telemetry/metric-definitions.ts";
import { alertCases } from "../../monitoring/cases.ts";

const alerts = alertGroups("lancedb").flatMap((group) => group.alerts);
const rules = ruleGroups("tables", "https://git.example.com/docs/").flatMap((group) => group.rules);

describe("the alerts", () => {
  test("each has a test of its own in which promtool sees it fire, and no test is left over", () => {
    expect(alerts.length).toBeGreaterThan(20);
    expect(Object.keys(alertCases).toSorted()).toEqual(alerts.map(({ name }) => name).toSorted());
  });

  test("the service's own metrics in them exist", () => {
    const named = alerts.flatMap(({ expr }) => [...expr.matchAll(/\blakehead_\w+/g)].map(([name]) => name));
    expect(named.length).toBeGreaterThan(10);
    const series = new Set(
      Object.entries(metricDefinitions).flatMap(([name, { type }]) =>
        type === "histogram" ? [`${name}_bucket`] : [name],
      ),
    );
    expect(named.filter((name) => !series.has(name))).toEqual([]);
  });

  test("every label of these metrics exists, and every reason and status class is one of theirs", () => {
    const definitions: Readonly<Record<string, MetricDefinition>> = metricDefinitions;
    const selectors = alerts.flatMap(({ expr }) =>
      [...expr.matchAll(/\b(lakehead_\w+?)(?:_bucket)?\{([^}]*)\}/g)].flatMap(([, metric = "", inside = ""]) =>
        [...inside.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(([, label = "", values = ""]) => ({
          metric,
          label,
          values,
        })),
      ),
    );
    const own = selectors.filter(({ label }) => !["job", "namespace"].includes(label));
    expect(own.filter(({ label }) => label === "reason").length).toBeGreaterThan(2);
    expect(own.filter(({ metric, label }) => !definitions[metric]?.labels.includes(label))).toEqual([]);
    const wrong = own.filter(
      ({ metric, label, values }) =>
        label === "reason" && !values.split("|").every((value) => definitions[metric]?.help.includes(value)),
    );
    expect(wrong).toEqual([]);
  });

  test("each links to its row of the page", () => {
    const page = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
    const links = rules.map(({ annotations }) => annotations.runbook_url);
    expect(links[0]).toBe("https://git.example.com/docs/operations.md#lakeheaddown");
    expect(links.filter((link) => !page.includes(`<a id="${link.split("#")[1]}"></a>`))).toEqual([]);
  });

  test("none reads the series of another stack's namespace", () => {
    const clusterWide = ["KubeRayDown", "KubeRayReconcileErrors", "LakeheadNodeNotReady", "LakeheadGpuFault"];
    expect(rules.filter(({ expr }) => !expr.includes('namespace="tables"')).map(({ alert }) => alert)).toEqual(
      clusterWide,
    );
  });
});
