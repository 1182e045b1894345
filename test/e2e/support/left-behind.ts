import type { Api } from "./api.ts";

/** Kinds that outlive a namespace, and those whose leftovers cost something. */
const kinds = [
  ["v1", "Namespace"],
  ["v1", "PersistentVolume"],
  ["rbac.authorization.k8s.io/v1", "ClusterRole"],
  ["rbac.authorization.k8s.io/v1", "ClusterRoleBinding"],
  ["apiextensions.k8s.io/v1", "CustomResourceDefinition"],
  ["v1", "Service"],
  ["networking.k8s.io/v1", "Ingress"],
  ["apps/v1", "Deployment"],
  ["v1", "Pod"],
] as const;

/** `<kind> <namespace/name>` of everything in a cluster that a stack could have left there. */
export async function leftBehind(api: Api): Promise<string[]> {
  const lists = await Promise.all(
    kinds.map(async ([apiVersion, kind]) => {
      const objects = await api.list(apiVersion, kind);
      return objects.map(
        ({ metadata: { name, namespace } }) => `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`,
      );
    }),
  );
  return lists.flat().sort();
}
