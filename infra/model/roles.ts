/**
 * The three node roles that the Lance feature-engineering runtime (Geneva) looks for, once. Node groups and pools,
 * selectors, tolerations, autoscaler tags, the device plugin's selector and the client's parameters derive from here.
 * Source: docs.lancedb.com/geneva/deployment, and the label values that its client's builder emits.
 */

export const nodeRoles = ["ray-head", "ray-worker-cpu", "ray-worker-gpu"] as const;
export type NodeRole = (typeof nodeRoles)[number];

/** The pool for everything that is not Ray: cluster add-ons, operator, autoscaler, table service. Never tainted. */
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

/** What a stack may choose about the roles; `roleOptions(config)` in `infra/config/load.ts` reads it from a configuration. */
export interface RoleOptions {
  readonly labelPrefix: string;
  /**
   * `PreferNoSchedule` keeps everything else off the head nodes while a head that knows nothing of the taint still
   * fits, as the client's documented parameters carry no toleration. `NoSchedule` makes the toleration necessary.
   */
  readonly headTaint: "NoSchedule" | "PreferNoSchedule";
}

interface RoleFacts {
  /** The key of this role's pool under `nodes` in the stack's configuration. */
  readonly pool: "head" | "cpu" | "gpu";
  readonly spotAllowed: boolean;
  readonly gpu: boolean;
  /** Least number of nodes that must exist at any time. The client waits only 300 s for a head. */
  readonly minimumNodes: number;
  readonly taint: "role" | "gpu" | "none";
}

/**
 * CPU workers carry no taint: the runtime's client creates its own RayClusters, whose CPU workers tolerate nothing
 * unless their user says so. GPU nodes carry the key that both clouds' ExtendedResourceToleration admission tolerates
 * for any pod that asks for a GPU.
 */
export const roleFacts: Record<NodeRole, RoleFacts> = {
  "ray-head": { pool: "head", spotAllowed: false, gpu: false, minimumNodes: 1, taint: "role" },
  "ray-worker-cpu": { pool: "cpu", spotAllowed: true, gpu: false, minimumNodes: 0, taint: "none" },
  "ray-worker-gpu": { pool: "gpu", spotAllowed: true, gpu: true, minimumNodes: 0, taint: "gpu" },
};

export const defaultRoleOptions: RoleOptions = { labelPrefix: "geneva.lancedb.com", headTaint: "PreferNoSchedule" };
export const labelValue = "true";
export const gpuResource = "nvidia.com/gpu";
/** What the NVIDIA device plugin's chart selects on when node-feature-discovery is not installed. */
export const gpuPresentLabel = "nvidia.com/gpu.present";

/** `<label_prefix>/<role>`, the label key that selects a role's nodes. */
export function roleLabelKey(role: NodeRole, options: RoleOptions = defaultRoleOptions): string {
  return `${options.labelPrefix}/${role}`;
}

/** The selector of a pod that belongs on a role's nodes: exactly one label. */
export function nodeSelector(role: NodeRole, options: RoleOptions = defaultRoleOptions): Record<string, string> {
  return { [roleLabelKey(role, options)]: labelValue };
}

/** The selector of a pod that must stay off the roles' nodes. */
export function systemNodeSelector(options: RoleOptions = defaultRoleOptions): Record<string, string> {
  return { [`${options.labelPrefix}/${systemPool}`]: labelValue };
}

/** The labels that a pool's nodes carry on every cloud. */
export function nodeLabels(role: PoolRole, options: RoleOptions = defaultRoleOptions): Record<string, string> {
  if (role === systemPool) return systemNodeSelector(options);
  return { ...nodeSelector(role, options), ...(roleFacts[role].gpu ? { [gpuPresentLabel]: "true" } : {}) };
}

/** The taints that a pool's nodes carry. */
export function nodeTaints(role: PoolRole, options: RoleOptions = defaultRoleOptions): readonly Taint[] {
  if (role === systemPool) return [];
  switch (roleFacts[role].taint) {
    case "role":
      return [{ key: roleLabelKey(role, options), value: labelValue, effect: options.headTaint }];
    case "gpu":
      return [{ key: gpuResource, value: "present", effect: "NoSchedule" }];
    case "none":
      return [];
  }
}

/** What a pod of that role tolerates: one entry for each taint of its nodes, and nothing else. */
export function tolerations(role: PoolRole, options: RoleOptions = defaultRoleOptions): readonly Toleration[] {
  return nodeTaints(role, options).map(({ key, value, effect }) =>
    key === gpuResource ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect },
  );
}
