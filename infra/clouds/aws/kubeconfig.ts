/** What a kubeconfig needs to know of an EKS cluster. */
export interface KubeconfigFacts {
  readonly name: string;
  readonly region: string;
  readonly endpoint: string;
  /** Base64, as EKS gives it. */
  readonly certificateAuthority: string;
}

/** A kubeconfig that asks the AWS CLI for a token each time, so that it holds no credential itself. */
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
