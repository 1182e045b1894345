import type * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import type { Config, Secrets } from "../config/load.ts";
import type { ClientIdentity } from "../model/client-parameters.ts";
import type { PoolRole } from "../model/roles.ts";

/** What a cloud, or a cluster that is already there, gives to the workloads. All three implementations return it. */
export interface Platform {
  /** What Kubernetes objects are created with. */
  readonly provider: kubernetes.Provider;
  /** For custom resource definitions alone, which outlive a stack: it adopts those that it finds. */
  readonly crdProvider: kubernetes.Provider;
  /** A kubeconfig that authenticates by exec plugin, secret; undefined when the user brought one of their own. */
  readonly kubeconfig: pulumi.Output<string> | undefined;
  readonly clusterName: pulumi.Output<string>;
  /** Annotations of the runtime's Kubernetes service account; the client refuses one that names no cloud identity. */
  readonly runtimeAccountAnnotations: Annotations;
  /** Annotations of the table service's own service account. */
  readonly tableServiceAccountAnnotations: Annotations;
  readonly database: Database;
  readonly client: ClientIdentity;
  /**
   * Whom the client is to Kubernetes. `config.client.access` says what the workloads bind to it; undefined when the
   * cloud itself has granted the access, or nobody is known.
   */
  readonly clientSubject: { readonly kind: "Group" | "User"; readonly name: pulumi.Input<string> } | undefined;
  /** What pods of a pool must wait for on the way up, and be deleted before on the way down. */
  readonly ready: Readonly<Record<PoolRole, pulumi.Resource[]>>;
  /** How a load balancer in front of the table service is asked for. */
  readonly exposure: Exposure;
  /** Facts of this cloud that the stack exports beside the common ones. */
  readonly outputs: Readonly<Record<string, pulumi.Input<unknown>>>;
}

export type Annotations = Readonly<Record<string, pulumi.Input<string>>>;

export interface Database {
  /** `s3://bucket/prefix`, `gs://bucket/prefix` or a path in the pod. */
  readonly uri: pulumi.Input<string>;
  /** Storage options that are no secret. */
  readonly storageOptions: Readonly<Record<string, string>>;
  /** Storage options with credentials, as a JSON object. */
  readonly secretStorageOptions?: pulumi.Output<string>;
  /** Set when `uri` is a path: the size of the volume that is mounted there, as a Kubernetes quantity. */
  readonly volumeSize?: string;
}

export interface Exposure {
  /** For `exposure.mode: internal`: a Service of type LoadBalancer. */
  readonly internal: { readonly annotations: Annotations; readonly loadBalancerClass?: string };
  /** For `exposure.mode: public`: an Ingress for `exposure.host`. */
  readonly public: {
    readonly ingressClass?: string;
    readonly annotations: Annotations;
    /** Name of the TLS secret; absent where the cloud terminates TLS with a certificate of its own. */
    readonly tlsSecret?: string;
    /** Annotations of the Service behind the Ingress. */
    readonly serviceAnnotations?: Annotations;
    /** Objects of the cloud's own kinds that belong beside the Ingress, in its namespace. */
    readonly objects?: readonly CustomObject[];
  };
  /** Networks from which the cloud's load balancers connect to pods, for the network policies. */
  readonly probeSources: readonly string[];
  /** Controllers that must exist before, and stay until after, the Service or Ingress. */
  readonly dependsOn: pulumi.Resource[];
}

export interface CustomObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Loads one cloud's implementation and nothing of the others', whose SDKs are large. */
export async function createPlatform(config: Config, secrets: Secrets): Promise<Platform> {
  switch (config.cloud) {
    case "aws":
      return (await import("./aws/index.ts")).createAwsPlatform(config);
    case "gcp":
      return (await import("./gcp/index.ts")).createGcpPlatform(config);
    case "kubeconfig":
      return (await import("./existing/index.ts")).createLocalPlatform(config, secrets);
  }
}
