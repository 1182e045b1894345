/** What a network plug-in makes of NetworkPolicy objects: the rules of networking.k8s.io/v1, for TCP and UDP. */

import type { networkPolicySpecs } from "../../../infra/workloads/network-policy-specs.ts";

type Specs = ReturnType<typeof networkPolicySpecs>;

export interface Pod {
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly namespaceLabels?: Readonly<Record<string, string>>;
}
/** A pod, or an address outside the cluster. */
export type End = Pod | { readonly ip: string };

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { protocol?: string; port?: number }[];
}
interface Spec {
  podSelector: Selector;
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
}

/** Every label of a namespace, with the one that Kubernetes itself sets. */
const labelsOf = (pod: Pod) => ({ "kubernetes.io/metadata.name": pod.namespace, ...pod.namespaceLabels });

function selects(selector: Selector, labels: Readonly<Record<string, string>>): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  const expressions = (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const has = labels[key] !== undefined && values.includes(labels[key]);
    if (operator === "In") return has;
    if (operator === "NotIn") return !has;
    throw new Error(`the evaluator does not know the operator ${operator}`);
  });
  return equal && expressions;
}

function number(ip: string): number {
  return ip.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
}

function inBlock(cidr: string, ip: string): boolean {
  const [base = "", length = "32"] = cidr.split("/");
  const size = 2 ** (32 - Number(length));
  return Math.floor(number(base) / size) === Math.floor(number(ip) / size);
}

function matches(peer: Peer, end: End, home: string): boolean {
  if ("ip" in end) {
    const { cidr, except = [] } = peer.ipBlock ?? { cidr: undefined };
    return cidr !== undefined && inBlock(cidr, end.ip) && !except.some((each) => inBlock(each, end.ip));
  }
  if (peer.ipBlock !== undefined) return false;
  const namespaceFits =
    peer.namespaceSelector === undefined ? end.namespace === home : selects(peer.namespaceSelector, labelsOf(end));
  return namespaceFits && (peer.podSelector === undefined || selects(peer.podSelector, end.labels));
}

function allows(rules: readonly Rule[], side: "from" | "to", end: End, port: number, protocol: string, home: string) {
  return rules.some((rule) => {
    const peers = rule[side];
    const peerFits = peers === undefined || peers.some((peer) => matches(peer, end, home));
    const portFits =
      rule.ports === undefined ||
      rule.ports.some((entry) => entry.port === port && (entry.protocol ?? "TCP") === protocol);
    return peerFits && portFits;
  });
}

/** Whether `from` may open a connection to `to`, with the policies standing in the namespace `home` and nowhere else. */
export function reaches(specs: Specs, home: string, from: End, to: End, port: number, protocol = "TCP"): boolean {
  const policies = Object.values(specs) as unknown as Spec[];
  const holding = (end: End, type: string) =>
    "ip" in end || end.namespace !== home
      ? []
      : policies.filter(
          ({ podSelector, policyTypes }) => policyTypes.includes(type) && selects(podSelector, end.labels),
        );
  const out = holding(from, "Egress");
  const into = holding(to, "Ingress");
  return (
    (out.length === 0 || out.some(({ egress = [] }) => allows(egress, "to", to, port, protocol, home))) &&
    (into.length === 0 || into.some(({ ingress = [] }) => allows(ingress, "from", from, port, protocol, home)))
  );
}
