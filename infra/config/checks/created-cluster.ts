import { overlaps, parseCidr } from "../../model/cidr.ts";
import { errorIf, type Finding, warningIf } from "../report.ts";

/**
 * Networks that no client on the internet has. Source: IANA's IPv4 special-purpose address registry (RFC 6890), without the
 * networks of documentation, which are placeholders.
 */
export const notOnTheInternet = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

/** A public endpoint sees its clients' public addresses: a private network would give access to none of them. */
export function checkPublicCidrs(key: string, cidrs: readonly string[], remedy: string): Finding[] {
  return cidrs.flatMap((cidr) => {
    const network = parseCidr(cidr);
    const reserved = notOnTheInternet.find((text) => {
      const other = parseCidr(text);
      return network && other && network.length >= other.length && overlaps(network, other);
    });
    return errorIf(
      reserved !== undefined,
      [key, cidr],
      `no client on the internet has an address in ${reserved}`,
      `write the public address from which you connect${remedy}`,
    );
  });
}

/** What every cloud checks of a cluster and a bucket that the stack creates. */
export function checkProtection(config: {
  readonly protect: boolean;
  readonly endpoint: { readonly publicCidrs: readonly string[] };
  readonly bucket: { readonly forceDestroy: boolean };
}): Finding[] {
  const { publicCidrs } = config.endpoint;
  return [
    ...warningIf(
      publicCidrs.includes("0.0.0.0/0"),
      "endpoint.publicCidrs",
      "the Kubernetes API is reachable from the whole internet",
      "list the networks that you deploy and work from",
    ),
    ...checkPublicCidrs("endpoint.publicCidrs", publicCidrs, "; leave the list empty for no access from the internet"),
    ...errorIf(
      config.bucket.forceDestroy && config.protect,
      "bucket.forceDestroy",
      "it lets a destroy delete the tables, which protect: true forbids",
      "write false, or protect: false as well",
    ),
  ];
}
