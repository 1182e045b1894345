import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

export interface ClusterConnection {
  /** Contents or path of a kubeconfig, a secret in the stack's state; default: the user's own. */
  readonly kubeconfig?: pulumi.Input<string>;
  /**
   * Identifies the cluster (its ARN, its self link, a context's name). Without it Pulumi derives an identity from the
   * kubeconfig, and a change of that identity replaces the provider and with it every object of the cluster.
   */
  readonly clusterIdentifier: pulumi.Input<string>;
  /** The kubeconfig's context; default: the current one. */
  readonly context?: string;
}

export interface ClusterProviders {
  readonly provider: kubernetes.Provider;
  /**
   * Only for custom resource definitions. They outlive a stack (`retainOnDelete`), and this provider adopts an existing
   * object, which the other one refuses.
   */
  readonly crdProvider: kubernetes.Provider;
}

/** The two explicit providers of all Kubernetes objects. */
export function connect(
  name: string,
  connection: ClusterConnection,
  opts?: pulumi.CustomResourceOptions,
): ClusterProviders {
  const args: kubernetes.ProviderArgs = {
    ...(connection.kubeconfig === undefined ? {} : { kubeconfig: pulumi.secret(connection.kubeconfig) }),
    clusterIdentifier: connection.clusterIdentifier,
    enableServerSideApply: true,
    // Without it, a field that was changed by hand, or a definition that an earlier stack left, makes every later `up`
    // end with a conflict.
    enablePatchForce: true,
    ...(connection.context === undefined ? {} : { context: connection.context }),
  };
  return {
    provider: new kubernetes.Provider(name, args, opts),
    crdProvider: new kubernetes.Provider(`${name}-crds`, { ...args, upsertExistingObjects: true }, opts),
  };
}
