import type * as kubernetes from "@pulumi/kubernetes";
import { ports } from "../../service/contract.ts";
import { rayPorts } from "../model/ray-cluster.ts";
import { rayMetricsPorts } from "../model/scrape-targets.ts";

type Spec = kubernetes.types.input.networking.v1.NetworkPolicySpec;
type Peer = kubernetes.types.input.networking.v1.NetworkPolicyPeer;
type Port = kubernetes.types.input.networking.v1.NetworkPolicyPort;
type EgressRule = kubernetes.types.input.networking.v1.NetworkPolicyEgressRule;

export interface NetworkPolicyRequest {
  /** Labels of the table service's pods; undefined when the stack does not deploy it. */
  readonly tableService:
    | {
        readonly selector: { readonly "app.kubernetes.io/name": string };
        readonly exposure: "cluster" | "internal" | "public";
        /** Networks from which a load balancer probes the operations port. */
        readonly probeSources: readonly string[];
        /** URLs that it calls: key set, issuer, storage endpoint. */
        readonly calls: readonly string[];
      }
    | undefined;
  /** Namespace of the KubeRay operator, which reads job states from Ray's dashboard; undefined outside the cluster. */
  readonly operatorNamespace: string | undefined;
  /** Label of the orphan cleanup's pods; undefined when the stack does not run it. */
  readonly cleanup: string | undefined;
  /**
   * Label of the maintenance's pods, the storage endpoints that it calls, and whether it submits jobs to Ray; undefined when the
   * stack does not run it.
   */
  readonly maintenance: { readonly name: string; readonly calls: readonly string[]; readonly ray: boolean } | undefined;
  /** The runners of Functions; undefined when the stack has none. */
  readonly functions: FunctionsRequest | undefined;
  /** Label of the history server's pods; undefined without one. */
  readonly history?: string | undefined;
  /** The pods that read metrics; undefined: those of each namespace with the label, and not of Ray. */
  readonly scraper?: Scraper | undefined;
}

/** Pods of one namespace. */
export interface Scraper {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface FunctionsRequest {
  /** Label of the runners' pods. */
  readonly name: string;
  /** Storage endpoints and the package index. */
  readonly calls: readonly string[];
  /** Their own RayCluster; undefined where they use that of the stack. */
  readonly own:
    | {
        readonly cluster: string;
        /** Networks of private addresses that it reaches. */
        readonly cidrs: readonly string[];
        /** Pods get their cloud identity from the metadata server of their node. */
        readonly metadataServer: boolean;
      }
    | undefined;
}

/** Policies by name. */
export type PolicySpecs = Readonly<Record<string, Spec>>;

/** Without `monitoring`, pods of a namespace with this label can read the metrics of the table service and of the KubeRay operator. */
export const metricsReaderLabel = { "lakehead/metrics-reader": "true" } as const;

const metricsReaders = (scraper: Scraper | undefined): Peer =>
  scraper === undefined
    ? { namespaceSelector: { matchLabels: { ...metricsReaderLabel } } }
    : { ...inNamespace(scraper.namespace), podSelector: { matchLabels: { ...scraper.labels } } };

/** KubeRay's label on the pods of every RayCluster. */
const rayPods = { "ray.io/is-ray-node": "yes" } as const;
const clusterLabel = "ray.io/cluster";
/** Port of the agent on every Ray node; KubeRay's probes and job reconciler use it. */
const rayAgentPort = 52_365;
/** The chart's `metrics` port. */
const operatorMetricsPort = 8080;

const tcp = (port: number): Port => ({ protocol: "TCP", port });
const dns: Port[] = [
  { protocol: "UDP", port: 53 },
  { protocol: "TCP", port: 53 },
];
const inNamespace = (name: string) => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
});
/** Egress to DNS at any address: no selector matches a node-local cache. */
const toDns: EgressRule = { ports: dns };
/**
 * Egress to the API server, whose address no selector matches. Policies see its endpoint's port, not its Service's: 443 on EKS
 * and GKE, 6443 where kubeadm, kind or k3s made the cluster.
 */
