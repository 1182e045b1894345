/**
 * The rights that the runtime and its client need, and some that they must not have, asked of the API server with
 * `kubectl auth can-i --as`. The lists are the deployment guide's and the client's calls, not the program's own rules.
 */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { holds } from "./report.ts";

export interface Right {
  readonly verb: string;
  /** `rayclusters.ray.io`, or `pods/portforward` for a subresource. */
  readonly resource: string;
  /** Undefined asks for the whole cluster. */
  readonly namespace?: string;
}

export interface Rights {
  readonly needed: readonly Right[];
  readonly denied: readonly Right[];
}

const each = (verbs: string, resource: string, namespace?: string): Right[] =>
  verbs.split(" ").map((verb) => ({ verb, resource, ...(namespace === undefined ? {} : { namespace }) }));

/** Of the service account of Ray's pods. */
export const runtimeRights = (namespace: string): Rights => ({
  needed: [
    ...each("get list watch", "pods", namespace),
    ...each("get list watch", "pods"),
    ...each("get patch delete", "rayclusters.ray.io", namespace),
  ],
  denied: [
    ...each("create delete", "pods", namespace),
    ...each("create", "pods/exec", namespace),
    ...each("get list", "secrets", namespace),
    ...each("create", "rayclusters.ray.io", namespace),
    ...each("create", "serviceaccounts/token", namespace),
    ...each("list", "nodes"),
    ...each("create", "clusterrolebindings.rbac.authorization.k8s.io"),
  ],
});

/** Of the runtime's client where its access is `least-privilege`. */
export const clientRights = (namespace: string): Rights => ({
  needed: [
    ...each("get list create patch delete", "rayclusters.ray.io", namespace),
    ...each("get list watch", "pods", namespace),
    ...each("get create", "pods/portforward", namespace),
    ...each("get", "serviceaccounts", namespace),
    ...each("get", "configmaps", namespace),
    ...each("create", "localsubjectaccessreviews.authorization.k8s.io", namespace),
    ...each("get", "nodes"),
    ...each("get", "priorityclasses.scheduling.k8s.io"),
  ],
  denied: [
    ...each("create delete", "pods", namespace),
    ...each("create", "pods/exec", namespace),
    ...each("get list", "secrets", namespace),
    ...each("update patch", "deployments.apps", namespace),
    ...each("get", "pods", "kube-system"),
    ...each("create", "rayclusters.ray.io", "default"),
    ...each("delete", "namespaces"),
    ...each("create", "clusterrolebindings.rbac.authorization.k8s.io"),
  ],
});

export interface Who {
  readonly user: string;
  readonly groups?: readonly string[];
}

async function can(kubeconfig: string | undefined, who: Who, { verb, resource, namespace }: Right): Promise<boolean> {
  const [kind = "", subresource] = resource.split("/");
  const args = [
    ...(kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig]),
    ...["auth", "can-i", verb, kind, `--as=${who.user}`],
    ...(who.groups ?? []).map((group) => `--as-group=${group}`),
    ...(subresource === undefined ? [] : [`--subresource=${subresource}`]),
    ...(namespace === undefined ? ["--all-namespaces"] : ["--namespace", namespace]),
  ];
  // It says no with a word and with exit code 1.
  const answer = await promisify(execFile)("kubectl", args).catch((error: { stdout?: string }) => error);
  const word = answer.stdout?.trim() ?? "";
  if (word === "yes") return true;
  if (word.startsWith("no")) return false;
  throw new Error(`kubectl ${args.join(" ")} says neither yes nor no: ${JSON.stringify(answer)}`);
}

const describe = ({ verb, resource, namespace }: Right): string =>
  `${verb} ${resource}${namespace === undefined ? " in the whole cluster" : ` in ${namespace}`}`;

/** @throws Error that lists every right that is missing, or that is there and must not be */
export async function checkRights(
  kubeconfig: string | undefined,
  who: Who,
  { needed, denied }: Rights,
): Promise<string> {
  const wrong: string[] = [];
  for (const right of needed)
    if (!(await can(kubeconfig, who, right))) wrong.push(`${who.user} cannot ${describe(right)}`);
  for (const right of denied) if (await can(kubeconfig, who, right)) wrong.push(`${who.user} can ${describe(right)}`);
  holds(wrong.length === 0, wrong.join("\n"));
  return `${needed.length} rights held, ${denied.length} denied`;
}
