import { describe, expect, test } from "vitest";
import { checkOperator, isOperator } from "../../../infra/verify/checks/operator.ts";
import { checkRay } from "../../../infra/verify/checks/ray.ts";
import { kuberay } from "../../../infra/versions.ts";
import { deployment, node, pod, rayCluster, results, seen, stackOf } from "./support.ts";

const aws = stackOf("aws-dev");
const image = (version: string) => `quay.io/kuberay/operator:v${version}`;
const definitions = ["rayclusters", "rayjobs", "rayservices"].map((kind) => ({
  metadata: { name: `${kind}.ray.io` },
  status: { conditions: [{ type: "Established", status: "True" }] },
}));
const operators = [deployment("kuberay-operator", image(kuberay.default))];

describe("operator", () => {
  const text = (more: Partial<Parameters<typeof checkOperator>[1]>, config = aws) =>
    seen(checkOperator(config, { operators, definitions, ...more }));

  test("no operator, two operators, an unavailable one and another version are wrong", () => {
    expect(text({ operators: [] })).toContain("no Deployment in the cluster runs KubeRay's image");
    expect(text({ operators: [...operators, ...operators] })).toContain("which undo each other's changes");
    expect(text({ operators: [deployment("kuberay-operator", image(kuberay.default), 0)] })).toContain("not available");
    expect(text({ operators: [deployment("kuberay-operator", image("1.0.0"))] })).toContain(
      `runs 1.0.0, but the stack configures ${kuberay.default}`,
    );
  });

  test("missing definitions are wrong", () => {
    expect(text({ definitions: definitions.slice(1) })).toContain("rayclusters.ray.io missing");
  });

  test("GKE's add-on is not visible, and a second operator beside it is wrong", () => {
    const addon = stackOf("gcp-dev", { operator: { mode: "addon", version: "1.6.1" } });
    expect(results(checkOperator(addon, { operators: [], definitions }))).toEqual(["ok", "unknown"]);
    expect(text({}, addon)).toContain("beside GKE's add-on");
  });

  test("the configured operator is ok, also from another registry", () => {
    expect(results(checkOperator(aws, { operators, definitions }))).toEqual(["ok", "ok"]);
    expect(isOperator(deployment("x", "mirror.example.com/kuberay/operator@sha256:0"))).toBe(true);
    expect(isOperator(deployment("x", "prom/operator:v1"))).toBe(false);
  });
});

describe("RayCluster", () => {
  const nodes = [node(aws, "ray-head"), node(aws, "system")];
  const onHead = { nodeName: "ray-head-1", nodeSelector: { "geneva.lancedb.com/ray-head": "true" } };
  const labels = { "ray.io/cluster": aws.config.ray.name, "ray.io/node-type": "head" };
  const head = pod("head", { labels, spec: onHead });
  const judge = (cluster: ReturnType<typeof rayCluster> | undefined, pods = [head]) =>
    checkRay(aws, { clusters: { geneva: cluster }, pods, nodes });

  test("a RayCluster that is missing or not ready is wrong, with the reason", () => {
    expect(seen(judge(undefined))).toContain("it does not exist");
    expect(seen(judge(rayCluster({})))).toContain("the operator has set no state");
    const waiting = {
      state: "suspended",
      conditions: [{ type: "HeadPodReady", status: "False", message: "ImagePullBackOff" }],
    };
    expect(seen(judge(rayCluster(waiting)))).toContain("it is suspended (ImagePullBackOff)");
  });

  test("fewer workers than the minimum are wrong", () => {
    expect(seen(judge(rayCluster({ state: "ready", availableWorkerReplicas: 1, minWorkerReplicas: 2 })))).toContain(
      "has 1 workers, minimum 2",
    );
  });

  test("an unscheduled pod is wrong with the scheduler's message, a waiting one with its reason", () => {
    const message = "0/3 nodes are available: 3 Insufficient cpu.";
    const stuck = pod("w", { labels, status: { conditions: [{ type: "PodScheduled", status: "False", message }] } });
    expect(seen(judge(rayCluster(), [stuck]))).toContain(`not scheduled (${message})`);
    const pulling = pod("w", {
      labels,
      spec: onHead,
      status: {
        containerStatuses: [{ name: "ray-head", ready: false, state: { waiting: { reason: "ErrImagePull" } } }],
      },
    });
    expect(seen(judge(rayCluster(), [pulling]))).toContain("not ready (ErrImagePull)");
  });

  test("a pod on a node without its label and another pod on the head node are wrong", () => {
    const lost = pod("head", { labels, spec: { ...onHead, nodeName: "system-1" } });
    expect(seen(judge(rayCluster(), [lost]))).toContain("which is not a ray-head node");
    const foreign = pod("coredns", { spec: { nodeName: "ray-head-1" } });
    expect(seen(judge(rayCluster(), [head, foreign]))).toContain("pod lancedb/coredns: runs on the head node");
  });

  test("GKE's own pods may run on the head node", () => {
    const gcp = stackOf("gcp-dev");
    const dns = pod("kube-dns", { spec: { nodeName: "ray-head-1" } });
    const own = { ...dns, metadata: { ...dns.metadata, namespace: "kube-system" } };
    const facts = (foreign: typeof dns) => ({ clusters: { geneva: rayCluster() }, pods: [head, foreign], nodes });
    expect(seen(checkRay(gcp, facts(own)))).not.toContain("runs on the head node");
    expect(seen(checkRay(gcp, facts(dns)))).toContain("runs on the head node");
  });

  test("DaemonSets may run on the head node, and a stack without a RayCluster is ok", () => {
    const daemon = pod("aws-node", { spec: { nodeName: "ray-head-1" } });
    const owned = { ...daemon, metadata: { ...daemon.metadata, ownerReferences: [{ kind: "DaemonSet" }] } };
    expect(results(judge(rayCluster(), [head, owned]))).toEqual(["ok", "ok"]);
    const none = stackOf("aws-dev", { ray: { create: false, head: { cpus: 2, memory: "8Gi" } } });
    expect(results(checkRay(none, { clusters: {}, pods: [], nodes }))).toEqual(["ok"]);
  });

  test("the RayCluster of Functions is checked beside the stack's own", () => {
    const tableService = {
      writes: true,
      functions: { enabled: true },
      auth: { issuer: "https://login.example.com/", audience: "a" },
    };
    // One head more than the RayClusters of the stack.
    const withHead = { head: { instanceTypes: ["c6i.2xlarge"], min: 1, max: 3 } };
    const both = stackOf("aws-dev", { tableService, nodes: withHead });
    const of = {
      ...head,
      metadata: { ...head.metadata, name: "functions-head", labels: { ...labels, "ray.io/cluster": "functions" } },
    };
    const judged = (functions: ReturnType<typeof rayCluster> | undefined) =>
      checkRay(both, { clusters: { geneva: rayCluster(), functions }, pods: [head, of], nodes });
    expect(results(judged(rayCluster()))).toEqual(["ok", "ok", "ok", "ok"]);
    expect(seen(judged(undefined))).toContain("RayCluster lancedb/functions: it does not exist");
  });
});
