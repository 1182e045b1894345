import type { Config } from "../clouds/schema.ts";
import type { RoleOptions } from "./roles.ts";

/** What the configuration says about the node roles. */
export function roleOptions(config: Config): RoleOptions {
  const headTaint = config.cloud === "kubeconfig" ? config.nodes.headTaint : config.nodes.head.taint;
  return { labelPrefix: config.labelPrefix, headTaint };
}
