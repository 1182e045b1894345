import fc from "fast-check";
import { expect, test } from "vitest";
import { nodeGroups } from "../../../infra/clouds/aws/nodes/node-group-settings.ts";
import type { AwsConfig } from "../../../infra/clouds/schema.ts";
import type { ClusterModel } from "../../../infra/model/cluster.ts";
import { podsPerNode } from "../../../infra/model/fit.ts";
import { judgeOperator, judgeRay } from "../../../infra/model/operator.ts";
import { rayClusterSpec } from "../../../infra/model/ray-cluster.ts";
import { rayGroups, wholePod } from "../../../infra/model/ray-groups.ts";
import { nodeLabels, nodeRoles, type Toleration } from "../../../infra/model/roles.ts";
import { judge, modelOf, raw } from "./minimal.ts";

/** One that is never accepted among ones that may be. */
const mostly = <Value>(bad: Value, ...good: Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(bad) }, { weight: 8, arbitrary: fc.constantFrom(...good) });

/** Configurations of every kind, good and bad; what is accepted must keep all of the promises below. */
const overrides = fc.record(
  {
    labelPrefix: mostly("bad/prefix", "geneva.lancedb.com", "ray.example.org"),
    operator: fc.record({ version: mostly("0.9.0", "1.1.0", "1.3.2", "1.7.1") }),
    devicePlugin: fc.record({ mode: fc.constantFrom("install", "existing") }),
    quota: fc.constant({ enabled: false }),
    nodes: fc.record(
      {
        head: fc.record(
          {
            instanceTypes: mostly(["g6.4xlarge"], ["m7i.xlarge"], ["m7i.2xlarge"], ["m7i.4xlarge"]),
            min: mostly(0, 1, 2),
            spot: mostly(true, false),
            taint: fc.constantFrom("NoSchedule", "PreferNoSchedule"),
          },
          { requiredKeys: [] },
        ),
        cpu: fc.record(
          {
            instanceTypes: mostly(["c7i.4xlarge", "m7i.4xlarge"], ["c7i.2xlarge"], ["c7i.4xlarge"]),
            spot: fc.boolean(),
          },
          { requiredKeys: [] },
        ),
        gpu: fc.record(
          { instanceTypes: mostly(["m7i.8xlarge"], ["g6.2xlarge"], ["g6.4xlarge"]), enabled: fc.boolean() },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
    ray: fc.record(
      {
        version: mostly("2.40.0", "2.43.0", "2.56.0"),
        head: fc.record({ cpus: fc.integer({ min: 1, max: 9 }), memory: mostly("2048", "8Gi", "8Gi", "40Gi") }),
        cpuWorkers: fc.record({ cpus: fc.integer({ min: 1, max: 20 }), memory: fc.constantFrom("8Gi", "40Gi") }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const tolerates = (toleration: Toleration, taint: { key: string; value: string; effect: string }) =>
  toleration.key === taint.key &&
  toleration.effect === taint.effect &&
  (toleration.operator === "Exists" || toleration.value === taint.value);

function promises(config: AwsConfig, cluster: ClusterModel): void {
  const { head, workers } = rayGroups(config, cluster);
  const groups = nodeGroups(config.clusterName, cluster);

  for (const pod of [head, ...workers].map(wholePod)) {
    const node = cluster.capacity[pod.role];
    expect(node === undefined ? 0 : podsPerNode(pod, node)).toBeGreaterThan(0);
  }

  const { headGroupSpec, workerGroupSpecs } = rayClusterSpec(config, cluster);
  const pods = [headGroupSpec, ...workerGroupSpecs].map(({ template }) => template.spec);
  for (const [index, { nodeSelector, tolerations }] of pods.entries()) {
    const roles = nodeRoles.filter((role) => {
      const labels = nodeLabels(role, cluster.roles);
      return Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);
    });
    expect(roles).toEqual([[head, ...workers][index]?.role]);
    const target = groups.find(({ pool }) => pool.role === roles[0]);
    for (const taint of target?.taints ?? [])
      expect(tolerations.some((toleration) => tolerates(toleration, taint))).toBe(true);
  }

  const headNodes = cluster.pools.find(({ role }) => role === "ray-head");
  expect(headNodes?.spot).toBe(false);
  expect(headNodes?.min).toBeGreaterThan(0);
  expect(judgeOperator(cluster.operatorVersion ?? "0.0")?.level).not.toBe("error");
  expect(judgeRay(config.ray.version)?.level).not.toBe("error");
  if (cluster.devicePlugin !== undefined) expect(cluster.hasGpuNodes).toBe(true);
}

test("in every accepted configuration pods fit, are selected and tolerated, heads are on demand, and versions are supported", () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(overrides, (chosen) => {
      const findings = judge(raw("aws", chosen));
      for (const { key, problem, remedy } of findings)
        expect([key, problem, remedy].every((part) => part !== "")).toBe(true);
      if (findings.some(({ level }) => level === "error")) {
        seen.refused += 1;
        return;
      }
      seen.accepted += 1;
      const { config, cluster } = modelOf("aws", chosen);
      promises(config, cluster);
      const warned = findings.some(({ key }) => key === "devicePlugin.mode");
      expect(warned).toBe(cluster.hasGpuNodes && cluster.devicePlugin === undefined);
    }),
    { numRuns: 500 },
  );
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(20);
});
