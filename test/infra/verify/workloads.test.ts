import { describe, expect, test } from "vitest";
import { isOperator, judgeOperator } from "../../../infra/verify/checks/operator.ts";
import { judgeRay } from "../../../infra/verify/checks/ray.ts";
import { kuberay } from "../../../infra/versions.ts";
import { configOf, deployment, node, pod, rayCluster, seen, verdicts } from "./support.ts";

const aws = configOf("aws-dev");
const image = (version: string) => `quay.io/kuberay/operator:v${version}`;
const definitions = ["rayclusters", "rayjobs", "rayservices"].map((kind) => ({
  metadata: { name: `${kind}.ray.io` },
  status: { conditions: [{ type: "Established", status: "True" }] },
}));
const operators = [deployment("kuberay-operator", image(kuberay.default))];

describe("operator", () => {
  const text = (more: Partial<Parameters<typeof judgeOperator>[1]>, config = aws) =>
    seen(judgeOperator(config, { operators, definitions, ...more }));

  test("none, two, one that is down, one of another version", () => {
    expect(text({ operators: [] })).toContain("no Deployment in the cluster runs KubeRay's image");
    expect(text({ operators: [...operators, ...operators] })).toContain("they undo each other's work");
    expect(text({ operators: [deployment("kuberay-operator", image(kuberay.default), 0)] })).toContain("not available");
    expect(text({ operators: [deployment("kuberay-operator", image("1.0.0"))] })).toContain(
      `runs 1.0.0, and the stack asks for ${kuberay.default}`,
    );
  });

  test("definitions that are missing", () => {
    expect(text({ definitions: definitions.slice(1) })).toContain("rayclusters.ray.io missing");
  });

  test("GKE's add-on runs out of sight, and beside it there must be no other", () => {
    const addon = configOf("gcp-dev", { operator: { mode: "addon", version: "1.6.1" } });
    expect(verdicts(judgeOperator(addon, { operators: [], definitions }))).toEqual(["ok", "unknown"]);
    expect(text({}, addon)).toContain("beside GKE's add-on");
  });

  test("as it should be, also from a mirror", () => {
    expect(verdicts(judgeOperator(aws, { operators, definitions }))).toEqual(["ok", "ok"]);
    expect(isOperator(deployment("x", "mirror.example.com/kuberay/operator@sha256:0"))).toBe(true);
    expect(isOperator(deployment("x", "prom/operator:v1"))).toBe(false);
  });
});

describe("RayCluster", () => {
  const nodes = [node(aws, "ray-head"), node(aws, "system")];
  const onHead = { nodeName: "ray-head-1", nodeSelector: { "geneva.lancedb.com/ray-head": "true" } };
  const labels = { "ray.io/cluster": aws.ray.name, "ray.io/node-type": "head" };
  const head = pod("head", { labels, spec: onHead });
  const judge = (cluster: ReturnType<typeof rayCluster> | undefined, pods = [head]) =>
    judgeRay(aws, { cluster, pods, nodes });

  test("missing, untouched, or with a head that is not ready and why", () => {
    expect(seen(judge(undefined))).toContain("it does not exist");
    expect(seen(judge(rayCluster({})))).toContain("the operator has not looked at it");
    const waiting = {
      state: "suspended",
      conditions: [{ type: "HeadPodReady", status: "False", message: "ImagePullBackOff" }],
    };
    expect(seen(judge(rayCluster(waiting)))).toContain("it is suspended (ImagePullBackOff)");
  });

  test("fewer workers than the least", () => {
    expect(seen(judge(rayCluster({ state: "ready", availableWorkerReplicas: 1, minWorkerReplicas: 2 })))).toContain(
      "1 of at least 2 workers",
    );
  });

  test("a pod that no node takes says what the scheduler said; one that waits says for what", () => {
    const message = "0/3 nodes are available: 3 Insufficient cpu.";
    const stuck = pod("w", { labels, status: { conditions: [{ type: "PodScheduled", status: "False", message }] } });
    expect(seen(judge(rayCluster(), [stuck]))).toContain(`on no node (${message})`);
    const pulling = pod("w", {
      labels,
      spec: onHead,
      status: {
        containerStatuses: [{ name: "ray-head", ready: false, state: { waiting: { reason: "ErrImagePull" } } }],
      },
    });
    expect(seen(judge(rayCluster(), [pulling]))).toContain("not ready (ErrImagePull)");
  });

  test("a pod on a node whose label is gone, and a guest on the head node", () => {
    const lost = pod("head", { labels, spec: { ...onHead, nodeName: "system-1" } });
    expect(seen(judge(rayCluster(), [lost]))).toContain("which is no ray-head node");
    const guest = pod("coredns", { spec: { nodeName: "ray-head-1" } });
    expect(seen(judge(rayCluster(), [head, guest]))).toContain("pod lancedb/coredns: runs on the head node");
  });

  test("GKE's own pods are no guests, though they choose their nodes themselves", () => {
    const gcp = configOf("gcp-dev");
    const dns = pod("kube-dns", { spec: { nodeName: "ray-head-1" } });
    const own = { ...dns, metadata: { ...dns.metadata, namespace: "kube-system" } };
    const facts = (guest: typeof dns) => ({ cluster: rayCluster(), pods: [head, guest], nodes });
    expect(seen(judgeRay(gcp, facts(own)))).not.toContain("runs on the head node");
    expect(seen(judgeRay(gcp, facts(dns)))).toContain("runs on the head node");
  });

  test("what runs on every node is no guest, and a stack without a RayCluster is no fault", () => {
    const daemon = pod("aws-node", { spec: { nodeName: "ray-head-1" } });
    const owned = { ...daemon, metadata: { ...daemon.metadata, ownerReferences: [{ kind: "DaemonSet" }] } };
    expect(verdicts(judge(rayCluster(), [head, owned]))).toEqual(["ok", "ok"]);
    const none = configOf("aws-dev", { ray: { create: false } });
    expect(verdicts(judgeRay(none, { cluster: undefined, pods: [], nodes }))).toEqual(["ok"]);
  });
});