const toApiServer: EgressRule = { ports: [tcp(443), tcp(6443)] };
/** Where pods get their cloud identity: the instance metadata address and GKE's metadata server on the node. */
const metadataServers: EgressRule[] = [
  { to: [{ ipBlock: { cidr: "169.254.169.254/32" } }], ports: [tcp(80)] },
  { to: [{ ipBlock: { cidr: "169.254.169.252/32" } }], ports: [tcp(987), tcp(988)] },
];

/**
 * The policies by name. All ingress is denied unless a policy allows it. Ray does not authenticate callers by default,
 * so only its own namespace reaches it, except the table service, whose callers are outside the cluster. Ray's pods
 * have unrestricted egress: jobs install packages and read data from any host, and the autoscaler needs the API server
 * and DNS.
 */
export function networkPolicySpecs(request: NetworkPolicyRequest): PolicySpecs {
  const { tableService, cleanup, maintenance, functions, history } = request;
  return {
    "default-deny-ingress": { podSelector: {}, policyTypes: ["Ingress"] },
    ray: rayPolicy(request),
    ...(tableService === undefined ? {} : { "table-service": tableServicePolicy(tableService, request.scraper) }),
    ...(cleanup === undefined
      ? {}
      : {
          [cleanup]: {
            podSelector: { matchLabels: { "app.kubernetes.io/name": cleanup } },
            policyTypes: ["Egress"],
            egress: [toDns, toApiServer],
          },
        }),
    ...(history === undefined
      ? {}
      : {
          [history]: {
            podSelector: { matchLabels: { "app.kubernetes.io/name": history } },
            policyTypes: ["Egress"],
            // The API server and the bucket.
            egress: [toDns, toApiServer, ...metadataServers],
          },
        }),
    ...(maintenance === undefined
      ? {}
      : {
          [maintenance.name]: {
            podSelector: { matchLabels: { "app.kubernetes.io/name": maintenance.name } },
            policyTypes: ["Egress"],
            egress: [
              toDns,
              toStores(maintenance.calls),
              ...metadataServers,
              ...(maintenance.ray
                ? [{ to: [{ podSelector: { matchLabels: { ...rayPods } } }], ports: [tcp(rayPorts.dashboard)] }]
                : []),
            ],
          },
        }),
    ...(functions === undefined ? {} : functionsPolicies(functions, request)),
  };
}

/**
 * The policies of the KubeRay operator's namespace: nothing in or out, except what the operator needs. It has no webhook. Probes
 * come from the node, which policies do not restrict.
 */
export function operatorPolicySpecs(scraper?: Scraper): PolicySpecs {
  return {
    "default-deny": { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
    "kuberay-operator": {
      podSelector: { matchLabels: { "app.kubernetes.io/name": "kuberay-operator" } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [metricsReaders(scraper)], ports: [tcp(operatorMetricsPort)] }],
      egress: [
        toDns,
        toApiServer,
        {
          to: [{ namespaceSelector: {}, podSelector: { matchLabels: { ...rayPods } } }],
          ports: [tcp(rayPorts.dashboard), tcp(rayAgentPort)],
        },
      ],
    },
  };
}

/**
 * What a Function can reach. On a cluster of their own, its pods reach each other, and of the rest public addresses on the ports of
 * the stores: the API server, other pods and the metadata server have private ones. The autoscaler in the head's pod needs the API
 * server, and the head no store.
 */
function functionsPolicies(
  { name, calls, own }: FunctionsRequest,
  { operatorNamespace, scraper }: NetworkPolicyRequest,
): PolicySpecs {
  const runner: Peer = { podSelector: { matchLabels: { "app.kubernetes.io/name": name } } };
  const reach = (egress: readonly EgressRule[], labels: Record<string, string>): Spec => ({
    podSelector: { matchLabels: labels },
    policyTypes: ["Egress"],
    egress: [toDns, ...egress],
  });
  const runnerPods = { "app.kubernetes.io/name": name };
  if (own === undefined) {
    // The packages come from the port of the stores, too.
    const toClients: EgressRule = {
      to: [{ podSelector: { matchLabels: { ...rayPods } } }],
      ports: [tcp(rayPorts.client)],
    };
    return { [name]: reach([toStores(calls), ...metadataServers, toClients], runnerPods) };
  }
  const pods = { [clusterLabel]: own.cluster };
  const heads = { ...pods, "ray.io/node-type": "head" };
  const each: Peer = { podSelector: { matchLabels: pods } };
  const toData: EgressRule[] = [
    { to: [publicAddresses, ...own.cidrs.map((cidr): Peer => ({ ipBlock: { cidr } }))], ...toStores(calls) },
    ...(own.metadataServer ? metadataServers : []),
  ];
  return {
    [own.cluster]: {
      podSelector: { matchLabels: pods },
      policyTypes: ["Ingress"],
      ingress: [
        { from: [each] },
        { from: [runner], ports: [tcp(rayPorts.client)] },
        ...fromOperator(operatorNamespace),
        ...fromScraper(scraper),
      ],
    },
    [`${own.cluster}-head`]: reach([{ to: [each] }, toApiServer], heads),
    [`${own.cluster}-worker`]: reach([{ to: [each] }, ...toData], { ...pods, "ray.io/node-type": "worker" }),
    [name]: reach(
      [...toData, { to: [{ podSelector: { matchLabels: heads } }], ports: [tcp(rayPorts.client)] }],
      runnerPods,
    ),
  };
}

