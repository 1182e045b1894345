import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { managedBy } from "../kubernetes/labels.ts";

export interface RuntimeAccountArgs {
  /** Name of the service account of every Ray pod. */
  readonly name: string;
  readonly namespace: pulumi.Input<string>;
  /** The cloud's identity annotation. The runtime's client rejects an account without one. */
  readonly annotations: Readonly<Record<string, pulumi.Input<string>>>;
}

type PolicyRule = kubernetes.types.input.rbac.v1.PolicyRule;

/** The runtime's permissions in the whole cluster: exactly the deployment guide's list. */
export const runtimeRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["get", "patch", "delete"] },
];

/** The service account of Ray's pods with its cluster role and binding. */
export class RuntimeAccount extends pulumi.ComponentResource {
  readonly accountName: pulumi.Output<string>;

  constructor(name: string, args: RuntimeAccountArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:RuntimeAccount", name, {}, opts);
    const account = new kubernetes.core.v1.ServiceAccount(
      name,
      {
        metadata: {
          name: args.name,
          namespace: args.namespace,
          labels: managedBy,
          annotations: { ...args.annotations },
        },
      },
      { parent: this },
    );
    const role = new kubernetes.rbac.v1.ClusterRole(
      `${name}-role`,
      { metadata: { name: `${args.name}-role`, labels: managedBy }, rules: [...runtimeRules] },
      { parent: this },
    );
    new kubernetes.rbac.v1.ClusterRoleBinding(
      `${name}-binding`,
      {
        metadata: { name: `${args.name}-binding`, labels: managedBy },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role.metadata.name },
        subjects: [{ kind: "ServiceAccount", name: account.metadata.name, namespace: args.namespace }],
      },
      { parent: this },
    );
    this.accountName = account.metadata.name;
    this.registerOutputs({ accountName: this.accountName });
  }
}
