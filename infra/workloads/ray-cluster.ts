import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { managedBy } from "../kubernetes/labels.ts";

export interface RayClusterArgs {
  readonly name: string;
  readonly namespace: pulumi.Input<string>;
  /** The `spec` of a `ray.io/v1` RayCluster, from `infra/model/ray-cluster.ts`. */
  readonly spec: object;
}

/** A RayCluster of the stack. The runtime's client creates others on demand. */
export class RayCluster extends pulumi.ComponentResource {
  /** Address of Ray's client port inside the Kubernetes cluster. */
  readonly address: pulumi.Output<string>;

  constructor(name: string, args: RayClusterArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:RayCluster", name, {}, opts);
    const cluster = new kubernetes.apiextensions.CustomResource(
      name,
      {
        apiVersion: "ray.io/v1",
        kind: "RayCluster",
        metadata: { name: args.name, namespace: args.namespace, labels: managedBy },
        spec: args.spec,
      },
      { parent: this },
    );
    this.address = pulumi.interpolate`ray://${cluster.metadata.name}-head-svc.${args.namespace}.svc.cluster.local:10001`;
    this.registerOutputs({ address: this.address });
  }
}
