/** What a dry run returns for values that only the cloud knows. */

import { unknownMarker } from "./values.ts";

/**
 * Outputs inside an input's object. Without an entry an echoed input would make them look absent; a provider's preview marks
 * them unknown. Top-level outputs need no entry: they are unknown unless an input has their name.
 */
const nested: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "aws:eks/cluster:Cluster": [
    ["vpcConfig", "clusterSecurityGroupId"],
    ["vpcConfig", "vpcId"],
    ["kubernetesNetworkConfig", "serviceIpv6Cidr"],
  ],
  "gcp:container/cluster:Cluster": [
    ["controlPlaneEndpointsConfig", "dnsEndpointConfig", "endpoint"],
    ["privateClusterConfig", "privateEndpoint"],
    ["privateClusterConfig", "publicEndpoint"],
    ["masterAuth", "clusterCaCertificate"],
  ],
};
const ofEveryObject: readonly (readonly string[])[] = [
  ["metadata", "uid"],
  ["metadata", "resourceVersion"],
];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function mark(inputs: Record<string, unknown>, [key = "", ...rest]: readonly string[]): Record<string, unknown> {
  if (rest.length === 0) return key in inputs ? inputs : { ...inputs, [key]: unknownMarker };
  const inner = inputs[key];
  return isRecord(inner) ? { ...inputs, [key]: mark(inner, rest) } : inputs;
}

/** The outputs of a dry run: the inputs, and the unknown marker where the cloud adds values. */
export function echoed(type: string, inputs: Record<string, unknown>): Record<string, unknown> {
  const paths = type.startsWith("kubernetes:") ? ofEveryObject : (nested[type] ?? []);
  return paths.reduce(mark, inputs);
}

/** Outputs that programs write into documents, by type or by package. */
const identifying: Readonly<Record<string, readonly string[]>> = {
  aws: ["arn"],
  "gcp:serviceaccount/account:Account": ["email"],
  "docker-build:index:Image": ["digest"],
};

/** Outputs of which programs take a part, as text around placeholders. */
const composed: Readonly<Record<string, Readonly<Record<string, (placeholder: Placeholder) => string>>>> = {
  // docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
  "aws:iam/openIdConnectProvider:OpenIdConnectProvider": {
    arn: (placeholder) => `${placeholder("arn")}:oidc-provider/${placeholder("url")}`,
  },
};

type Placeholder = (property: string) => string;

/**
 * Texts in place of unknown identifiers, so that a document which holds one is a text and not unknown as a whole. A text
 * names its source: two resources never have the same one. Numbers, lists and objects stay unknown.
 */
export function placeholders(type: string, name: string): { id: string; outputs: Readonly<Record<string, string>> } {
  const placeholder: Placeholder = (property) => `<computed ${type.split(":").at(-1)} ${name}.${property}>`;
  const properties = [type, type.split(":")[0] ?? ""].flatMap((key) => identifying[key] ?? []);
  return {
    id: placeholder("id"),
    outputs: Object.fromEntries(
      properties.map((property) => [property, composed[type]?.[property]?.(placeholder) ?? placeholder(property)]),
    ),
  };
}
