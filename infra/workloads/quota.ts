import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { managedBy } from "../kubernetes/labels.ts";
import { gpuResource } from "../model/roles.ts";

export interface QuotaArgs {
  readonly namespace: pulumi.Input<string>;
  /** Sum of CPU requests of all pods. */
  readonly cpus: number;
  /** Sum of memory requests, as a Kubernetes quantity. */
  readonly memory: string;
  readonly gpus: number;
}

const metadataIn = (namespace: pulumi.Input<string>, name: string) => ({ name, namespace, labels: managedBy });

/** What the namespace may ask for in total, so that a runaway autoscaler or left-behind clusters have an end. */
export class Quota extends pulumi.ComponentResource {
  constructor(name: string, args: QuotaArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Quota", name, {}, opts);
    const metadata = metadataIn(args.namespace, "lakehead");
    new kubernetes.core.v1.ResourceQuota(
      name,
      {
        metadata,
        spec: {
          hard: {
            "requests.cpu": String(args.cpus),
            "requests.memory": args.memory,
            [`requests.${gpuResource}`]: String(args.gpus),
          },
        },
      },
      { parent: this },
    );
    // Under a quota a pod without requests is refused; side-cars and one-off pods often name none.
    new kubernetes.core.v1.LimitRange(
      `${name}-defaults`,
      { metadata, spec: { limits: [{ type: "Container", defaultRequest: { cpu: "100m", memory: "128Mi" } }] } },
      { parent: this },
    );
    this.registerOutputs({});
  }
}

export interface RayClusterQuotaArgs {
  readonly namespace: pulumi.Input<string>;
  /** Number of RayClusters, whoever made them. */
  readonly count: number;
}

const counted = "count/rayclusters.ray.io";

/**
 * How many RayClusters the namespace may hold. The quota controller cannot count a kind whose definition it has not seen
 * yet, and until it recounts, up to five minutes later, admission refuses every object of that kind. So this quota is apart
 * from the other limits: it comes after the definitions, after the stack's own RayCluster, which nothing may hold up, and
 * `up` ends when it counts, so that the client's first cluster is not refused.
 */
export class RayClusterQuota extends pulumi.ComponentResource {
  constructor(name: string, args: RayClusterQuotaArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:RayClusterQuota", name, {}, opts);
    new kubernetes.core.v1.ResourceQuota(
      name,
      {
        metadata: {
          ...metadataIn(args.namespace, "lakehead-ray-clusters"),
          annotations: { "pulumi.com/waitFor": `jsonpath={.status.used.${counted.replaceAll(".", "\\.")}}` },
        },
        spec: { hard: { [counted]: String(args.count) } },
      },
      { parent: this },
    );
    this.registerOutputs({});
  }
}
