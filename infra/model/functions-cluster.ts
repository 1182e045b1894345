import { functionsCluster, functionsHeadAccount } from "./names.ts";
import type { QueueSettings } from "./queue.ts";
import type { RayClusterConfig } from "./ray-cluster.ts";

/** Where the workers of Functions find the secrets, a file for each. */
export const functionSecretsFolder = "/etc/lakehead/function-secrets";
export const functionSecretsName = "function-secrets";

/** The key of a secret in the Kubernetes Secret, where no key has a `$`, and no name two dots. */
export const functionSecretKey = (name: string): string => name.replaceAll("$", "..");

interface FunctionsConfig extends QueueSettings {
  readonly ray: RayClusterConfig["ray"];
  readonly tableService: {
    readonly functions: {
      readonly ray: Pick<RayClusterConfig["ray"], "head" | "cpuWorkers" | "gpuWorkers">;
      readonly packageIndex?: string | undefined;
      readonly secrets: readonly string[];
    };
  };
}

/** The RayCluster for Functions alone: of the stack's version, image and tokens, with sizes and accounts of its own. */
export function functionsRay({ ray, quota, tableService: { functions } }: FunctionsConfig) {
  const { packageIndex, secrets } = functions;
  return {
    serviceAccount: functionsCluster,
    // Its autoscaler's account may change RayClusters, and the identity of the workers reaches tables: no pod has both.
    headServiceAccount: functionsHeadAccount,
    // Their identity reaches nothing but tables.
    ray: { ...ray, ...functions.ray, history: { ...ray.history, enabled: false } },
    quota,
    workerEnvironment: packageIndex === undefined ? {} : { PIP_INDEX_URL: packageIndex },
    workerFiles:
      secrets.length === 0
        ? undefined
        : {
            folder: functionSecretsFolder,
            secretName: functionSecretsName,
            files: Object.fromEntries(secrets.map((name) => [functionSecretKey(name), name])),
          },
  } satisfies RayClusterConfig;
}
