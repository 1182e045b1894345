/** A cluster of real parts on this machine, inside the namespaces of `isolation.ts`. */

import { execFile } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { nodeLabels, nodeTaints } from "../../../infra/model/roles.ts";
import { goPart } from "../../../tools/parts/control-plane/go.ts";
import type { PartName } from "../../../tools/parts/control-plane/table.ts";
import { hasCondition } from "../../e2e/support/api.ts";
import { type Cluster, controlPlane, startCluster } from "../../e2e/support/cluster.ts";
import type { OtherUser } from "../../e2e/support/credentials.ts";
import { Daemon, until } from "../../e2e/support/daemon.ts";
import { dnsAddress, machineAddress } from "./isolation.ts";
import { podNetwork, type RealNode, startNode } from "./node.ts";

/** The parts from Go modules. */
export const goPartsOfNodes = [
  "pulumi",
  ...controlPlane,
  "node",
  "coredns",
  "kube-router",
  "metrics-server",
] as const satisfies readonly PartName[];

const roleOptions = { labelPrefix: "geneva.lancedb.com", headTaint: "PreferNoSchedule" } as const;
const gibibyte = 2 ** 30;

/** Two nodes for the table service and one of each role of Ray. Their memory is more than the machine's together. */
export const nodes: readonly RealNode[] = [
  { name: "system-1", labels: {}, taints: [], memory: 6 * gibibyte },
  ...(["head", "cpu"] as const).map((pool): RealNode => {
    const role = pool === "head" ? "ray-head" : "ray-worker-cpu";
    return {
      name: `${pool}-1`,
      labels: nodeLabels(role, roleOptions),
      taints: nodeTaints(role, roleOptions).map(({ key, value, effect }) => ({ key, value, effect })),
      memory: (pool === "head" ? 8 : 16) * gibibyte,
    };
  }),
];

const fieldManager = "lakehead-nodes";
const run = promisify(execFile);

export interface RealCluster {
  readonly cluster: Cluster;
  readonly folder: string;
  close(): Promise<void>;
}

export interface StartOptions {
  readonly log: (line: string) => void;
  /** Folder of the run, on the file system of the cache. */
  readonly folder: string;
  /** containerd's root with the images. */
  readonly images: string;
  /** KubeRay runs as a pod, installed by the stack. */
  readonly operatorAsPod: boolean;
}

/** Starts control plane, nodes and network, and waits until the nodes are ready. Every part must be in the cache. */
export async function startRealCluster({ log, folder, images, operatorAsPod }: StartOptions): Promise<RealCluster> {
  await mkdir(folder, { recursive: true });
  const daemons: Daemon[] = [];
  const start = (name: string, command: string, args: readonly string[]) => {
    const daemon = new Daemon({ name, command, args, logFile: join(folder, `${name}.log`) });
    daemons.push(daemon);
    return daemon;
  };
  const users: Record<string, OtherUser> = Object.fromEntries(
    nodes.map(({ name }) => [name, { user: `system:node:${name}`, groups: "system:nodes" }]),
  );
  for (const name of ["kube-proxy", "coredns", "kube-router", "metrics-server"])
    users[name] = { user: name, groups: "system:masters" };
  const apiServerFlags = await aggregationFlags(folder);
  const kubelets = { address: machineAddress, users, operatorAsPod, apiServerFlags };
  const cluster = await startCluster({ log, kubelets });
  const config = (user: string) => join(cluster.folder, `${user}.kubeconfig`);
  const close = async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await cluster.close();
  };
  try {
    const bin = await goPart("node", log);
    for (const controller of await readdir("/sys/fs/cgroup"))
      for (const { name } of nodes) await makeGroup(join("/sys/fs/cgroup", controller), name);
    const started = nodes.map((node, index) =>
      startNode({
        node,
        index,
        folder,
        images,
        kubelet: join(bin, "kubelet"),
        kubeconfig: config(node.name),
        machineMemory: totalmem(),
      }),
    );
    daemons.push(...(await Promise.all(started)).flat());
    await startNetwork({ folder, cluster, config, start, bin, log });
    for (const { name } of nodes)
      await until(
        `node ${name} being ready`,
        async () => {
          const live = await cluster.api.get({ apiVersion: "v1", kind: "Node", metadata: { name } });
          return live !== undefined && hasCondition(live, "Ready") ? true : undefined;
        },
        { seconds: 300 },
      );
    await addVolumes(cluster, folder);
    await startMetrics({ folder, cluster, config, start, log });
    return { cluster, folder, close };
  } catch (error) {
    for (const daemon of daemons) log(`--- ${daemon.name} (${daemon.over ?? "running"})\n${daemon.lastWords}`);
    await close();
    throw error;
  }
}

