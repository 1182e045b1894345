import { describe, expect, test } from "vitest";
import { checkNodes } from "../../../infra/verify/checks/nodes.ts";
import { node, results, seen, stackOf } from "./support.ts";

const aws = stackOf("aws-dev");
const gpu = {
  allocatable: { cpu: "15890m", memory: "58Gi", "nvidia.com/gpu": "1" },
  conditions: [{ type: "Ready", status: "True" }],
};
// Two of the system pool, as aws-dev has it.
const all = [
  node(aws, "system"),
  node(aws, "system"),
  node(aws, "ray-head"),
  node(aws, "ray-worker-cpu"),
  node(aws, "ray-worker-gpu", gpu),
];
const without = (role: string) => all.filter(({ metadata }) => metadata.name !== `${role}-1`);

describe("nodes", () => {
  test("a role below its minimum without any node is wrong", () => {
    expect(seen(checkNodes(aws, without("ray-head")))).toMatch(
      /WRONG +nodes ray-head: no node has the label geneva.lancedb.com\/ray-head=true/,
    );
  });

  test("a label with an empty value, as in GKE's old guide, is wrong and names the command", () => {
    const bare = { ...node(aws, "ray-head"), metadata: { name: "h", labels: { "geneva.lancedb.com/ray-head": "" } } };
    const text = seen(checkNodes(aws, [...without("ray-head"), bare]));
    expect(text).toContain("kubectl label node h --overwrite geneva.lancedb.com/ray-head=true");
    expect(text).toContain("no node has the label");
  });

  test("nodes that are not ready or are cordoned do not count", () => {
    const down = node(aws, "ray-head", { conditions: [{ type: "Ready", status: "False" }] });
    expect(seen(checkNodes(aws, [...without("ray-head"), down]))).toContain(
      "nodes ray-head: 0 of 1 ready, at least 1 expected",
    );
    const cordoned = { ...node(aws, "ray-head"), spec: { unschedulable: true } };
    expect(seen(checkNodes(aws, [...without("ray-head"), cordoned]))).toMatch(
      /nodes ray-head: 0 of 1 ready.*\(cordoned: .+\)\n.*kubectl uncordon/,
    );
  });

  test("a GPU node without GPUs is wrong and names the device plugin of its cloud", () => {
    const bare = (config: typeof aws) => [...without("ray-worker-gpu"), node(config, "ray-worker-gpu")];
    expect(seen(checkNodes(aws, bare(aws)))).toContain("app.kubernetes.io/name=nvidia-device-plugin");
    expect(seen(checkNodes(stackOf("gcp-dev"), bare(aws)))).toContain("k8s-app=nvidia-gpu-device-plugin");
  });

  test("a node on which no pod of its role fits is wrong", () => {
    const small = node(aws, "ray-head", { allocatable: { cpu: "2920m", memory: "14Gi" }, conditions: gpu.conditions });
    expect(seen(checkNodes(aws, [...without("ray-head"), small]))).toMatch(/2\.92 CPUs.*requests 3 CPUs, 9Gi/);
  });

  test("a missing taint is wrong", () => {
    const open = { ...node(aws, "ray-worker-gpu", gpu), spec: {} };
    expect(seen(checkNodes(aws, [...without("ray-worker-gpu"), open]))).toContain(
      "the taint nvidia.com/gpu:NoSchedule is missing",
    );
  });

  test("a role with minimum 0 and no node is unknown", () => {
    expect(results(checkNodes(aws, without("ray-worker-gpu")))).toEqual(["ok", "ok", "ok", "unknown"]);
  });

  test("a healthy cluster is ok; of an existing cluster only configured roles are checked", () => {
    expect(results(checkNodes(aws, all))).toEqual(["ok", "ok", "ok", "ok"]);
    expect(seen(checkNodes(aws, all))).toContain("nodes ray-worker-gpu: 1 ready, 15.89 CPUs, 58Gi, 1 GPU");
    const local = stackOf("local");
    const one = {
      ...node(aws, "ray-head"),
      spec: {},
      metadata: {
        name: "kind",
        labels: { "geneva.lancedb.com/ray-head": "true", "geneva.lancedb.com/ray-worker-cpu": "true" },
      },
    };
    expect(results(checkNodes(local, [one]))).toEqual(["ok", "ok"]);
  });
});
