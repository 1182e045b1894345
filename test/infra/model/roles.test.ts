import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nodeGroups } from "../../../infra/clouds/aws/nodes/node-group-settings.ts";
import {
  defaultRoleOptions,
  labelValue,
  nodeLabels,
  nodeRoles,
  nodeSelector,
  nodeTaints,
  type RoleOptions,
  rayRoles,
  tolerations,
} from "../../../infra/model/roles.ts";
import { modelOf } from "../config/minimal.ts";

const options: fc.Arbitrary<RoleOptions> = fc.record({
  labelPrefix: fc.constantFrom("geneva.lancedb.com", "ray.example.org", "x"),
  headTaint: fc.constantFrom("NoSchedule", "PreferNoSchedule"),
});

const matches = (selector: Record<string, string>, labels: Record<string, string>) =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

describe("selectors, labels and taints", () => {
  test("each selector matches the nodes of exactly one pool", () => {
    fc.assert(
      fc.property(options, fc.constantFrom(...rayRoles), (chosen, role) => {
        const found = nodeRoles.filter((pool) => matches(nodeSelector(role, chosen), nodeLabels(pool, chosen)));
        expect(found).toEqual([role]);
      }),
    );
    expect(nodeRoles.filter((pool) => matches(nodeSelector("system"), nodeLabels(pool)))).toEqual(["system"]);
  });

  test("every taint of a pool has its toleration in the pods of that role, and no other pod has one for the head's", () => {
    fc.assert(
      fc.property(options, fc.constantFrom(...rayRoles), (chosen, role) => {
        const keys = tolerations(role, chosen).map(({ key }) => key);
        expect(keys).toEqual(nodeTaints(role, chosen).map(({ key }) => key));
        const head = nodeTaints("ray-head", chosen).map(({ key }) => key);
        if (role !== "ray-head") expect(keys.filter((key) => head.includes(key))).toEqual([]);
      }),
    );
  });

  test("the labels are those that the runtime's client selects, with the value that it selects", () => {
    expect(labelValue).toBe("true");
    expect(rayRoles.map((role) => nodeSelector(role, defaultRoleOptions))).toEqual([
      { "geneva.lancedb.com/ray-head": "true" },
      { "geneva.lancedb.com/ray-worker-cpu": "true" },
      { "geneva.lancedb.com/ray-worker-gpu": "true" },
    ]);
  });

  test("system nodes have no taint", () => {
    expect(nodeTaints("system")).toEqual([]);
  });

  test("CPU worker nodes have no taint, as the client's CPU workers have no toleration", () => {
    expect(nodeTaints("ray-worker-cpu")).toEqual([]);
  });
});

describe("node groups on EKS", () => {
  const groups = (overrides = {}) => {
    const { config, cluster } = modelOf("aws", overrides);
    return nodeGroups(config.clusterName, cluster);
  };
  const group = (role: string, overrides = {}) => groups(overrides).find(({ pool }) => pool.role === role);

  test("system comes first, then the three roles", () => {
    expect(groups().map(({ pool }) => pool.role)).toEqual(["system", "ray-head", "ray-worker-cpu", "ray-worker-gpu"]);
    expect(groups({ nodes: { gpu: { enabled: false } } }).map(({ pool }) => pool.role)).not.toContain("ray-worker-gpu");
  });

  test("the image follows GPU and architecture", () => {
    expect(groups().map(({ amiType }) => amiType)).toEqual([
      "AL2023_x86_64_STANDARD",
      "AL2023_x86_64_STANDARD",
      "AL2023_x86_64_STANDARD",
      "AL2023_x86_64_NVIDIA",
    ]);
    expect(group("system", { nodes: { system: { instanceTypes: ["m7g.large"] } } })?.amiType).toBe(
      "AL2023_ARM_64_STANDARD",
    );
  });

  test("only workers can be spot", () => {
    expect(groups({ nodes: { gpu: { spot: true } } }).map(({ pool }) => pool.spot)).toEqual([false, false, true, true]);
  });

  test("the autoscaler tags describe the labels, taints, GPUs and disk of an empty group's nodes", () => {
    const gpu = group("ray-worker-gpu");
    expect(gpu?.autoscalerTags).toEqual({
      "k8s.io/cluster-autoscaler/enabled": "true",
      "k8s.io/cluster-autoscaler/lancedb": "owned",
      "k8s.io/cluster-autoscaler/node-template/label/geneva.lancedb.com/ray-worker-gpu": "true",
      "k8s.io/cluster-autoscaler/node-template/label/nvidia.com/gpu.present": "true",
      "k8s.io/cluster-autoscaler/node-template/label/k8s.amazonaws.com/accelerator": "g6",
      "k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu": "present:NoSchedule",
      "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu": "1",
      "k8s.io/cluster-autoscaler/node-template/resources/ephemeral-storage": "200Gi",
    });
  });

  test("every label and taint of a group has its tag", () => {
    const template = "k8s.io/cluster-autoscaler/node-template";
    for (const { labels, taints, autoscalerTags } of groups({ nodes: { head: { taint: "NoSchedule" } } })) {
      for (const [key, value] of Object.entries(labels)) expect(autoscalerTags[`${template}/label/${key}`]).toBe(value);
      for (const taint of taints)
        expect(autoscalerTags[`${template}/taint/${taint.key}`]).toBe(`${taint.value}:${taint.effect}`);
    }
  });
});
