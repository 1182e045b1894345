/**
 * The three node roles of the Lance feature-engineering runtime (Geneva). Node groups and pools, selectors, tolerations,
 * autoscaler tags, the device plugin's selector and the client's parameters derive from this table.
 * Source: docs.lancedb.com/geneva/deployment, and the label values that its client writes.
 */

export const rayRoles = ["ray-head", "ray-worker-cpu", "ray-worker-gpu"] as const;
export type RayRole = (typeof rayRoles)[number];

/** The role of everything that is not Ray: cluster add-ons, operator, autoscaler, table service. */
export const systemRole = "system";
export type NodeRole = typeof systemRole | RayRole;
export const nodeRoles: readonly NodeRole[] = [systemRole, ...rayRoles];

export type TaintEffect = "NoSchedule" | "PreferNoSchedule" | "NoExecute";
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: TaintEffect;
}
export interface Toleration {
  readonly key: string;
  readonly operator: "Equal" | "Exists";
  readonly value?: string;
  readonly effect: TaintEffect;
}

/** What a stack's configuration chooses about the roles. */
export interface RoleOptions {
  readonly labelPrefix: string;
  /**
   * `PreferNoSchedule` lets a head without a toleration run on head nodes: the client's documented parameters have
   * none. `NoSchedule` requires the toleration.
   */
  readonly headTaint: "NoSchedule" | "PreferNoSchedule";
  /** The roles whose nodes GKE adds in the order of a ComputeClass of the role's name. */
  readonly computeClasses?: readonly NodeRole[];
}

/**
 * Key of the label and of the taint of a pool that a ComputeClass names; its pods select the label.
 * Source: cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes
 */
const computeClassKey = "cloud.google.com/compute-class";

/** The key of a role's pools under `nodes` in the stack's configuration. */
export type PoolKey = "system" | "head" | "cpu" | "gpu";

interface RoleFacts {
  readonly key: PoolKey;
  readonly gpu: boolean;
  readonly taint: "role" | "gpu" | "none";
}

/**
 * System nodes have no taint, and CPU worker nodes none either: CPU workers in the client's own RayClusters have no toleration by default. GPU nodes
 * have the key for which the ExtendedResourceToleration admission of EKS and GKE adds a toleration to each GPU pod.
 */
export const roleFacts = {
  system: { key: "system", gpu: false, taint: "none" },
  "ray-head": { key: "head", gpu: false, taint: "role" },
  "ray-worker-cpu": { key: "cpu", gpu: false, taint: "none" },
  "ray-worker-gpu": { key: "gpu", gpu: true, taint: "gpu" },
} as const satisfies Record<NodeRole, RoleFacts>;

export const defaultRoleOptions: RoleOptions = { labelPrefix: "geneva.lancedb.com", headTaint: "PreferNoSchedule" };
export const labelValue = "true";
export const gpuResource = "nvidia.com/gpu";
/** The label that the NVIDIA device plugin's chart selects by when node-feature-discovery is not installed. */
export const gpuPresentLabel = "nvidia.com/gpu.present";

/** `<label_prefix>/<role>`, the label key that selects a role's nodes. */
export function roleLabelKey(role: NodeRole, options: RoleOptions = defaultRoleOptions): string {
  return `${options.labelPrefix}/${role}`;
}

const computeClass = (role: NodeRole, { computeClasses = [] }: RoleOptions): Record<string, string> =>
  computeClasses.includes(role) ? { [computeClassKey]: role } : {};

/** The node selector of a role's pods: one label, and beside it that of a ComputeClass. */
export function nodeSelector(role: NodeRole, options: RoleOptions = defaultRoleOptions): Record<string, string> {
  return { [roleLabelKey(role, options)]: labelValue, ...computeClass(role, options) };
}

/** The labels of a role's nodes, on every cloud. */
export function nodeLabels(role: NodeRole, options: RoleOptions = defaultRoleOptions): Record<string, string> {
  return { ...nodeSelector(role, options), ...(roleFacts[role].gpu ? { [gpuPresentLabel]: "true" } : {}) };
}

/** The taints of a role's nodes. */
export function nodeTaints(role: NodeRole, options: RoleOptions = defaultRoleOptions): readonly Taint[] {
  const own: Record<RoleFacts["taint"], readonly Taint[]> = {
    role: [{ key: roleLabelKey(role, options), value: labelValue, effect: options.headTaint }],
    gpu: [{ key: gpuResource, value: "present", effect: "NoSchedule" }],
    none: [],
  };
  const classes = Object.entries(computeClass(role, options)).map(
    ([key, value]): Taint => ({ key, value, effect: "NoSchedule" }),
  );
  return [...own[roleFacts[role].taint], ...classes];
}

/** The tolerations of a role's pods: one for each taint of its nodes. */
export function tolerations(role: NodeRole, options: RoleOptions = defaultRoleOptions): readonly Toleration[] {
  return nodeTaints(role, options).map(({ key, value, effect }) =>
    key === gpuResource ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect },
  );
}
