import type * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import type { CheckContext } from "../config/parse.ts";
import type { Finding } from "../config/report.ts";
import type { ClientIdentity } from "../model/client-parameters.ts";
import type { ClusterModel } from "../model/cluster.ts";
import type { HistoryStore } from "../model/history.ts";
import type { NodeRole } from "../model/roles.ts";

/**
 * What one cloud decides from its configuration alone, without its provider.
 * Methods, so that one table can hold the decisions of every cloud.
 */
export interface CloudDecisions<Config> {
  /** A valid value for each required key. With it the other keys are checked when a required one is wrong. */
  readonly placeholders: Readonly<Record<string, unknown>>;
  clusterModel(config: Config): ClusterModel;
  /** The checks between keys that only this cloud has. */
  check(config: Config, context: CheckContext): Finding[];
  verification(config: Config): VerificationFacts;
}

/** What `verify/` must know of a cloud. */
export interface VerificationFacts {
  /** The user's kubeconfig and its context, for a cluster that the stack does not create; undefined where an output has one. */
  readonly ownKubeconfig: { readonly path?: string | undefined; readonly context?: string | undefined } | undefined;
  /** Whether the stack creates the nodes. Taints and foreign pods of other nodes are not checked. */
  readonly ownsNodes: boolean;
  /** The stack output that names the runtime's cloud identity; undefined when the stack creates no identities. */
  readonly identityOutput: string | undefined;
  /** The client's user and groups in Kubernetes; undefined when the API server's RBAC does not decide its rights. */
  clientSubject(outputs: Readonly<Record<string, unknown>>): Subject | undefined;
  /** What to do about a GPU node that advertises no GPU. */
  readonly gpuRemedy: string;
  /** Matches the namespaces whose pods the cloud schedules on any node; undefined when there are none. */
  readonly ownNamespaces: RegExp | undefined;
}

export interface Subject {
  readonly user: string;
  readonly groups: readonly string[];
}

/** What a cloud provides to the workloads. An existing cluster provides the same. */
export interface Cloud {
  readonly cluster: ClusterModel;
  /** The provider of Kubernetes objects. */
  readonly provider: kubernetes.Provider;
  /** The provider of custom resource definitions, which outlive a stack: it adopts existing ones. */
  readonly crdProvider: kubernetes.Provider;
  /** A secret kubeconfig that authenticates by exec plugin; undefined for an existing cluster. */
  readonly kubeconfig: pulumi.Output<string> | undefined;
  readonly clusterName: pulumi.Output<string>;
  /** Annotations of the runtime's service account; the client requires one that names a cloud identity. */
  readonly runtimeAccountAnnotations: Annotations;
  /** The configured image, or the one that the stack builds; undefined without a table service. */
  readonly tableServiceImage: pulumi.Input<string> | undefined;
  readonly tableServiceAccountAnnotations: Annotations;
  /** How the table service gets the credentials that it lends; absent where it lends none. */
  readonly vending?: pulumi.Input<VendingIdentity> | undefined;
  /** The issuer of the tokens of the cluster's service accounts, where the table service opens the tables for Ray's pods. */
  readonly catalogIssuer?: pulumi.Input<string> | undefined;
  /** Of the account of the maintenance, whose identity reads and writes the tables. */
  readonly maintenanceAccountAnnotations: Annotations;
  readonly functions: FunctionsPlace;
  readonly database: Database;
  /** With `ray.history.enabled`. */
  readonly history?: HistoryPlace | undefined;
  /** With `monitoring.mode: managed`: where metrics go. */
  readonly managedMetrics?: ManagedMetrics | undefined;
  readonly client: ClientIdentity;
  /** What a user writes or runs so that the client has access to the cluster and the tables. Comments begin with `#`. */
  readonly clientCredentials: string;
  /**
   * The client's Kubernetes identity, to which the workloads bind the rights of `config.client.access`. Undefined when
   * the cloud itself grants them, or the identity is unknown.
   */
  readonly clientSubject: { readonly kind: "Group" | "User"; readonly name: pulumi.Input<string> } | undefined;
  /** What the pods of a pool depend on: created before them and deleted after them. */
  readonly ready: Readonly<Record<NodeRole, pulumi.Resource[]>>;
  readonly exposure: Exposure;
  /**
   * Creates what needs the load balancer: the DNS record of the public host, the endpoint of other networks. Returns outputs
   * of the stack. Undefined where nothing needs it.
   */
  readonly useBalancer?: (address: pulumi.Output<string>) => Outputs;
  /** Outputs that the stack exports beside the common ones. */
  readonly outputs: Outputs;
}

