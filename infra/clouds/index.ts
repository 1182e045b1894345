import type { Cloud } from "./cloud.ts";
import type { Config, Secrets } from "./schema.ts";

/** Creates the configured cloud. Only its own module is loaded, because the other clouds' SDKs are large. */
export async function createCloud(config: Config, secrets: Secrets): Promise<Cloud> {
  switch (config.cloud) {
    case "aws":
      return (await import("./aws/index.ts")).createAws(config, secrets);
    case "gcp":
      return (await import("./gcp/index.ts")).createGcp(config, secrets);
    case "kubeconfig":
      return (await import("./existing/index.ts")).createExisting(config, secrets);
  }
}
