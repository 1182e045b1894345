import { beforeAll, describe, expect, test } from "vitest";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { planOf } from "../../../infra/offline-plan/plan.ts";
import { renderTree } from "../../../infra/offline-plan/tree.ts";
import { runStack } from "../../support/infra/stacks.ts";
import { type Manifest, manifests, one, revealed } from "./manifests.ts";

const gpuNodes = {
  head: { cpus: 4, memory: "8Gi" },
  cpu: { cpus: 4, memory: "8Gi" },
  gpu: { cpus: 16, memory: "64Gi", gpus: 1 },
};

const budget = { monthly: 500, emails: ["data@example.com"], percents: [80] };

let off: Capture;
let existing: Capture;
let stack: Capture;
let amazon: Capture;
let google: Capture;

beforeAll(async () => {
  [off, existing, stack, amazon, google] = await Promise.all([
    runStack("local", "update"),
    runStack("local", "update", {
      "lakehead:monitoring": {
        mode: "existing",
        namespace: "observability",
        labels: { release: "prometheus" },
        runbooks: "https://git.example.com/docs/",
      },
      "lakehead:nodes": gpuNodes,
    }),
    runStack("local", "update", {
      "lakehead:monitoring": { mode: "stack", retentionDays: 30, openCost: { enabled: true } },
    }),
    runStack("aws-prod", "update", { "lakehead:budget": budget }),
    runStack("gcp-prod", "update", { "lakehead:budget": { ...budget, billingAccount: "012345-6789AB-CDEF01" } }),
  ]);
  for (const { failure } of [off, existing, stack, amazon, google]) expect(failure).toBeUndefined();
}, 180_000);

const objects = (capture: Capture, kind: string): Manifest[] => manifests(capture).filter((one) => one.kind === kind);
const names = (found: readonly Manifest[]): string[] => found.map(({ metadata }) => metadata.name).sort();
const releases = (capture: Capture) =>
  capture.resources
    .filter(({ type }) => type === "kubernetes:helm.sh/v3:Release")
    // biome-ignore lint/suspicious/noExplicitAny: the values of a chart
    .map((resource) => revealed(resource) as any);
const release = (capture: Capture, chart: string) => releases(capture).find((one) => one.chart === chart);
const alertsOf = ({ body }: Manifest): string[] =>
  body.spec.groups.flatMap(({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert));

describe("without monitoring", () => {
  test("there is no object of it, and the offline plan says so in one line", () => {
    expect(manifests(off).filter(({ apiVersion }) => apiVersion.startsWith("monitoring."))).toEqual([]);
    expect(release(off, "kube-prometheus-stack")).toBeUndefined();
    expect(renderTree(planOf(off)).match(/^Note: off: .*monitoring\.mode.*$/gm)).toHaveLength(1);
    expect(renderTree(planOf(existing))).not.toContain("monitoring.mode");
  });
});

describe("an operator that is there", () => {
  test("gets a monitor of each target, beside its pods, with the labels that it selects", () => {
    const found = objects(existing, "PodMonitor");
    expect(Object.fromEntries(found.map(({ metadata }) => [metadata.name, metadata.namespace]))).toEqual({
      lakehead: "lancedb",
      "ray-head": "lancedb",
      "ray-workers": "lancedb",
      "kuberay-operator": "kuberay-system",
      "dcgm-exporter": "kube-system",
    });
    for (const { metadata } of found) expect(metadata.labels).toMatchObject({ release: "prometheus" });
  });

  test("finds each monitored port in the pod", () => {
    const { body } = one(manifests(existing), "Deployment", "table-service");
    const monitor = one(objects(existing, "PodMonitor"), "PodMonitor", "lakehead").body.spec;
    expect(body.spec.template.metadata.labels).toMatchObject(monitor.selector.matchLabels);
    const ports = body.spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name);
    expect(ports).toContain(monitor.podMetricsEndpoints[0].port);
  });

  test("gets the rules with links to the page", () => {
    const rule = one(manifests(existing), "PrometheusRule");
    expect(rule.metadata).toMatchObject({ namespace: "lancedb", labels: { release: "prometheus" } });
    expect(alertsOf(rule)).toContain("LakeheadDown");
    expect(rule.body.spec.groups[0].rules[0].annotations.runbook_url).toMatch(
      /^https:\/\/git\.example\.com\/docs\/operations\.md#\w+$/,
    );
  });

  test("gets no chart but the exporter of the GPUs, on the nodes that have them", () => {
    expect(release(existing, "kube-prometheus-stack")).toBeUndefined();
    expect(release(existing, "dcgm-exporter").values.nodeSelector).toEqual({ "nvidia.com/gpu.present": "true" });
  });
});