/** What a cloud gives to Functions on a RayCluster of their own. */
export interface FunctionsPlace {
  /** Of the account of the workers, whose identity reads tables and adds files of new values. */
  readonly workerAnnotations: Annotations;
  /** Of the account of the runner, whose identity commits them. */
  readonly runnerAnnotations: Annotations;
  /** Storage options of the workers with credentials, as a JSON object, where their account has no identity. */
  readonly workerOptions?: pulumi.Output<string> | undefined;
  /** Whether pods get their identity from the metadata server of their node. */
  readonly metadataServer: boolean;
  /** Networks in which the cloud's own services have private addresses. */
  readonly privateServices: readonly string[];
}

/** Where the history of RayClusters is kept. Ray's pods write with the identity of the runtime's account. */
export interface HistoryPlace {
  readonly store: HistoryStore;
  /** Of the account of the server, whose identity reads it. */
  readonly serverAnnotations: Annotations;
}

export interface VendingIdentity {
  /** A way of `LAKEHEAD_VENDING`. */
  readonly mode: "web-identity" | "google";
  readonly roleArn?: string;
  readonly kmsKeyArn?: string | undefined;
  /** Life of a credential; absent: the service's default. */
  readonly seconds?: number | undefined;
}

export type Outputs = Readonly<Record<string, pulumi.Input<unknown>>>;

export type Annotations = Readonly<Record<string, pulumi.Input<string>>>;

/** A cloud's store of metrics: one that an agent in the cluster writes to, or one with collectors of its own. */
export type ManagedMetrics = RemoteWrite | { readonly kinds: "google" };

export interface RemoteWrite {
  readonly kinds: "prometheus-operator";
  readonly url: pulumi.Input<string>;
  readonly region: string;
  /** Of the agent's service account. */
  readonly accountAnnotations: Annotations;
}

export interface Database {
  /** `s3://bucket/prefix`, `gs://bucket/prefix` or a path in the pod. */
  readonly uri: pulumi.Input<string>;
  /** Storage options that are no secret. */
  readonly storageOptions: Readonly<Record<string, string>>;
  /** Storage options with credentials, as a JSON object. */
  readonly secretStorageOptions?: pulumi.Output<string>;
  /** With a path in `uri`: the size of the volume at that path, as a Kubernetes quantity. */
  readonly volumeSize?: string;
}

/** How the table service gets a load balancer. */
export interface Exposure {
  /** For `exposure.mode: internal`: a Service of type LoadBalancer, or an Ingress for `tlsHost`. */
  readonly internal: {
    readonly annotations: Annotations;
    readonly loadBalancerClass?: string;
    /** The DNS name for which the load balancer ends TLS; absent without TLS. */
    readonly tlsHost?: string;
    readonly ingress?: IngressExposure;
  };
  /** For `exposure.mode: public`: an Ingress for `exposure.host`. */
  readonly public: IngressExposure;
  /** Networks from which the cloud's load balancers connect to pods, for the network policies. */
  readonly probeSources: readonly string[];
  /** Controllers that must exist before, and stay until after, the Service or Ingress. */
  readonly dependsOn: pulumi.Resource[];
}

export interface IngressExposure {
  readonly ingressClass?: string;
  readonly annotations: Annotations;
  /** Name of the TLS secret; absent where the cloud has its own certificate. */
  readonly tlsSecret?: string;
  /** Annotations of the Service behind the Ingress. */
  readonly serviceAnnotations?: Annotations;
  /** Objects of the cloud's own kinds in the namespace of the Ingress. */
  readonly objects?: readonly CustomObject[];
}

export interface CustomObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
}
