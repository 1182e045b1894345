import * as gcp from "@pulumi/gcp";
import * as pulumi from "@pulumi/pulumi";
import type { GcpConfig } from "./schema.ts";

export interface NetworkArgs {
  readonly project: string;
  readonly region: string;
  readonly network: GcpConfig["network"];
  readonly protect: boolean;
}

/** A VPC-native network with the cluster's secondary ranges and Cloud NAT, or an existing one. */
export class Network extends pulumi.ComponentResource {
  readonly network: pulumi.Output<string>;
  readonly subnetwork: pulumi.Output<string>;
  readonly podRange: string;
  readonly serviceRange: string;
  /** What private nodes need to reach the internet; the pools are deleted before it. */
  readonly egress: pulumi.Resource[];

  constructor(name: string, args: NetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:gcp:Network", name, {}, opts);
    const { network } = args;
    if (network.mode === "adopt") {
      this.network = pulumi.output(network.network);
      this.subnetwork = pulumi.output(network.subnetwork);
      this.podRange = network.podRange;
      this.serviceRange = network.serviceRange;
      this.egress = [];
    } else {
      const { project, region } = args;
      const parent = { parent: this, protect: args.protect };
      this.podRange = "pods";
      this.serviceRange = "services";
      const vpc = new gcp.compute.Network(
        name,
        { project, autoCreateSubnetworks: false, routingMode: "REGIONAL" },
        parent,
      );
      const subnetwork = new gcp.compute.Subnetwork(
        name,
        {
          project,
          region,
          network: vpc.id,
          ipCidrRange: network.nodeCidr,
          // Nodes and pods reach Cloud Storage and the other Google APIs without NAT and its cost.
          privateIpGoogleAccess: true,
          ...(network.flowLogs
            ? {
                logConfig: {
                  aggregationInterval: "INTERVAL_10_MIN",
                  flowSampling: 0.5,
                  metadata: "INCLUDE_ALL_METADATA",
                },
              }
            : {}),
          secondaryIpRanges: [
            { rangeName: this.podRange, ipCidrRange: network.podCidr },
            { rangeName: this.serviceRange, ipCidrRange: network.serviceCidr },
          ],
        },
        parent,
      );
      const router = new gcp.compute.Router(name, { project, region, network: vpc.id }, { parent: this });
      const nat = new gcp.compute.RouterNat(
        name,
        {
          project,
          region,
          router: router.name,
          natIpAllocateOption: "AUTO_ONLY",
          sourceSubnetworkIpRangesToNat: "LIST_OF_SUBNETWORKS",
          subnetworks: [{ name: subnetwork.id, sourceIpRangesToNats: ["ALL_IP_RANGES"] }],
          // The pods of a node share its ports, and a worker that installs packages in parallel needs more than the static 64.
          enableDynamicPortAllocation: true,
          minPortsPerVm: 128,
          maxPortsPerVm: 8192,
          enableEndpointIndependentMapping: false,
          logConfig: { enable: true, filter: "ERRORS_ONLY" },
        },
        { parent: this },
      );
      this.network = vpc.id;
      this.subnetwork = subnetwork.id;
      this.egress = [nat];
    }
    this.registerOutputs({ network: this.network, subnetwork: this.subnetwork });
  }
}
