import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

export interface ClusterConnection {
  /** Contents of a kubeconfig, or the path of one, kept as a secret in the stack's state; the user's own if omitted. */
  readonly kubeconfig?: pulumi.Input<string>;
  /**
   * What tells this cluster from any other (its ARN, its self link, a context's name). Without it Pulumi guesses from
   * the kubeconfig, and a wrong guess replaces the provider and with it every object of the cluster.
   */
  readonly clusterIdentifier: pulumi.Input<string>;
  /** The kubeconfig's context; its current one when omitted. */
  readonly context?: string;
}

export interface ClusterProviders {
  readonly provider: kubernetes.Provider;
  /**
   * For custom resource definitions alone. They outlive a stack (`retainOnDelete`), and the provider's create refuses
   * an object that exists; only here does it adopt what it finds.
   */
  readonly crdProvider: kubernetes.Provider;
}

/** The two explicit providers that everything under the workloads use. */
export function connect(
  name: string,
  connection: ClusterConnection,
  opts?: pulumi.CustomResourceOptions,
): ClusterProviders {
  const args: kubernetes.ProviderArgs = {
    ...(connection.kubeconfig === undefined ? {} : { kubeconfig: pulumi.secret(connection.kubeconfig) }),
    clusterIdentifier: connection.clusterIdentifier,
    enableServerSideApply: true,
    // What the program writes is the program's: without this, a field that somebody has changed by hand, or a definition
    // that an earlier stack left, makes every later `up` end with a conflict.
    enablePatchForce: true,
    ...(connection.context === undefined ? {} : { context: connection.context }),
  };
  return {
    provider: new kubernetes.Provider(name, args, opts),
    crdProvider: new kubernetes.Provider(`${name}-crds`, { ...args, upsertExistingObjects: true }, opts),
  };
}
