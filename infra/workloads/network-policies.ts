import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { managedBy } from "../kubernetes/labels.ts";
import { type NetworkPolicyRequest, networkPolicySpecs } from "./network-policy-specs.ts";

export interface NetworkPoliciesArgs extends NetworkPolicyRequest {
  readonly namespace: pulumi.Input<string>;
}

/**
 * Who may talk to whom in the namespace. They hold only where the cluster's network plug-in enforces them, which both
 * clouds' platforms switch on.
 */
export class NetworkPolicies extends pulumi.ComponentResource {
  constructor(name: string, args: NetworkPoliciesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:NetworkPolicies", name, {}, opts);
    for (const [policy, spec] of Object.entries(networkPolicySpecs(args))) {
      new kubernetes.networking.v1.NetworkPolicy(
        `${name}-${policy}`,
        { metadata: { name: policy, namespace: args.namespace, labels: managedBy }, spec },
        { parent: this },
      );
    }
    this.registerOutputs({});
  }
}
