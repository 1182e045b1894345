import { errorIf, type Finding, warningIf } from "../report.ts";
import { checkPublicCidrs } from "./networks.ts";

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
      publicCidrs,
      "the Kubernetes API is reachable from the whole internet",
      "list the networks that you deploy and work from",
    ),
    ...checkPublicCidrs("endpoint.publicCidrs", publicCidrs, "; leave the list empty for no access from the internet"),
    ...errorIf(
      config.bucket.forceDestroy && config.protect,
      "bucket.forceDestroy",
      true,
      "it lets a destroy delete the tables, which protect: true forbids",
      "write false, or protect: false as well",
    ),
  ];
}
