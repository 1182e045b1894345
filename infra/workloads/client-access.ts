import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { managedBy } from "../kubernetes/labels.ts";

/** The runtime client's identity in Kubernetes, as the cloud authenticates it. */
export interface ClientSubject {
  readonly kind: "User" | "Group";
  readonly name: pulumi.Input<string>;
}

export interface ClientAccessArgs {
  readonly namespace: pulumi.Input<string>;
  /**
   * `cluster-admin` is the deployment guide's requirement; `least-privilege` grants only the calls that the client
   * makes.
   */
  readonly mode: "cluster-admin" | "least-privilege";
  readonly subjects: readonly ClientSubject[];
}

type PolicyRule = kubernetes.types.input.rbac.v1.PolicyRule;

/**
 * The client's calls inside the namespace. Port-forwarding over websockets is a GET, and needs CREATE too from
 * Kubernetes 1.35 (kubernetes#134577).
 */
export const clientNamespaceRules: readonly PolicyRule[] = [
  { apiGroups: ["ray.io"], resources: ["rayclusters"], verbs: ["get", "list", "create", "patch", "delete"] },
  { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  { apiGroups: [""], resources: ["pods/portforward"], verbs: ["get", "create"] },
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["get"] },
  { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["localsubjectaccessreviews"], verbs: ["create"] },
];

/** The client's calls outside its namespace: it reads nodes, and a priority class if its specs name one. */
export const clientClusterRules: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
  { apiGroups: ["scheduling.k8s.io"], resources: ["priorityclasses"], verbs: ["get"] },
];

const rbacGroup = "rbac.authorization.k8s.io";
const roleName = "lakehead-client";

/** The runtime client's permissions in Kubernetes. */
export class ClientAccess extends pulumi.ComponentResource {
  constructor(name: string, args: ClientAccessArgs, opts?: pulumi.ComponentResourceOptions) {
    super("lakehead:kubernetes:ClientAccess", name, {}, opts);
    const subjects = args.subjects.map(({ kind, name }) => ({ kind, name, apiGroup: rbacGroup }));
    const metadata = { name: roleName, labels: managedBy };
    // Different names, because a change of the mode creates one binding before it deletes the other.
    const bindCluster = (suffix: string, bindingName: string, clusterRole: pulumi.Input<string>) =>
      new kubernetes.rbac.v1.ClusterRoleBinding(
        `${name}-${suffix}`,
        {
          metadata: { ...metadata, name: bindingName },
          subjects,
          roleRef: { apiGroup: rbacGroup, kind: "ClusterRole", name: clusterRole },
        },
        { parent: this },
      );

    if (args.mode === "cluster-admin") {
      bindCluster("cluster-admin", `${roleName}-admin`, "cluster-admin");
    } else {
      const role = new kubernetes.rbac.v1.Role(
        `${name}-role`,
        { metadata: { ...metadata, namespace: args.namespace }, rules: [...clientNamespaceRules] },
        { parent: this },
      );
      new kubernetes.rbac.v1.RoleBinding(
        `${name}-role-binding`,
        {
          metadata: { ...metadata, namespace: args.namespace },
          subjects,
          roleRef: { apiGroup: rbacGroup, kind: "Role", name: role.metadata.name },
        },
        { parent: this },
      );
      const clusterRole = new kubernetes.rbac.v1.ClusterRole(
        `${name}-cluster-role`,
        { metadata, rules: [...clientClusterRules] },
        { parent: this },
      );
      bindCluster("cluster-role-binding", roleName, clusterRole.metadata.name);
    }
  }
}
