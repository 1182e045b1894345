/**
 * Outputs inside an input's object that only the cloud knows. Without an entry an echoed input would make them look absent;
 * a provider's preview marks them unknown. Top-level outputs need no entry: they are unknown unless an input has their name.
 */

import { unknownMarker } from "./values.ts";

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
