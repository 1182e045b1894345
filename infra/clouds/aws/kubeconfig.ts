/** The facts of an EKS cluster in its kubeconfig. */
export interface KubeconfigFacts {
  readonly name: string;
  readonly region: string;
  readonly endpoint: string;
  /** Base64, as EKS returns it. */
  readonly certificateAuthority: string;
}

/** A kubeconfig without credentials: it gets each token from the AWS CLI. */
export function execKubeconfig({ name, region, endpoint, certificateAuthority }: KubeconfigFacts): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: endpoint, "certificate-authority-data": certificateAuthority } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
    users: [
      {
        name,
        user: {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "aws",
            args: ["eks", "get-token", "--cluster-name", name, "--region", region, "--output", "json"],
            interactiveMode: "Never",
          },
        },
      },
    ],
  });
}
