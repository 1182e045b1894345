import type { GcpConfig } from "../../config/load.ts";
import { type Accelerator, acceleratorOf } from "../../model/machines.ts";
import type { Pool } from "../../model/pools.ts";
import type { TaintEffect } from "../../model/roles.ts";

/** Taint effects as GKE's API spells them. */
export const gkeTaintEffects: Record<TaintEffect, string> = {
  NoSchedule: "NO_SCHEDULE",
  PreferNoSchedule: "PREFER_NO_SCHEDULE",
  NoExecute: "NO_EXECUTE",
};

/**
 * The GPUs of the pool's nodes. GKE's API must be told even of those that a machine has built in, or it neither
 * installs their driver nor counts them.
 * @throws RangeError when they are not known, which the configuration's checks refuse
 */
export function poolAccelerator({ nodes: { gpu } }: GcpConfig): Accelerator {
  const accelerator = acceleratorOf(gpu.machineType, gpu.accelerator);
  if (accelerator === undefined) throw new RangeError(`the GPUs of ${gpu.machineType} are not known`);
  return accelerator;
}

/** Regions have three zones, but for a few that have four. */
const usualZones = 3;

/** Nodes in each zone that a pool begins with; afterwards the autoscaler keeps their number within the pool's bounds. */
export function initialNodesPerZone({ min, zones }: Pool): number {
  return Math.ceil(min / (zones?.length ?? usualZones));
}