test("the stack's own Prometheus selects every monitor and rule, and keeps its metrics on a volume", () => {
  const { values, skipCrds } = release(stack, "kube-prometheus-stack");
  const spec = values.prometheus.prometheusSpec;
  expect(skipCrds).toBe(true);
  expect(values.prometheus.agentMode).toBe(false);
  expect([spec.podMonitorSelectorNilUsesHelmValues, spec.ruleSelectorNilUsesHelmValues]).toEqual([false, false]);
  expect(spec.retention).toBe("30d");
  expect(spec.storageSpec.volumeClaimTemplate.spec.resources.requests.storage).toBe("20Gi");
  expect(values.grafana.adminPassword).toBeUndefined();
  const { prometheus } = release(stack, "opencost").values.opencost;
  expect(prometheus.internal).toEqual({
    serviceName: `${values.fullnameOverride}-prometheus`,
    namespaceName: "monitoring",
    port: 9090,
  });
});

describe("Amazon's store of metrics", () => {
  test("gets what an agent of its own identity writes, signed", () => {
    const { values } = release(amazon, "kube-prometheus-stack");
    expect(values.prometheus.agentMode).toBe(true);
    expect(values.grafana).toEqual({ enabled: false });
    const [target] = values.prometheus.prometheusSpec.remoteWrite;
    expect(target.sigv4).toEqual({ region: "eu-central-1" });
    expect(target.url).toMatch(/\/workspaces\/ws-[\w-]+\/api\/v1\/remote_write$/);
    expect(values.prometheus.serviceAccount).toEqual({
      name: "prometheus",
      annotations: { "eks.amazonaws.com/role-arn": expect.stringContaining(":role/") },
    });
    expect(objects(amazon, "PodMonitor").length).toBeGreaterThan(3);
  });

  test("evaluates the rules itself", () => {
    expect(objects(amazon, "PrometheusRule")).toEqual([]);
    const group = amazon.resources.find(({ type }) => type === "aws:amp/ruleGroupNamespace:RuleGroupNamespace");
    expect(revealed(group as never).data).toContain("alert: KubeRayDown");
  });
});

describe("Google's store of metrics", () => {
  test("gets Google's kinds, named by their jobs, and GKE's exporter of the GPUs", () => {
    expect(names(objects(google, "PodMonitoring"))).toEqual([
      "kuberay-operator",
      "lakehead",
      "ray-head",
      "ray-workers",
    ]);
    expect(
      one(manifests(google), "PodMonitoring", "ray-head").body.spec.endpoints.map((one: { port: unknown }) => one.port),
    ).toEqual(["metrics", 44_217, 44_227]);
    expect(release(google, "dcgm-exporter")).toBeUndefined();
    const cluster = google.resources.find(({ type }) => type === "gcp:container/cluster:Cluster");
    expect(JSON.stringify(cluster?.inputs.monitoringConfig)).toContain("DCGM");
  });

  test("has no rule on series that nothing exports there", () => {
    const alerts = alertsOf(one(manifests(google), "ClusterRules"));
    expect(alerts).toContain("LakeheadQuotaNearlyUsed");
    expect(alerts).not.toContain("LakeheadGpuFault");
    expect(release(google, "kube-state-metrics").values.collectors).toContain("resourcequotas");
  });
});

describe("logs of pods on AWS", () => {
  test("go to a group that the stack made with its retention, by an identity that may only write there", () => {
    const group = amazon.resources.find(({ type, name }) => type.endsWith(":LogGroup") && name === "pod-logs");
    expect(revealed(group as never)).toMatchObject({ name: "/aws/eks/lancedb-prod/pods", retentionInDays: 30 });
    const { values } = release(amazon, "aws-for-fluent-bit");
    expect(values.cloudWatchLogs).toMatchObject({ logGroupName: "/aws/eks/lancedb-prod/pods", autoCreateGroup: false });
    expect(values.tolerations).toEqual([{ operator: "Exists" }]);
  });
});

describe("a budget", () => {
  const of = (capture: Capture, type: string) => revealed(capture.resources.find((one) => one.type === type) as never);

  test("on AWS counts what carries the stack's tag, and writes at each percent and at the forecast", () => {
    const { costFilters, notifications, limitAmount } = of(amazon, "aws:budgets/budget:Budget");
    expect(limitAmount).toBe("500");
    expect(costFilters).toEqual([{ name: "TagKeyValue", values: ["user:stack$aws-prod"] }]);
    expect(notifications).toMatchObject([
      { notificationType: "ACTUAL", threshold: 80, subscriberEmailAddresses: ["data@example.com"] },
      { notificationType: "FORECASTED", threshold: 100 },
    ]);
  });

  test("on Google Cloud counts what carries the stack's label", () => {
    const found = of(google, "gcp:billing/budget:Budget");
    expect(found.budgetFilter).toMatchObject({ labels: { stack: "gcp-prod" } });
    expect(found.thresholdRules).toEqual([
      { thresholdPercent: 0.8, spendBasis: "CURRENT_SPEND" },
      { thresholdPercent: 1, spendBasis: "FORECASTED_SPEND" },
    ]);
    expect(of(google, "gcp:monitoring/notificationChannel:NotificationChannel").type).toBe("email");
  });
});
