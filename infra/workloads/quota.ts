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
  /** Whether these sums bound the namespace. A pod that waits in a queue would count, so a queue bounds the workers instead. */
  readonly sums: boolean;
}

const metadataIn = (namespace: pulumi.Input<string>, name: string) => ({ name, namespace, labels: managedBy });

/** Limits the requests of the whole namespace, so that an autoscaler or orphaned clusters cannot grow without bound. */
export class Quota extends pulumi.ComponentResource {
  constructor(name: string, args: QuotaArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:Quota", name, {}, opts);
    const metadata = metadataIn(args.namespace, "lakehead");
    if (args.sums)
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
    // A quota rejects pods without requests, which sidecars and one-off pods often are. The client's pods name no disk.
    new kubernetes.core.v1.LimitRange(
      `${name}-defaults`,
      {
        metadata,
        spec: {
          limits: [{ type: "Container", defaultRequest: { cpu: "100m", memory: "128Mi", "ephemeral-storage": "1Gi" } }],
        },
      },
      { parent: this },
    );
  }
}

export interface RayClusterQuotaArgs {
  readonly namespace: pulumi.Input<string>;
  /** Maximum number of RayClusters in the namespace. */
  readonly count: number;
}

const counted = "count/rayclusters.ray.io";
/**
 * The quota has one limit, so any usage is its count. The provider reads RFC 9535, which has no backslash in names, and
 * `kubectl wait` has no brackets with quotes around "/": a wildcard is what both read.
 */
const isCounted = "jsonpath={.status.used.*}";

/**
 * Limits the number of RayClusters in the namespace. The quota controller cannot count a kind before it has seen the
 * definition, and until its next count, up to five minutes later, admission rejects every object of the kind. So this is
 * a quota of its own: it depends on the definitions and on the stack's own RayCluster, and `up` waits until it counts, so
 * that the client's first cluster is not rejected.
 */
export class RayClusterQuota extends pulumi.ComponentResource {
  constructor(name: string, args: RayClusterQuotaArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:RayClusterQuota", name, {}, opts);
    new kubernetes.core.v1.ResourceQuota(
      name,
      {
        metadata: {
          ...metadataIn(args.namespace, "lakehead-ray-clusters"),
          annotations: { "pulumi.com/waitFor": isCounted },
        },
        spec: { hard: { [counted]: String(args.count) } },
      },
      { parent: this },
    );
  }
}
