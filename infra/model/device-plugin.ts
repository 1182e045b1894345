import type { Config } from "../clouds/schema.ts";
import { hasGpuNodes } from "./ray-groups.ts";

/** Whether the stack installs NVIDIA's device plugin: where there are GPUs, unless told that one is there. Never on GKE, which has its own. */
export function installsDevicePlugin(config: Config): boolean {
  return config.cloud !== "gcp" && hasGpuNodes(config) && config.devicePlugin.mode === "install";
}

/** Whether something makes the GPUs of the stack's nodes known to Kubernetes, as far as the stack can tell. */
export function advertisesGpus(config: Config): boolean {
  // A cluster that the stack creates has no plugin that was there before.
  return config.cloud !== "aws" || installsDevicePlugin(config);
}
