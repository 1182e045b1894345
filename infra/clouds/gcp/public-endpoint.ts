import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { paths, ports } from "../../../service/contract.ts";
import type { Exposure } from "../cloud.ts";
import { nodeTag } from "./node-pool.ts";

export interface PublicEndpointArgs {
  readonly project: string;
  readonly clusterName: string;
  readonly network: pulumi.Input<string>;
  readonly host: string;
  readonly allowedCidrs: readonly string[];
}

/** Where Google's load balancers probe and connect from. Source: cloud.google.com/load-balancing/docs/firewall-rules */
export const googleProbeSources = ["35.191.0.0/16", "130.211.0.0/22"] as const;

const everywhere = "0.0.0.0/0";
const name = "table-service";

/** What a public HTTPS load balancer in front of the table service needs outside the cluster. */
export class PublicEndpoint extends pulumi.ComponentResource {
  /** The address that the host's DNS record must point at before Google issues the certificate. */
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
    // GKE opens the serving port by itself, but not the one that the health check asks.
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
    const allowList = args.allowedCidrs.includes(everywhere)
      ? undefined
      : new gcp.compute.SecurityPolicy(resourceName, { project, rules: allowRules(args.allowedCidrs) }, parent);

    this.address = address.address;
    this.exposure = {
      annotations: {
        // GKE's Ingress controller does not know spec.ingressClassName.
        "kubernetes.io/ingress.class": "gce",
        "kubernetes.io/ingress.global-static-ip-name": address.name,
        "kubernetes.io/ingress.allow-http": "false",
        "networking.gke.io/managed-certificates": name,
        "networking.gke.io/v1beta1.FrontendConfig": name,
      },
      serviceAnnotations: {
        "cloud.google.com/neg": JSON.stringify({ ingress: true }),
        "cloud.google.com/backend-config": JSON.stringify({ default: name }),
      },
      objects: objects(args.host, tls.name, allowList?.name),
    };
    this.registerOutputs({ address: this.address });
  }
}

/** The objects beside the Ingress that GKE's controller reads. */
function objects(
  host: string,
  sslPolicy: pulumi.Input<string>,
  securityPolicy: pulumi.Input<string> | undefined,
): NonNullable<Exposure["public"]["objects"]> {
  return [
    { apiVersion: "networking.gke.io/v1", kind: "ManagedCertificate", name, spec: { domains: [host] } },
    { apiVersion: "networking.gke.io/v1beta1", kind: "FrontendConfig", name, spec: { sslPolicy } },
    {
      apiVersion: "cloud.google.com/v1",
      kind: "BackendConfig",
      name,
      spec: {
        timeoutSec: 120,
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
        ...(securityPolicy === undefined ? {} : { securityPolicy: { name: securityPolicy } }),
      },
    },
  ];
}

/** Cloud Armor rules that let the networks in, ten to a rule as its API allows, and nobody else. */
export function allowRules(cidrs: readonly string[]) {
  const perRule = 10;
  const groups = Array.from({ length: Math.ceil(cidrs.length / perRule) }, (_, index) =>
    cidrs.slice(index * perRule, (index + 1) * perRule),
  );
  const rule = (priority: number, action: string, srcIpRanges: string[], description: string) => ({
    priority,
    action,
    description,
    match: { versionedExpr: "SRC_IPS_V1", config: { srcIpRanges } },
  });
  return [
    ...groups.map((group, index) => rule(1000 + index, "allow", [...group], "allowedCidrs")),
    // The priority of the rule that every policy must end with.
    rule(2_147_483_647, "deny(403)", ["*"], "everybody else"),
  ];
}