/** Key pairs by which an aggregated API recognizes the API server, and the flags that name them. */
async function aggregationFlags(folder: string): Promise<readonly string[]> {
  const file = (name: string) => join(folder, `aggregation-${name}`);
  const make = ["req", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
  const authority = ["-x509", "-subj", "/CN=aggregation", "-keyout", file("ca.key"), "-out", file("ca.pem")];
  await run("openssl", [...make, ...authority]);
  const signed = ["-CA", file("ca.pem"), "-CAkey", file("ca.key")];
  const client = ["-x509", "-subj", "/CN=aggregator", "-keyout", file("client.key"), "-out", file("client.pem")];
  await run("openssl", [...make, ...client, ...signed]);
  return [
    `--requestheader-client-ca-file=${file("ca.pem")}`,
    "--requestheader-allowed-names=aggregator",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${file("client.pem")}`,
    `--proxy-client-key-file=${file("client.key")}`,
  ];
}

/** The metrics of pods, which the autoscaler of Deployments reads. */
async function startMetrics({ folder, cluster, config, start, log }: Omit<NetworkOptions, "bin">): Promise<void> {
  const port = 10_260;
  const kubeconfig = config("metrics-server");
  start("metrics-server", join(await goPart("metrics-server", log), "metrics-server"), [
    ...["", "authentication-", "authorization-"].map((prefix) => `--${prefix}kubeconfig=${kubeconfig}`),
    "--kubelet-insecure-tls",
    "--kubelet-preferred-address-types=InternalIP",
    "--kubelet-use-node-status-port",
    "--metric-resolution=10s",
    // It refuses to start unless this is shorter.
    "--kubelet-request-timeout=5s",
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, "metrics-certificates")}`,
  ]);
  const metadata = { name: "metrics-server", namespace: "kube-system" };
  const apply = (object: Parameters<typeof cluster.api.apply>[0]) => cluster.api.apply(object, { fieldManager });
  await apply({ apiVersion: "v1", kind: "Service", metadata, spec: { ports: [{ port: 443, targetPort: port }] } });
  await apply({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": metadata.name } },
    addressType: "IPv4",
    endpoints: [{ addresses: [machineAddress], conditions: { ready: true } }],
    ports: [{ name: "", port, protocol: "TCP" }],
  });
  await apply({
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1beta1.metrics.k8s.io" },
    spec: {
      group: "metrics.k8s.io",
      version: "v1beta1",
      service: metadata,
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  });
}

/** A control group for the pods of a node. */
async function makeGroup(hierarchy: string, name: string): Promise<void> {
  await mkdir(join(hierarchy, name));
  if (!hierarchy.endsWith("/cpuset")) return;
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    const { stdout } = await run("cat", [join(hierarchy, file)]);
    await writeFile(join(hierarchy, name, file), stdout.trim());
  }
}

interface NetworkOptions {
  readonly folder: string;
  readonly cluster: Cluster;
  readonly config: (user: string) => string;
  readonly start: (name: string, command: string, args: readonly string[]) => Daemon;
  /** Folder of kube-proxy. */
  readonly bin: string;
  readonly log: (line: string) => void;
}

/** Services, names and policies: kube-proxy, CoreDNS and kube-router's policy controller, as processes of the machine. */
async function startNetwork({ folder, cluster, config, start, bin, log }: NetworkOptions): Promise<void> {
  const proxy = {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clusterCIDR: podNetwork,
    hostnameOverride: nodes[0]?.name,
    clientConnection: { kubeconfig: config("kube-proxy") },
    conntrack: { maxPerCore: 0, min: 0 },
    oomScoreAdj: 0,
    metricsBindAddress: "127.0.0.1:10249",
  };
  await writeFile(join(folder, "kube-proxy.json"), JSON.stringify(proxy));
  start("kube-proxy", join(bin, "kube-proxy"), [`--config=${join(folder, "kube-proxy.json")}`]);
  const corefile = `.:53 {
    errors
    bind ${machineAddress}
    kubernetes cluster.local in-addr.arpa {
        kubeconfig ${config("coredns")}
    }
    template ANY ANY {
        rcode NXDOMAIN
    }
}
`;
  await writeFile(join(folder, "Corefile"), corefile);
  start("coredns", join(await goPart("coredns", log), "coredns"), [`-conf=${join(folder, "Corefile")}`]);
  const ports = [
    { name: "dns", port: 53, protocol: "UDP" },
    { name: "dns-tcp", port: 53, protocol: "TCP" },
  ];
  const metadata = { name: "kube-dns", namespace: "kube-system" };
  const apply = (object: Parameters<typeof cluster.api.apply>[0]) => cluster.api.apply(object, { fieldManager });
  await apply({ apiVersion: "v1", kind: "Service", metadata, spec: { clusterIP: dnsAddress, ports } });
  await apply({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": "kube-dns" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [machineAddress], conditions: { ready: true } }],
    ports,
  });
  const policies = join(await goPart("kube-router", log), "kube-router");
  const name = nodes[0]?.name ?? "";
  await until("the first node", () => cluster.api.get({ apiVersion: "v1", kind: "Node", metadata: { name } }));
  start("kube-router", policies, [
    `--kubeconfig=${config("kube-router")}`,
    `--hostname-override=${name}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--iptables-sync-period=30s",
  ]);
}

/** Volumes of the default class: each a small file system, which can be full without the machine's being so. */
async function addVolumes({ api }: Cluster, folder: string): Promise<void> {
  await api.apply(
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner: "kubernetes.io/no-provisioner",
      volumeBindingMode: "WaitForFirstConsumer",
    },
    { fieldManager },
  );
  for (const index of [1, 2, 3, 4]) {
    const path = join(folder, "volumes", String(index));
    await mkdir(path, { recursive: true });
    await run("mount", ["-t", "tmpfs", "-o", "size=256m,mode=755", "volume", path]);
    await api.apply(
      {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: `volume-${index}` },
        spec: {
          storageClassName: "standard",
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "10Gi" },
          persistentVolumeReclaimPolicy: "Retain",
          local: { path },
          // One machine: the volume is on every node.
          nodeAffinity: {
            required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/os", operator: "Exists" }] }] },
          },
        },
      },
      { fieldManager },
    );
  }
}
