/**
 * A Kubernetes control plane on the loopback, of real parts: etcd, API server, controller manager, scheduler and the KubeRay
 * operator, which waits for its definitions. kwok simulates the nodes: pods are scheduled and become ready, and run nothing.
 */

import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { goModule, goPart } from "../../../tools/parts/control-plane/go.ts";
import { kwokStages, type PartName } from "../../../tools/parts/control-plane/table.ts";
import { freePort } from "../../../tools/parts/free-port.ts";
import { Api, hasCondition } from "./api.ts";
import { type Credentials, kubeconfigOf, makeCredentials, type OtherUser, type User } from "./credentials.ts";
import { Daemon, type DaemonOptions, temporaryFolder, until } from "./daemon.ts";
import { readKubeconfig } from "./kubeconfig.ts";
import { type NodeSpec, nodeObject } from "./nodes.ts";

export interface ClusterOptions {
  readonly log: (line: string) => void;
  /** The nodes that kwok plays. */
  readonly nodes?: readonly NodeSpec[];
  /** Real kubelets join instead: kwok is absent, and pods reach the API server at this address. */
  readonly kubelets?: Kubelets;
  /** Port of the operator's metrics on the loopback; default: none that is known. */
  readonly operatorMetrics?: number;
}

/** What a control plane needs to know of real kubelets. */
export interface Kubelets {
  /** Address of the machine, which is no loopback. */
  readonly address: string;
  /** Users beside the control plane's own, each with a kubeconfig `<name>.kubeconfig` in the cluster's folder. */
  readonly users: Readonly<Record<string, OtherUser>>;
  /** Whether KubeRay runs as a pod of the cluster, and not as a process beside it. */
  readonly operatorAsPod: boolean;
  /** Flags of the API server beside the usual ones. */
  readonly apiServerFlags?: readonly string[];
}

/** The context of its kubeconfig: the one that the stack `local` names, which is kind's. */
export const contextName = "kind-lakehead";

const fieldManager = "lakehead-e2e";
const exec = promisify(execFile);

interface Binaries {
  readonly etcd: string;
  readonly kubernetes: string;
  readonly kwok: string;
  readonly kuberay: string;
}

/** The parts of a control plane, with or without simulated nodes. */
export const controlPlane = ["etcd", "kubernetes", "kuberay"] as const satisfies readonly PartName[];

/** Builds or finds every part. @throws MissingPart */
async function findBinaries(log: (line: string) => void, names: readonly PartName[]): Promise<Binaries> {
  const found: Record<string, string> = {};
  for (const name of names) found[name] = await goPart(name, log);
  return found as unknown as Binaries;
}

export class Cluster {
  readonly folder: string;
  readonly endpoint: string;
  /** The PEM of the API server's authority in base64, as kubeconfigs and cloud APIs write it. */
  readonly certificateAuthority: string;
  readonly kubeconfig: string;
  readonly token: string;
  readonly api: Api;
  readonly #daemons: Daemon[];
  #closing = false;

  private constructor(folder: string, endpoint: string, authority: string, token: string, daemons: Daemon[]) {
    this.folder = folder;
    this.endpoint = endpoint;
    this.certificateAuthority = authority;
    this.token = token;
    this.kubeconfig = join(folder, "admin.kubeconfig");
    this.#daemons = daemons;
    this.api = new Api(readKubeconfig(kubeconfigOf(contextName, endpoint, authority, token)));
  }

