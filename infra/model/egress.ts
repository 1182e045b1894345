/** How pods reach what is outside of the cluster: by a proxy, and with the certificates of a private authority. Pure. */

export interface Egress {
  readonly proxy?: string | undefined;
  /** Hosts, suffixes and networks that pods reach without the proxy, beside the cluster's own. */
  readonly noProxy: readonly string[];
  /** PEM of every root certificate that pods trust. */
  readonly caBundle?: string | undefined;
}

export const caFile = "/etc/lakehead/ca/ca.crt";

/**
 * What no proxy may see, on every cluster: itself, the metadata servers that give pods their identity, and the names of Services. Ray's
 * autoscaler asks `kubernetes.default`.
 */
const alwaysDirect = [
  ...["localhost", "127.0.0.1", "169.254.169.254", "169.254.170.23", "metadata", "metadata.google.internal"],
  ...["kubernetes.default", ".svc", ".cluster.local"],
] as const;

/** Names that programs know for the file of trusted roots: OpenSSL and Rust, Node, Python's requests, pip, boto3 and curl. */
const caVariables = [
  ...["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "PIP_CERT", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE"],
] as const;

/**
 * Environment variables of pods. Some programs read the small, some the capital names; Node asks to be told.
 *
 * @param own the cluster's networks and hosts
 */
export function egressVariables(
  { proxy, noProxy, caBundle }: Egress,
  own: readonly string[],
  file: string = caFile,
): Record<string, string> {
  const direct = [...new Set([...alwaysDirect, ...own, ...noProxy])].join();
  return {
    ...(proxy === undefined
      ? {}
      : {
          HTTPS_PROXY: proxy,
          https_proxy: proxy,
          NO_PROXY: direct,
          no_proxy: direct,
          NODE_USE_ENV_PROXY: "1",
        }),
    ...(caBundle === undefined ? {} : Object.fromEntries(caVariables.map((name) => [name, file]))),
  };
}
