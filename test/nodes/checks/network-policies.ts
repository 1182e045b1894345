/** The stack's network policies, enforced: each documented row, tried from the pod that it names. */

import { createServer } from "node:net";
import { metricsReaderLabel } from "../../../infra/workloads/network-policy-specs.ts";
import { ports } from "../../../service/contract.ts";
import { holds } from "../../e2e/support/report.ts";
import { machineAddress } from "../cluster/isolation.ts";
import { callerPod, elsewhere, metricsReaders, readyPods, type Subject, tableServicePods } from "../support.ts";
import { namespace } from "../surroundings.ts";

/** A pod that connects, and the container and program that it does so with. */
interface Source {
  readonly place: string;
  readonly pod: string;
  readonly container?: string;
  readonly language: "node" | "python";
}

const connect = {
  node: (host: string, port: number) => [
    "node",
    "-e",
    `const socket = require("node:net").connect({ host: "${host}", port: ${port}, timeout: 4000 });
     const end = (text) => { console.log(text); process.exit(); };
     socket.once("connect", () => end("open")).once("timeout", () => end("closed")).once("error", () => end("closed"));`,
  ],
  python: (host: string, port: number) => [
    "python",
    "-c",
    `import socket
try:
    socket.create_connection(("${host}", ${port}), 4).close()
    print("open")
except OSError:
    print("closed")`,
  ],
};

/** Each row of "What protects Ray" in docs/geneva.md, and of the operations port in docs/operations.md. */
interface Row {
  readonly from: Source;
  readonly to: readonly [string, string, number];
  readonly expected: "open" | "closed";
}

export async function checkNetworkPolicies(subject: Subject): Promise<void> {
  const { surroundings, report, kubectl } = subject;
  const { own } = surroundings;
  await report.check("what a network policy allows connects, and nothing else does", async () => {
    const metadata = { name: metricsReaders, labels: metricsReaderLabel };
    await kubectl(["apply", "-f", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata }),
    });
    await callerPod(subject, metricsReaders, "caller");
    await callerPod(subject, namespace, "neighbour");
    await callerPod(subject, operatorNamespace, "caller", { "app.kubernetes.io/name": "kuberay-operator" });
    await callerPod(subject, operatorNamespace, "stranger");
    const address = async (place: string, pod: string) =>
      (await kubectl(["-n", place, "get", "pod", pod, "-o", "jsonpath={.status.podIP}"])).trim();
    const [service] = await readyPods(surroundings, tableServicePods);
    const [ray] = await readyPods(surroundings, "ray.io/node-type=head", { seconds: 900 });
    const targets = {
      service: service.status.podIP as string,
      head: ray.status.podIP as string,
      neighbour: await address(namespace, "neighbour"),
      caller: await address(elsewhere, "caller"),
      operator: await address(operatorNamespace, "caller"),
      stranger: await address(operatorNamespace, "stranger"),
    };
    const from = (place: string, pod: string): Source => ({ place, pod, language: "node" });
    const outside = from(elsewhere, "caller");
    const reader = from(metricsReaders, "caller");
    const neighbour = from(namespace, "neighbour");
    const operator = from(operatorNamespace, "caller");
    const stranger = from(operatorNamespace, "stranger");
    const tables = from(namespace, service.metadata.name);
    const head: Source = { place: namespace, pod: ray.metadata.name, container: "ray-head", language: "python" };
    const rows: readonly Row[] = [
      { from: outside, to: ["the API", targets.service, ports.api], expected: "open" },
      { from: outside, to: ["the operations port", targets.service, ports.operations], expected: "closed" },
      { from: reader, to: ["the operations port", targets.service, ports.operations], expected: "open" },
      { from: outside, to: ["Ray's dashboard", targets.head, 8265], expected: "closed" },
      { from: outside, to: ["Ray's client port", targets.head, 10_001], expected: "closed" },
      { from: outside, to: ["Ray's control store", targets.head, 6379], expected: "closed" },
      { from: outside, to: ["a pod of the namespace", targets.neighbour, 8080], expected: "closed" },
      { from: neighbour, to: ["Ray's dashboard", targets.head, 8265], expected: "open" },
      { from: neighbour, to: ["Ray's client port", targets.head, 10_001], expected: "open" },
      { from: tables, to: ["Ray's dashboard", targets.head, 8265], expected: "closed" },
      { from: tables, to: ["a pod elsewhere", targets.caller, 8080], expected: "closed" },
      ...(own === undefined ? [] : beyond(tables)),
      { from: operator, to: ["Ray's dashboard", targets.head, 8265], expected: "open" },
      { from: operator, to: ["Ray's agent", targets.head, 52_365], expected: "open" },
      { from: operator, to: ["Ray's client port", targets.head, 10_001], expected: "closed" },
      { from: operator, to: ["the operations port", targets.service, ports.operations], expected: "closed" },
      { from: operator, to: ["a pod elsewhere", targets.caller, 8080], expected: "closed" },
      { from: stranger, to: ["Ray's dashboard", targets.head, 8265], expected: "closed" },
      { from: reader, to: ["the operator's metrics", targets.operator, 8080], expected: "open" },
      { from: outside, to: ["the operator's metrics", targets.operator, 8080], expected: "closed" },
      { from: operator, to: ["a pod beside the operator", targets.stranger, 8080], expected: "closed" },
      { from: head, to: ["a pod elsewhere", targets.caller, 8080], expected: "open" },
      { from: head, to: ["the API", targets.service, ports.api], expected: "open" },
    ];
    const wrong: string[] = [];
    const listeners = own === undefined ? [] : beyondPorts.map(listen);
    for (const { from: source, to, expected } of rows) {
      const [what, host, port] = to;
      const inside = source.container === undefined ? [] : ["-c", source.container];
      const exec = ["-n", source.place, "exec", source.pod, ...inside, "--", ...connect[source.language](host, port)];
      const found = (await kubectl(exec)).trim();
      const line = `${source.place}/${source.pod} to ${what} (${port}): ${found}`;
      report.log(line);
      if (found !== expected) wrong.push(`${line}, not ${expected}`);
    }
    for (const listener of listeners) listener.close();
    holds(wrong.length === 0, wrong.join("\n"));
    const closed = rows.filter(({ expected }) => expected === "closed").length;
    await kubectl(["-n", namespace, "delete", "pod", "neighbour", "--wait=false"]);
    return `${rows.length - closed} open, ${closed} closed, enforced by ${own === undefined ? "the cluster's plug-in" : "kube-router"}`;
  });
}

/** Ports of an address outside the cluster: the policy allows the first. Open shows only where something listens. */
const beyondPorts = [443, 444] as const;
const listen = (port: number) => createServer((socket) => socket.end()).listen(port, machineAddress);
const beyond = (from: Source): Row[] =>
  beyondPorts.map((port) => ({
    from,
    to: [`port ${port} outside the cluster`, machineAddress, port],
    expected: port === 443 ? "open" : "closed",
  }));

/** Where the stack installs KubeRay. */
const operatorNamespace = "kuberay-system";
