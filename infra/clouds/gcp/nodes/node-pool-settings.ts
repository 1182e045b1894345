import type { Pool } from "../../../model/cluster.ts";
import type { TaintEffect } from "../../../model/roles.ts";
import type { GcpConfig } from "../schema.ts";
import { type Accelerator, acceleratorOf } from "./machines.ts";

/** Taint effects in GKE's API. */
export const gkeTaintEffects: Record<TaintEffect, string> = {
  NoSchedule: "NO_SCHEDULE",
  PreferNoSchedule: "PREFER_NO_SCHEDULE",
  NoExecute: "NO_EXECUTE",
};

/**
 * The GPUs of the GPU pool's nodes. GKE's API requires even built-in GPUs; otherwise it does not install their driver.
 * @throws RangeError when the GPU is unknown, which the configuration's checks refuse
 */
export function poolAccelerator({ nodes: { gpu } }: GcpConfig): Accelerator {
  const accelerator = acceleratorOf(gpu.machineType, gpu.accelerator);
  if (accelerator === undefined)
    throw new RangeError(`nodes.gpu.accelerator: the GPU of ${gpu.machineType} is unknown; write its type and count`);
  return accelerator;
}

/** Most regions have three zones; a few have four. */
const usualZones = 3;

/** Initial nodes of a pool in each zone. Afterwards the autoscaler keeps their number within the pool's bounds. */
export function initialNodesPerZone({ min, zones }: Pool): number {
  return Math.ceil(min / (zones?.length ?? usualZones));
}
