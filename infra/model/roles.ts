/**
 * The three node roles of the Lance feature-engineering runtime (Geneva). Node groups and pools, selectors, tolerations,
 * autoscaler tags, the device plugin's selector and the client's parameters derive from this table.
 * Source: docs.lancedb.com/geneva/deployment, and the label values that its client writes.
 */

export const nodeRoles = ["ray-head", "ray-worker-cpu", "ray-worker-gpu"] as const;
export type NodeRole = (typeof nodeRoles)[number];

/** The pool of everything that is not Ray: cluster add-ons, operator, autoscaler, table service. It has no taints. */
export const systemPool = "system";
export type PoolRole = typeof systemPool | NodeRole;
export const poolRoles: readonly PoolRole[] = [systemPool, ...nodeRoles];

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
  readonly computeClasses?: readonly PoolRole[];
}

/**
 * Key of the label and of the taint of a pool that a ComputeClass names; its pods select the label.
 * Source: cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes
 */
const computeClassKey = "cloud.google.com/compute-class";

interface RoleFacts {
  /** The key of this role's pool under `nodes` in the stack's configuration. */
  readonly pool: "head" | "cpu" | "gpu";
  readonly gpu: boolean;
  readonly taint: "role" | "gpu" | "none";
}

/**
 * CPU worker nodes have no taint: CPU workers in the client's own RayClusters have no toleration by default. GPU nodes
 * have the key for which the ExtendedResourceToleration admission of EKS and GKE adds a toleration to each GPU pod.
 */
export const roleFacts: Record<NodeRole, RoleFacts> = {
  "ray-head": { pool: "head", gpu: false, taint: "role" },
  "ray-worker-cpu": { pool: "cpu", gpu: false, taint: "none" },
  "ray-worker-gpu": { pool: "gpu", gpu: true, taint: "gpu" },
};

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

/** The node selector of pods that are not Ray. */
export function systemNodeSelector(options: RoleOptions = defaultRoleOptions): Record<string, string> {
  return { [`${options.labelPrefix}/${systemPool}`]: labelValue };
}

/** The labels of a pool's nodes, on every cloud. */
export function nodeLabels(role: PoolRole, options: RoleOptions = defaultRoleOptions): Record<string, string> {
  if (role === systemPool) return systemNodeSelector(options);
  return { ...nodeSelector(role, options), ...(roleFacts[role].gpu ? { [gpuPresentLabel]: "true" } : {}) };
}

/** The taints of a pool's nodes. */
export function nodeTaints(role: PoolRole, options: RoleOptions = defaultRoleOptions): readonly Taint[] {
  if (role === systemPool) return [];
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
export function tolerations(role: PoolRole, options: RoleOptions = defaultRoleOptions): readonly Toleration[] {
  return nodeTaints(role, options).map(({ key, value, effect }) =>
    key === gpuResource ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect },
  );
}
