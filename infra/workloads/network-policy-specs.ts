import type * as kubernetes from "@pulumi/kubernetes";
import { ports } from "../../service/contract.ts";
import { rayPorts } from "../model/ray-cluster.ts";

type Spec = kubernetes.types.input.networking.v1.NetworkPolicySpec;
type Peer = kubernetes.types.input.networking.v1.NetworkPolicyPeer;
type Port = kubernetes.types.input.networking.v1.NetworkPolicyPort;

export interface NetworkPolicyRequest {
  /** Labels of the table service's pods; undefined when the stack does not deploy it. */
  readonly tableService:
    | {
        readonly selector: { readonly "app.kubernetes.io/name": string };
        readonly exposure: "cluster" | "internal" | "public";
        /** Networks from which a load balancer probes the operations port. */
        readonly probeSources: readonly string[];
        /** URLs that it calls beside the object store: key set, issuer, storage endpoint. */
        readonly calls: readonly string[];
      }
    | undefined;
  /** Namespace of the KubeRay operator, which asks Ray's dashboard about jobs; undefined when it runs elsewhere. */
  readonly operatorNamespace: string | undefined;
}

/** A namespace with this label may read the operations port of the table service, for metrics. */
export const metricsReaderLabel = { "lakehead/metrics-reader": "true" } as const;

/** KubeRay's label on every Ray pod, whoever made its cluster. */
const rayPods = { "ray.io/is-ray-node": "yes" } as const;
/** Port of the agent on every Ray node, which KubeRay's probes and job reconciler use. */
const rayAgentPort = 52_365;

const tcp = (port: number): Port => ({ protocol: "TCP", port });
const dns: Port[] = [
  { protocol: "UDP", port: 53 },
  { protocol: "TCP", port: 53 },
];
const inNamespace = (name: string): Peer => ({
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
});
/** Where pods ask for their cloud identity: the instance's address and GKE's own server on the node. */
const metadataServers: kubernetes.types.input.networking.v1.NetworkPolicyEgressRule[] = [
  { to: [{ ipBlock: { cidr: "169.254.169.254/32" } }], ports: [tcp(80)] },
  { to: [{ ipBlock: { cidr: "169.254.169.252/32" } }], ports: [tcp(987), tcp(988)] },
];

/**
 * The policies by name. Nothing comes in unless one says so. Ray itself authenticates nobody by default, so that only
 * its own namespace reaches it, and of that not the table service, the one pod that strangers talk to. Ray's pods may
 * call out freely: jobs install packages and read data from wherever their authors say, and the autoscaler needs the
 * API server and DNS.
 */
export function networkPolicySpecs(request: NetworkPolicyRequest): Record<string, Spec> {
  const { tableService } = request;
  return {
    "default-deny-ingress": { podSelector: {}, policyTypes: ["Ingress"] },
    ray: rayPolicy(request),
    ...(tableService === undefined ? {} : { "table-service": tableServicePolicy(tableService) }),
  };
}

function rayPolicy({ tableService, operatorNamespace }: NetworkPolicyRequest): Spec {
  const neighbours: Peer = {
    podSelector:
      tableService === undefined
        ? {}
        : {
            matchExpressions: [
              {
                key: "app.kubernetes.io/name",
                operator: "NotIn",
                values: [tableService.selector["app.kubernetes.io/name"]],
              },
            ],
          },
  };
  return {
    podSelector: { matchLabels: { ...rayPods } },
    policyTypes: ["Ingress"],
    ingress: [
      { from: [neighbours] },
      ...(operatorNamespace === undefined
        ? []
        : [{ from: [inNamespace(operatorNamespace)], ports: [tcp(rayPorts.dashboard), tcp(rayAgentPort)] }]),
    ],
  };
}

function tableServicePolicy({
  selector,
  exposure,
  probeSources,
  calls,
}: NonNullable<NetworkPolicyRequest["tableService"]>): Spec {
  // A load balancer's address, or its client's, differs by cloud and kind; every request needs a token all the same.
  const anyone = exposure === "cluster" ? { from: [{ namespaceSelector: {} }] } : {};
  const probes: Peer[] = exposure === "cluster" ? [] : probeSources.map((network) => ({ ipBlock: { cidr: network } }));
  return {
    podSelector: { matchLabels: { ...selector } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      { ...anyone, ports: [tcp(ports.api)] },
      {
        from: [{ namespaceSelector: { matchLabels: { ...metricsReaderLabel } } }, ...probes],
        ports: [tcp(ports.operations)],
      },
    ],
    egress: [
      // Any address: node-local DNS caches answer from one that no selector matches.
      { ports: dns },
      { ports: [443, ...otherPorts(calls)].map(tcp) },
      ...metadataServers,
    ],
  };
}

/** The ports of URLs that are not HTTPS's own, each once. */
function otherPorts(urls: readonly string[]): number[] {
  const found = urls.flatMap((url) => {
    const { port, protocol } = new URL(url);
    return port !== "" ? [Number(port)] : protocol === "http:" ? [80] : [];
  });
  return [...new Set(found)].filter((port) => port !== 443).sort((a, b) => a - b);
}