/** Every address but those of private networks, which clouds also take from the last three, and of the link: the metadata server. */
const publicAddresses: Peer = {
  ipBlock: {
    cidr: "0.0.0.0/0",
    except: [
      "10.0.0.0/8",
      "172.16.0.0/12",
      "192.168.0.0/16",
      "169.254.0.0/16",
      "100.64.0.0/10",
      "198.18.0.0/15",
      "240.0.0.0/4",
    ],
  },
};

/** The operator reads job states from the dashboard, and asks the agent of each node. */
const fromOperator = (namespace: string | undefined) =>
  namespace === undefined
    ? []
    : [{ from: [inNamespace(namespace)], ports: [tcp(rayPorts.dashboard), tcp(rayAgentPort)] }];

/** Prometheus reads the metrics of each node. */
const fromScraper = (scraper: Scraper | undefined) =>
  scraper === undefined ? [] : [{ from: [metricsReaders(scraper)], ports: Object.values(rayMetricsPorts).map(tcp) }];

function rayPolicy({ tableService, operatorNamespace, functions, scraper }: NetworkPolicyRequest): Spec {
  const except = (key: string, value: string | undefined) =>
    value === undefined ? [] : [{ key, operator: "NotIn", values: [value] }];
  const own = functions?.own;
  const others = except(clusterLabel, own?.cluster);
  const strangers = [...except("app.kubernetes.io/name", tableService?.selector["app.kubernetes.io/name"]), ...others];
  const neighbours: Peer = { podSelector: strangers.length === 0 ? {} : { matchExpressions: strangers } };
  return {
    podSelector: { matchLabels: { ...rayPods }, ...(others.length === 0 ? {} : { matchExpressions: others }) },
    policyTypes: ["Ingress"],
    ingress: [{ from: [neighbours] }, ...fromOperator(operatorNamespace), ...fromScraper(scraper)],
  };
}

function tableServicePolicy(
  { selector, exposure, probeSources, calls }: NonNullable<NetworkPolicyRequest["tableService"]>,
  scraper: Scraper | undefined,
): Spec {
  // The source address (the load balancer's or the caller's) differs by cloud; every request needs a token anyway.
  const anyone = exposure === "cluster" ? { from: [{ namespaceSelector: {} }] } : {};
  const probes: Peer[] = exposure === "cluster" ? [] : probeSources.map((network) => ({ ipBlock: { cidr: network } }));
  return {
    podSelector: { matchLabels: { ...selector } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      { ...anyone, ports: [tcp(ports.api)] },
      {
        from: [metricsReaders(scraper), ...probes],
        ports: [tcp(ports.operations)],
      },
    ],
    egress: [toDns, toStores(calls), ...metadataServers],
  };
}

/** Egress to a cloud's storage, whose addresses no selector matches, and to the ports of URLs. */
const toStores = (urls: readonly string[]): EgressRule => ({ ports: [443, ...otherPorts(urls)].map(tcp) });

/** The ports of URLs other than 443, each once. */
function otherPorts(urls: readonly string[]): number[] {
  const found = urls.flatMap((url) => {
    const { port, protocol } = new URL(url);
    return port !== "" ? [Number(port)] : protocol === "http:" ? [80] : [];
  });
  return [...new Set(found)].filter((port) => port !== 443).sort((a, b) => a - b);
}
