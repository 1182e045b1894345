import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import { ports } from "../../../../service/contract.ts";
import type { Exposure, Outputs } from "../../cloud.ts";
import { nodeTag } from "../nodes/node-pool.ts";
import type { GcpConfig } from "../schema.ts";
import { backend, backendAnnotations, googleProbeSources } from "./public-endpoint.ts";

export interface InternalEndpointArgs {
  readonly project: string;
  readonly region: string;
  readonly clusterName: string;
  readonly network: pulumi.Input<string>;
  readonly subnetwork: pulumi.Input<string>;
  /** Whether the stack creates the network, and with it the subnetwork of the proxies. */
  readonly ownNetwork: boolean;
  readonly host: string;
  /** Name of a regional certificate; Google manages none for internal load balancers of GKE. */
  readonly certificateName: string;
  /** Network of the load balancer's proxies. */
  readonly proxyCidr: string;
  /** Whether the service serves writes. */
  readonly writes: boolean;
}

/**
 * The resources outside the cluster of an internal Application Load Balancer, which ends TLS.
 * Source: cloud.google.com/kubernetes-engine/docs/how-to/internal-load-balance-ingress
 */
export class InternalEndpoint extends pulumi.ComponentResource {
  /** The target of the host's DNS record. */
  readonly address: pulumi.Output<string>;
  readonly exposure: Exposure["internal"];

  constructor(name: string, args: InternalEndpointArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:InternalEndpoint", name, {}, opts);
    const { project, region, network, proxyCidr, host } = args;
    const parent = { parent: this };
    if (args.ownNetwork)
      new gcp.compute.Subnetwork(
        `${name}-proxies`,
        { project, region, network, ipCidrRange: proxyCidr, purpose: "REGIONAL_MANAGED_PROXY", role: "ACTIVE" },
        parent,
      );
    const address = new gcp.compute.Address(
      name,
      {
        project,
        region,
        subnetwork: args.subnetwork,
        addressType: "INTERNAL",
        purpose: "SHARED_LOADBALANCER_VIP",
      },
      parent,
    );
    // GKE opens no port for the proxies, and for health checks only the serving port.
    new gcp.compute.Firewall(
      name,
      {
        project,
        network,
        direction: "INGRESS",
        sourceRanges: [...googleProbeSources, proxyCidr],
        targetTags: [nodeTag(args.clusterName)],
        allows: [{ protocol: "tcp", ports: [String(ports.api), String(ports.operations)] }],
      },
      parent,
    );
    this.address = address.address;
    this.exposure = {
      annotations: {},
      tlsHost: host,
      ingress: {
        annotations: {
          "kubernetes.io/ingress.class": "gce-internal",
          "kubernetes.io/ingress.regional-static-ip-name": address.name,
          "kubernetes.io/ingress.allow-http": "false",
          "ingress.gcp.kubernetes.io/pre-shared-cert": args.certificateName,
        },
        serviceAnnotations: backendAnnotations,
        objects: [backend({ accessLogs: false, writes: args.writes, securityPolicy: undefined })],
      },
    };
    this.registerOutputs({ address: this.address });
  }
}

export interface ServiceConnectArgs {
  readonly project: string;
  readonly region: string;
  readonly network: pulumi.Input<string>;
  readonly settings: NonNullable<
    Extract<GcpConfig["tableService"]["exposure"], { mode: "internal" }>["privateServiceConnect"]
  >;
  /** Address of the load balancer, known once it exists. */
  readonly address: pulumi.Output<string>;
}

/** Private Service Connect: networks of other projects reach the load balancer by an address of their own. */
export class ServiceConnect extends pulumi.ComponentResource {
  readonly outputs: Outputs;

  constructor(name: string, args: ServiceConnectArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:ServiceConnect", name, {}, opts);
    const { project, region, network, settings, address } = args;
    const parent = { parent: this };
    const natSubnetwork =
      settings.natSubnetwork ??
      new gcp.compute.Subnetwork(
        name,
        { project, region, network, ipCidrRange: settings.natCidr ?? "", purpose: "PRIVATE_SERVICE_CONNECT" },
        parent,
      ).id;
    // GKE names the forwarding rule. It is asked once the load balancer has its address, because the offline plan asks nothing.
    const targetService = address.apply(async (ip) => {
      const { rules } = await gcp.compute.getForwardingRules({ project, region }, { parent: this });
      const rule = rules.find(({ ipAddress }) => ipAddress === ip);
      if (rule === undefined)
        throw new Error(`no forwarding rule of ${project} in ${region} has the address ${ip}; run \`up\` again`);
      return rule.selfLink;
    });
    const attachment = new gcp.compute.ServiceAttachment(
      name,
      {
        project,
        region,
        description: "Table service",
        connectionPreference: "ACCEPT_MANUAL",
        enableProxyProtocol: false,
        natSubnets: [natSubnetwork],
        targetService,
        consumerAcceptLists: settings.consumerProjects.map((projectIdOrNum) => ({
          projectIdOrNum,
          connectionLimit: settings.connectionsPerProject,
        })),
        // Who leaves the list loses the connection.
        reconcileConnections: true,
      },
      parent,
    );
    this.outputs = { serviceAttachment: attachment.selfLink };
    this.registerOutputs(this.outputs);
  }
}
