export interface KubeconfigParts {
  readonly context: string;
  /** Host name or address of the control plane. */
  readonly host: string;
  /** Base64 of the cluster's own certificate authority; undefined when a public one signed the host's certificate. */
  readonly certificate: string | undefined;
}

/** A kubeconfig without credentials, as JSON: it gets each token from Google's credential plugin. */
export function gkeKubeconfig({ context, host, certificate }: KubeconfigParts): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: context,
        cluster: {
          server: `https://${host}`,
          ...(certificate === undefined ? {} : { "certificate-authority-data": certificate }),
        },
      },
    ],
    contexts: [{ name: context, context: { cluster: context, user: context } }],
    "current-context": context,
    users: [
      {
        name: context,
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1beta1",
            command: "gke-gcloud-auth-plugin",
            installHint: "install it with: gcloud components install gke-gcloud-auth-plugin",
            interactiveMode: "IfAvailable",
            provideClusterInfo: true,
          },
        },
      },
    ],
  });
}
