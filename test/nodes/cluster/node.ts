import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { Daemon } from "../../e2e/support/daemon.ts";
import { copyRoot, startContainerd } from "./containerd.ts";
import { dnsAddress, machineAddress } from "./isolation.ts";

/** A node of the suite. All nodes share the machine's network and its processors; each has its own containerd and kubelet. */
export interface RealNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** Allocatable memory in bytes. */
  readonly memory: number;
}

export interface NodeOptions {
  readonly node: RealNode;
  /** Place among the nodes: its ports and its pods' network. */
  readonly index: number;
  /** Folder of the run. */
  readonly folder: string;
  /** containerd's root with the images. */
  readonly images: string;
  readonly kubelet: string;
  readonly kubeconfig: string;
  /** Memory of the machine in bytes. */
  readonly machineMemory: number;
}

/** The pods' networks, one of each node. */
export const podNetwork = "10.244.0.0/16";
const podSubnet = (index: number): string => `10.244.${index + 1}.0/24`;

const network = (index: number, folder: string) => ({
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [
    {
      type: "ptp",
      ipam: {
        type: "host-local",
        dataDir: join(folder, "addresses"),
        ranges: [[{ subnet: podSubnet(index) }]],
        routes: [{ dst: "0.0.0.0/0" }],
      },
    },
    { type: "portmap", capabilities: { portMappings: true } },
  ],
});

const configuration = ({ node, index, folder, machineMemory }: NodeOptions, socket: string) => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  address: machineAddress,
  port: 10_250 + index,
  healthzPort: 10_350 + index,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
  registerWithTaints: node.taints,
  containerRuntimeEndpoint: `unix://${socket}`,
  clusterDNS: [dnsAddress],
  clusterDomain: "cluster.local",
  resolvConf: join(folder, "no-resolv.conf"),
  podLogsDir: join(folder, "pod-logs"),
  volumePluginDir: join(folder, "volume-plugins"),
  cgroupDriver: "cgroupfs",
  cgroupRoot: `/${node.name}`,
  failCgroupV1: false,
  failSwapOn: false,
  oomScoreAdj: 0,
  maxOpenFiles: 20_000,
  maxPods: 40,
  // The disk is the developer's: how full it is says nothing about the cluster.
  evictionHard: { "memory.available": "100Mi" },
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
  systemReserved: { memory: `${Math.max(0, Math.floor((machineMemory - node.memory) / 2 ** 20) - 100)}Mi` },
  enforceNodeAllocatable: ["pods"],
  syncFrequency: "10s",
  nodeStatusUpdateFrequency: "5s",
  serializeImagePulls: true,
});

/** Starts the node's containerd and kubelet. */
export async function startNode(options: NodeOptions): Promise<Daemon[]> {
  const { node, index, images, kubelet, kubeconfig } = options;
  const folder = join(options.folder, node.name);
  for (const part of ["network", "pod-logs", "volume-plugins"]) await mkdir(join(folder, part), { recursive: true });
  await writeFile(join(folder, "no-resolv.conf"), "");
  await writeFile(join(folder, "network", "10-pods.conflist"), JSON.stringify(network(index, folder)));
  await copyRoot(images, join(folder, "containerd"));
  const { daemon, socket } = await startContainerd({
    root: join(folder, "containerd"),
    state: `/run/${node.name}`,
    logFile: join(options.folder, `${node.name}-containerd.log`),
    network: join(folder, "network"),
  });
  const config = join(folder, "kubelet.yaml");
  await writeFile(config, stringify(configuration({ ...options, folder }, socket)));
  const labels = Object.entries(node.labels).map(([key, value]) => `${key}=${value}`);
  return [
    daemon,
    new Daemon({
      name: `kubelet of ${node.name}`,
      command: kubelet,
      args: [
        `--config=${config}`,
        `--kubeconfig=${kubeconfig}`,
        `--hostname-override=${node.name}`,
        `--node-ip=${machineAddress}`,
        `--root-dir=${join(folder, "kubelet")}`,
        `--cert-dir=${join(folder, "kubelet-certificates")}`,
        ...(labels.length === 0 ? [] : [`--node-labels=${labels.join(",")}`]),
      ],
      logFile: join(options.folder, `${node.name}-kubelet.log`),
    }),
  ];
}
