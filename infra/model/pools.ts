import type { Config } from "../clouds/schema.ts";
import { type Amount, allocatable } from "./fit.ts";
import { findMachine, type Machine } from "./machines.ts";
import { parseMemory } from "./quantity.ts";
import { type PoolRole, poolRoles, roleFacts, systemPool } from "./roles.ts";

/** A pool of a created cluster, as configured. */
export interface Pool {
  readonly role: PoolRole;
  /** Its key under `nodes`. */
  readonly key: "system" | "head" | "cpu" | "gpu";
  readonly machineNames: readonly string[];
  /** Given for machine types that the catalogue does not know. */
  readonly size: Omit<Machine, "name"> | undefined;
  readonly min: number;
  readonly max: number;
  readonly diskGiB: number;
  readonly spot: boolean;
  readonly zones: readonly string[] | undefined;
}

/** The key of a role's pool under `nodes`. */
export function poolKey(role: PoolRole): Pool["key"] {
  return role === systemPool ? "system" : roleFacts[role].pool;
}

/** The pools that a cloud's stack creates, system first; none on a cluster that is already there. */
export function pools(config: Config): Pool[] {
  if (config.cloud === "kubeconfig") return [];
  const { nodes } = config;
  return poolRoles.flatMap((role): Pool[] => {
    const key = poolKey(role);
    if (key === "gpu" && !nodes.gpu.enabled) return [];
    const pool = nodes[key];
    const machineNames = "instanceTypes" in pool ? pool.instanceTypes : [pool.machineType];
    return [
      {
        role,
        key,
        machineNames,
        size: pool.size === undefined ? undefined : { ...pool.size, memoryBytes: parseMemory(pool.size.memory) },
        min: pool.min,
        max: pool.max,
        diskGiB: pool.diskGiB,
        spot: pool.spot,
        zones: pool.zones,
      },
    ];
  });
}

/** The machines of a pool that are known, with the GPUs that a Google accelerator adds. */
export function poolMachines(config: Config, pool: Pool): Machine[] {
  if (config.cloud === "kubeconfig") return [];
  const { cloud } = config;
  const added = cloud === "gcp" && pool.key === "gpu" ? (config.nodes.gpu.accelerator?.count ?? 0) : 0;
  return pool.machineNames.flatMap((name): Machine[] => {
    const machine = findMachine(cloud, name) ?? (pool.size === undefined ? undefined : { ...pool.size, name });
    return machine === undefined ? [] : [{ ...machine, gpus: Math.max(machine.gpus, added) }];
  });
}

/** What pods may ask for on a node of that role, or undefined when nothing is known of it. */
export function roleCapacity(config: Config, role: PoolRole): Amount | undefined {
  if (config.cloud === "kubeconfig") {
    const given = role === systemPool ? undefined : config.nodes[roleFacts[role].pool];
    return given === undefined
      ? undefined
      : { cpus: given.cpus, memoryBytes: parseMemory(given.memory), gpus: given.gpus };
  }
  const pool = pools(config).find((candidate) => candidate.role === role);
  const machine = pool === undefined ? undefined : poolMachines(config, pool)[0];
  return machine === undefined ? undefined : allocatable(config.cloud, machine);
}

/** The processor architecture of a role's nodes; x86_64 where nothing is known. */
export function roleArchitecture(config: Config, role: PoolRole): Machine["architecture"] {
  const pool = pools(config).find((candidate) => candidate.role === role);
  return (pool === undefined ? undefined : poolMachines(config, pool)[0]?.architecture) ?? "x86_64";
}
