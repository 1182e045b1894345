import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { longestRequestSeconds, paths, ports } from "../../../../service/contract.ts";
import type { CustomObject, Exposure } from "../../cloud.ts";
import { nodeTag } from "../nodes/node-pool.ts";
import type { GcpConfig } from "../schema.ts";
import { parseZone } from "./managed-zone.ts";

export interface PublicEndpointArgs {
  readonly project: string;
  readonly clusterName: string;
  readonly network: pulumi.Input<string>;
  readonly host: string;
  /** Cloud DNS zone of the host, with its project where that is another one; undefined when others make the record. */
  readonly zone: string | undefined;
  readonly allowedCidrs: readonly string[];
  readonly waf: Waf | undefined;
  /** Record every request in Cloud Logging. */
  readonly accessLogs: boolean;
  /** Whether the service serves writes. */
  readonly writes: boolean;
}

type Waf = NonNullable<Extract<GcpConfig["tableService"]["exposure"], { mode: "public" }>["waf"]>;

/** The networks from which Google's load balancers probe and connect. Source: cloud.google.com/load-balancing/docs/firewall-rules */
export const googleProbeSources = ["35.191.0.0/16", "130.211.0.0/22"] as const;

const everywhere = "0.0.0.0/0";
const name = "table-service";

/** Of the Service: the pods are the load balancer's targets, with the settings of `backend`. */
export const backendAnnotations = {
  "cloud.google.com/neg": JSON.stringify({ ingress: true }),
  "cloud.google.com/backend-config": JSON.stringify({ default: name }),
} as const;

/** The resources outside the cluster of a public HTTPS load balancer. */
export class PublicEndpoint extends pulumi.ComponentResource {
  /** The target of the host's DNS record; Google issues the certificate only once the record exists. */
  readonly address: pulumi.Output<string>;
  readonly exposure: Exposure["public"];

  constructor(resourceName: string, args: PublicEndpointArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:PublicEndpoint", resourceName, {}, opts);
    const { project } = args;
    const parent = { parent: this };
    const address = new gcp.compute.GlobalAddress(resourceName, { project, addressType: "EXTERNAL" }, parent);
    const tls = new gcp.compute.SSLPolicy(
      resourceName,
      { project, profile: "MODERN", minTlsVersion: "TLS_1_2" },
      parent,
    );
    // GKE opens the serving port itself, but not the port of the health check.
    new gcp.compute.Firewall(
      resourceName,
      {
        project,
        network: args.network,
        direction: "INGRESS",
        sourceRanges: [...googleProbeSources],
        targetTags: [nodeTag(args.clusterName)],
        allows: [{ protocol: "tcp", ports: [String(ports.api), String(ports.operations)] }],
      },
      parent,
    );
    const { waf } = args;
    const filters = waf !== undefined || !args.allowedCidrs.includes(everywhere);
    const securityPolicy =
      waf?.securityPolicy ??
      (filters
        ? new gcp.compute.SecurityPolicy(
            resourceName,
            { project, rules: [...wafRules(waf), ...allowRules(args.allowedCidrs, waf?.requestsPerMinute)] },
            parent,
          ).name
        : undefined);

    if (args.zone !== undefined) {
      const zone = parseZone(args.zone, project);
      new gcp.dns.RecordSet(
        resourceName,
        {
          project: zone.project,
          managedZone: zone.name,
          name: `${args.host}.`,
          type: "A",
          ttl: 300,
          rrdatas: [address.address],
        },
        parent,
      );
    }
    this.address = address.address;
    this.exposure = {
      annotations: {
        // GKE's Ingress controller ignores spec.ingressClassName.
        "kubernetes.io/ingress.class": "gce",
        "kubernetes.io/ingress.global-static-ip-name": address.name,
        "kubernetes.io/ingress.allow-http": "false",
        "networking.gke.io/managed-certificates": name,
        "networking.gke.io/v1beta1.FrontendConfig": name,
      },
      serviceAnnotations: backendAnnotations,
      objects: objects(args, tls.name, securityPolicy),
    };
    this.registerOutputs({ address: this.address });
  }
}

/** The objects that GKE's Ingress controller reads. */
function objects(
  { host, accessLogs, writes }: Pick<PublicEndpointArgs, "host" | "accessLogs" | "writes">,
  sslPolicy: pulumi.Input<string>,
  securityPolicy: pulumi.Input<string> | undefined,
): NonNullable<Exposure["public"]["objects"]> {
  return [
    { apiVersion: "networking.gke.io/v1", kind: "ManagedCertificate", name, spec: { domains: [host] } },
    { apiVersion: "networking.gke.io/v1beta1", kind: "FrontendConfig", name, spec: { sslPolicy } },
    backend({ accessLogs, writes, securityPolicy }),
  ];
}

/** The settings of the load balancer's backend, which GKE's Ingress controller reads. */
export const backend = ({
  accessLogs,
  writes,
  securityPolicy,
}: Pick<PublicEndpointArgs, "accessLogs" | "writes"> & {
  readonly securityPolicy: pulumi.Input<string> | undefined;
}): CustomObject => ({
  apiVersion: "cloud.google.com/v1",
  kind: "BackendConfig",
  name,
  spec: {
    timeoutSec: longestRequestSeconds(writes),
    connectionDraining: { drainingTimeoutSec: 30 },
    healthCheck: {
      type: "HTTP",
      requestPath: paths.ready,
      port: ports.operations,
      checkIntervalSec: 5,
      timeoutSec: 3,
      healthyThreshold: 1,
      unhealthyThreshold: 2,
    },
    logging: { enable: accessLogs, ...(accessLogs ? { sampleRate: 1 } : {}) },
    ...(securityPolicy === undefined ? {} : { securityPolicy: { name: securityPolicy } }),
  },
});

/** Cloud Armor rules that refuse attacks, before any that admits. */
const wafRules = (waf: Waf | undefined) =>
  (waf?.preconfiguredRules ?? []).map((set, index) => ({
    priority: 100 + index,
    action: "deny(403)",
    description: set,
    match: { expr: { expression: `evaluatePreconfiguredWaf('${set}', {'sensitivity': ${waf?.sensitivity}})` } },
  }));

/** Cloud Armor rules that admit only these networks, ten in each rule, which is the API's maximum. */
export function allowRules(cidrs: readonly string[], requestsPerMinute?: number) {
  const perRule = 10;
  const groups = cidrs.includes(everywhere)
    ? [["*"]]
    : Array.from({ length: Math.ceil(cidrs.length / perRule) }, (_, index) =>
        cidrs.slice(index * perRule, (index + 1) * perRule),
      );
  const rule = (priority: number, action: string, srcIpRanges: string[], description: string) => ({
    priority,
    action,
    description,
    match: { versionedExpr: "SRC_IPS_V1", config: { srcIpRanges } },
  });
  const limit =
    requestsPerMinute === undefined
      ? undefined
      : {
          conformAction: "allow",
          exceedAction: "deny(429)",
          enforceOnKey: "IP",
          rateLimitThreshold: { count: requestsPerMinute, intervalSec: 60 },
        };
  return [
    ...groups.map((group, index) => ({
      ...rule(1000 + index, limit === undefined ? "allow" : "throttle", [...group], "allowedCidrs"),
      ...(limit === undefined ? {} : { rateLimitOptions: limit }),
    })),
    // The priority of the last rule, which every policy must have.
    rule(2_147_483_647, "deny(403)", ["*"], "everybody else"),
  ];
}
