import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { managedBy } from "../kubernetes/labels.ts";
import type { PolicySpecs } from "./network-policy-specs.ts";

export interface NetworkPoliciesArgs {
  readonly namespace: pulumi.Input<string>;
  readonly specs: PolicySpecs;
}

/** The allowed connections in a namespace. The network plug-in must enforce them, as it does on EKS and GKE here. */
export class NetworkPolicies extends pulumi.ComponentResource {
  constructor(name: string, args: NetworkPoliciesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:NetworkPolicies", name, {}, opts);
    for (const [policy, spec] of Object.entries(args.specs)) {
      new kubernetes.networking.v1.NetworkPolicy(
        `${name}-${policy}`,
        { metadata: { name: policy, namespace: args.namespace, labels: managedBy }, spec },
        { parent: this },
      );
    }
    this.registerOutputs({});
  }
}
