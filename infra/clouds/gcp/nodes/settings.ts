import type { Pool } from "../../../model/cluster.ts";
import type { GcpConfig } from "../schema.ts";

type Nodes = GcpConfig["nodes"];
/** The keys of a pool; what only the GPU pool has is optional. */
export type PoolSettings = Omit<Nodes["cpu"], "fallback"> &
  Partial<Pick<Nodes["gpu"], "accelerator" | "flexStart">> & { readonly fallback?: Nodes["gpu"]["fallback"] };

/** The settings of a pool's fallbacks. What only describes the pool's own machines is not theirs. */
export const fallbacksOf = ({ fallback = [], ...pool }: PoolSettings): readonly PoolSettings[] =>
  fallback.map((one) => ({
    ...pool,
    size: undefined,
    accelerator: undefined,
    flexStart: undefined,
    ...one,
    min: 0,
    max: one.max ?? pool.max,
  }));

/** @param pool one of the model's */
export function settingsOf({ nodes }: GcpConfig, { key, rank }: Pool): PoolSettings {
  const own: PoolSettings = nodes[key];
  return fallbacksOf(own)[rank - 1] ?? own;
}
