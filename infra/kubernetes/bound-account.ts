import * as kubernetes from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";

type Meta = kubernetes.types.input.meta.v1.ObjectMeta;
type Rule = kubernetes.types.input.rbac.v1.PolicyRule;

/** A service account with rights in its namespace: account, role and binding, all of one name. */
export function boundAccount(
  name: string,
  { metadata, annotations, rules }: { metadata: Meta; annotations?: Meta["annotations"]; rules: readonly Rule[] },
  parent: pulumi.CustomResourceOptions,
): kubernetes.core.v1.ServiceAccount {
  const account = new kubernetes.core.v1.ServiceAccount(
    name,
    { metadata: annotations === undefined ? metadata : { ...metadata, annotations } },
    parent,
  );
  const role = new kubernetes.rbac.v1.Role(name, { metadata, rules: [...rules] }, parent);
  new kubernetes.rbac.v1.RoleBinding(
    name,
    {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: role.metadata.name },
      subjects: [{ kind: "ServiceAccount", name: account.metadata.name, namespace: metadata.namespace ?? "" }],
    },
    parent,
  );
  return account;
}
