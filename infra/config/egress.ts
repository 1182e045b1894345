import { X509Certificate } from "node:crypto";
import { z } from "zod";
import { parseCidr } from "../model/cidr.ts";
import type { ClusterModel } from "../model/cluster.ts";
import { form, group } from "./fields.ts";
import { errorIf, type Finding } from "./report.ts";

const block = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;

/** Why the text is no list of certificates; undefined where it is one. */
function faultOf(pem: string): string | undefined {
  const blocks = [...pem.matchAll(block)];
  if (blocks.length === 0) return "has no block -----BEGIN CERTIFICATE-----";
  for (const [index, [text, kind]] of blocks.entries()) {
    if (kind !== "CERTIFICATE") return `holds a ${kind?.toLowerCase()}; pods get certificates alone`;
    try {
      new X509Certificate(text);
    } catch {
      return `has a certificate that cannot be read, number ${index + 1}`;
    }
  }
  return undefined;
}

/** A ConfigMap's maximum is 1 MiB. */
const longestBundle = 900_000;

export const egressSchema = group("How pods reach what is outside of the cluster", {
  proxy: form(
    /^https?:\/\/[A-Za-z0-9.-]+(:\d{1,5})?$/,
    "the address of a proxy without a password, such as http://proxy.corp.example.com:3128",
  )
    .optional()
    .describe(
      "HTTPS proxy of the table service, maintenance, Functions and the stack's Ray pods, as `HTTPS_PROXY`. `NO_PROXY` holds the cluster's own networks, the metadata servers and `.svc`",
    ),
  noProxy: z
    .array(form(/^[A-Za-z0-9.*_/:-]+$/, "a host, a suffix such as .corp.example.com, or a network"))
    .default([])
    .describe(
      "Hosts, suffixes and networks that these pods reach without the proxy. On an existing cluster, and in an adopted network of Google Cloud, the networks of pods and Services must be among them",
    ),
  caBundle: z
    .string()
    .max(longestBundle, { error: `at most ${longestBundle} characters` })
    .superRefine((pem, context) => {
      const fault = faultOf(pem);
      if (fault !== undefined) context.addIssue({ code: "custom", message: `PEM of root certificates; this ${fault}` });
    })
    .optional()
    .describe(
      "PEM of the root certificates that these pods trust, in place of those of their images: your own authority's, and public ones for what they reach directly",
    ),
});

export function checkEgress(
  { proxy, noProxy }: z.output<typeof egressSchema>,
  { ownNetworks }: Pick<ClusterModel, "ownNetworks">,
): Finding[] {
  return [
    ...errorIf(
      proxy === undefined && noProxy.length > 0,
      "egress.noProxy",
      "there is no proxy",
      "write egress.proxy as well, or leave it out",
    ),
    ...errorIf(
      proxy !== undefined && ![...ownNetworks, ...noProxy].some((entry) => parseCidr(entry) !== undefined),
      "egress.noProxy",
      "the networks of pods and Services are not known, and the proxy would get the connections between them",
      "list them, such as 10.244.0.0/16 and 10.96.0.0/12",
    ),
  ];
}
