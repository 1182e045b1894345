/** The credentials that the stand-ins for `aws` and `gke-gcloud-auth-plugin` return, from the existing resources. */

import { World } from "./cloud.ts";
import type { Item } from "./journal.ts";
import type { Settings } from "./settings.ts";

/** The message on the terminal. */
export class Denied extends Error {}

const option = (args: readonly string[], name: string): string | undefined => {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
};

/** A credential that expires after a minute, so that a loss of access is noticed. */
function credential(apiVersion: string, token: string): string {
  const expirationTimestamp = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+Z$/, "Z");
  return JSON.stringify({ kind: "ExecCredential", apiVersion, spec: {}, status: { expirationTimestamp, token } });
}

/**
 * `aws eks get-token`. EKS itself would refuse the token of a principal without an access entry; here the refusal comes
 * a step earlier, with the same effect.
 *
 * @throws Denied
 */
export function eksToken(args: readonly string[], items: readonly Item[], settings: Settings): string {
  if (args[0] !== "eks" || args[1] !== "get-token") throw new Denied(`the stand-in has no "aws ${args.join(" ")}"`);
  const name = option(args, "--cluster-name");
  const world = new World(items);
  const cluster = world.find("aws:eks/cluster:Cluster", name);
  if (cluster === undefined) throw new Denied(`ResourceNotFoundException: No cluster found for name: ${name}.`);
  const region = option(args, "--region");
  if (!String(cluster.outputs.arn).includes(`:${region}:`))
    throw new Denied(`ResourceNotFoundException: No cluster found for name: ${name} in ${region}.`);
  const admitted = world
    .of("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    .some(({ inputs }) => inputs.principalArn === settings.principal && inputs.clusterName === name);
  if (!admitted) throw new Denied(`Unauthorized: ${settings.principal} has no access entry with a policy in ${name}`);
  return credential("client.authentication.k8s.io/v1", settings.apiToken);
}

/** `gke-gcloud-auth-plugin`, which knows no cluster: any credential of the project will do. */
export const gkeToken = ({ apiToken }: Settings): string =>
  credential("client.authentication.k8s.io/v1beta1", apiToken);