  /** @throws MissingPart when a part can neither be found nor built */
  static async start({ log, nodes = [], kubelets, operatorMetrics }: ClusterOptions): Promise<Cluster> {
    const binaries = await findBinaries(log, kubelets === undefined ? [...controlPlane, "kwok"] : controlPlane);
    const folder = await temporaryFolder("cluster");
    const daemons: Daemon[] = [];
    const run = (name: string, command: string, args: readonly string[], more: Partial<DaemonOptions> = {}) => {
      const daemon = new Daemon({ name, command, args, logFile: join(folder, `${name}.log`), ...more });
      daemons.push(daemon);
      return daemon;
    };
    try {
      const credentials = await makeCredentials(folder, kubelets?.users);
      const etcd = await startEtcd(folder, binaries, run);
      const { endpoint, authority } = await startApiServer({ folder, binaries, credentials, etcd, run, kubelets });
      const cluster = new Cluster(folder, endpoint, authority, credentials.tokens.admin, daemons);
      const kubeconfigs = await writeKubeconfigs(folder, endpoint, authority, credentials);
      const bin = (name: string) => join(binaries.kubernetes, name);
      run("kube-controller-manager", bin("kube-controller-manager"), [
        `--kubeconfig=${kubeconfigs["controller-manager"]}`,
        `--service-account-private-key-file=${credentials.accountKey}`,
        `--root-ca-file=${join(folder, "ca.pem")}`,
        "--use-service-account-credentials=true",
        "--enable-hostpath-provisioner=true",
        "--allocate-node-cidrs=false",
        // Five minutes elsewhere: how long a quota may not count a kind that has just been defined.
        "--resource-quota-sync-period=20s",
        "--leader-elect=false",
        "--secure-port=0",
        // Five minutes and thirty seconds elsewhere: how long the use of a new pod does not count.
        "--horizontal-pod-autoscaler-cpu-initialization-period=30s",
        "--horizontal-pod-autoscaler-initial-readiness-delay=10s",
      ]);
      run("kube-scheduler", bin("kube-scheduler"), [
        `--kubeconfig=${kubeconfigs.scheduler}`,
        "--leader-elect=false",
        "--secure-port=0",
      ]);
      if (kubelets !== undefined) {
        if (!kubelets.operatorAsPod)
          void cluster.#keepOperator(join(binaries.kuberay, "ray-operator"), kubeconfigs.kuberay, run);
        return cluster;
      }
      const stages = await goModule(kwokStages.module, kwokStages.version);
      run("kwok", join(binaries.kwok, "kwok"), [
        `--kubeconfig=${kubeconfigs.kwok}`,
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        "--manage-all-nodes=false",
        "--node-lease-duration-seconds=40",
        ...kwokStages.files.map((file) => `--config=${join(stages, file)}`),
        "--cidr=10.0.0.1/16",
      ]);
      await cluster.#furnish(nodes);
      void cluster.#keepOperator(join(binaries.kuberay, "ray-operator"), kubeconfigs.kuberay, run, operatorMetrics);
      return cluster;
    } catch (error) {
      for (const daemon of daemons) log(`--- ${daemon.name} (${daemon.over ?? "running"})\n${daemon.lastWords}`);
      await Promise.all(daemons.map((daemon) => daemon.stop()));
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** What any cluster has: a storage class, and the service account that pods need. */
  async #furnish(nodes: readonly NodeSpec[]): Promise<void> {
    await this.api.apply(
      {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: "standard", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
        provisioner: "kubernetes.io/host-path",
        volumeBindingMode: "WaitForFirstConsumer",
      },
      { fieldManager },
    );
    for (const node of nodes) await this.addNode(node);
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: "default" } };
    await until("the controller manager's first service account", () => this.api.get(account));
  }

  /** Starts the operator when its definitions are there, and again should it end before the cluster does. */
  async #keepOperator(
    command: string,
    kubeconfig: string,
    run: (name: string, command: string, args: readonly string[], more?: Partial<DaemonOptions>) => Daemon,
    metricsPort = 0,
  ): Promise<void> {
    const established = async () => {
      if (this.#closing) return true;
      const definitions = await this.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition");
      const ready = definitions.filter(
        (definition) => definition.metadata.name.endsWith(".ray.io") && hasCondition(definition, "Established"),
      );
      return ready.length >= 3 ? true : undefined;
    };
    while (!this.#closing) {
      await until("KubeRay's definitions", established, { seconds: 3600, every: 500 }).catch(() => undefined);
      if (this.#closing) return;
      const port = await freePort();
      const operator = run(
        "kuberay-operator",
        command,
        [
          "--enable-leader-election=false",
          `--metrics-addr=127.0.0.1:${metricsPort}`,
          // As its chart has it.
          "--enable-metrics=true",
          `--health-probe-bind-address=127.0.0.1:${port}`,
        ],
        { env: { ...process.env, KUBECONFIG: kubeconfig } },
      );
      await operator.ended;
    }
  }

  /** A node that kwok plays, with exactly these labels, taints and sizes. */
  async addNode(spec: NodeSpec): Promise<void> {
    const node = nodeObject(spec);
    await this.api.apply(node, { fieldManager });
    const path = `${await this.api.path(node)}/status?fieldManager=${fieldManager}&force=true`;
    await this.api.ask("PATCH", path, { ...node, spec: undefined }, "application/apply-patch+yaml");
    await until(`node ${spec.name} being ready`, async () => {
      const live = await this.api.get(node);
      return live !== undefined && hasCondition(live, "Ready") ? true : undefined;
    });
  }

  /** Standard output of kubectl with the administrator's rights. */
  async kubectl(args: readonly string[]): Promise<string> {
    const { stdout } = await exec("kubectl", ["--kubeconfig", this.kubeconfig, ...args], { maxBuffer: 64 * 2 ** 20 });
    return stdout;
  }

  /** The end of each part's log, for a failure that is hard to understand. */
  get lastWords(): string {
    return this.#daemons.map((daemon) => `--- ${daemon.name}\n${daemon.lastWords}`).join("\n");
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.api.close();
    // The database last: the others would fill their logs with its absence.
    const [etcd, ...others] = this.#daemons;
    await Promise.all(others.map((daemon) => daemon.stop()));
    await etcd?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const startCluster = (options: ClusterOptions): Promise<Cluster> => Cluster.start(options);

type Run = (name: string, command: string, args: readonly string[], more?: Partial<DaemonOptions>) => Daemon;

async function startEtcd(folder: string, binaries: Binaries, run: Run): Promise<string> {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const etcd = run("etcd", join(binaries.etcd, "etcd"), [
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // What it holds lives as long as the suite.
    "--unsafe-no-fsync",
    "--log-level=warn",
  ]);
  await etcd.until("etcd's health", async () => ((await fetch(`${client}/health`)).ok ? true : undefined));
  return client;
}

interface ServerOptions {
  readonly folder: string;
  readonly binaries: Binaries;
  readonly credentials: Credentials;
  readonly etcd: string;
  readonly run: Run;
  readonly kubelets: Kubelets | undefined;
}

/** Flags where nodes are simulated: nothing in the cluster asks for the API server, and a loopback may be no endpoint. */
const loopbackFlags = ["--bind-address=127.0.0.1", "--authorization-mode=RBAC", "--endpoint-reconciler-type=none"];

const kubeletFlags = ({ address, apiServerFlags = [] }: Kubelets): readonly string[] => [
  "--bind-address=0.0.0.0",
  `--advertise-address=${address}`,
  "--authorization-mode=Node,RBAC",
  "--allow-privileged=true",
  "--kubelet-preferred-address-types=InternalIP",
  ...apiServerFlags,
];

/** What the stack's network policies allow, in a cluster that has a network of its own. */
const usualPort = 6443;

async function startApiServer({ folder, binaries, credentials, etcd, run, kubelets }: ServerOptions) {
  const port = kubelets === undefined ? await freePort() : usualPort;
  const endpoint = `https://${kubelets?.address ?? "127.0.0.1"}:${port}`;
  const certificates = join(folder, "certificates");
  const server = run("kube-apiserver", join(binaries.kubernetes, "kube-apiserver"), [
    `--etcd-servers=${etcd}`,
    ...(kubelets === undefined ? loopbackFlags : kubeletFlags(kubelets)),
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
    `--token-auth-file=${credentials.tokenFile}`,
    // As EKS and GKE have it: a pod that asks for a GPU tolerates the GPU nodes' taint.
    `--enable-admission-plugins=ExtendedResourceToleration${kubelets === undefined ? "" : ",NodeRestriction"}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-signing-key-file=${credentials.accountKey}`,
    `--service-account-key-file=${credentials.accountPublicKey}`,
    "--service-cluster-ip-range=10.96.0.0/16",
  ]);
  const authority = await server.until("the API server's certificate", async () => {
    const end = "-----END CERTIFICATE-----\n";
    const chain = (await readFile(join(certificates, "apiserver.crt"), "utf8")).split(end).map((one) => `${one}${end}`);
    return chain.find((one) => one.startsWith("-----BEGIN") && new X509Certificate(one).ca);
  });
  await writeFile(join(folder, "ca.pem"), authority);
  const encoded = Buffer.from(authority).toString("base64");
  const api = new Api(readKubeconfig(kubeconfigOf(contextName, endpoint, encoded, credentials.tokens.admin)));
  await server.until("the API server's readiness", async () => {
    await api.ask("GET", "/readyz");
    return true;
  });
  api.close();
  return { endpoint, authority: encoded };
}

async function writeKubeconfigs(folder: string, endpoint: string, authority: string, { tokens }: Credentials) {
  const paths: Record<string, string> = {};
  for (const [user, token] of Object.entries(tokens)) {
    const path = join(folder, `${user}.kubeconfig`);
    await writeFile(path, kubeconfigOf(contextName, endpoint, authority, token), { mode: 0o600 });
    paths[user] = path;
  }
  return paths as Record<User, string> & Record<string, string>;
}
