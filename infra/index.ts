import { createPlatform } from "./clouds/index.ts";
import { loadConfig } from "./config/load.ts";
import { createWorkloads } from "./workloads/index.ts";

/** The Pulumi program: configuration, then the platform of the chosen cloud, then the workloads on it. */
export default async function lakehead() {
  const { config, secrets } = loadConfig();
  const platform = await createPlatform(config, secrets);
  const workloads = createWorkloads(config, secrets, platform);
  return {
    clusterName: platform.clusterName,
    kubeconfig: platform.kubeconfig,
    databaseUri: platform.database.uri,
    namespace: workloads.namespace,
    clientParameters: workloads.clientParameters,
    clientSnippet: workloads.clientSnippet,
    rayAddress: workloads.rayAddress,
    tableServiceUrl: workloads.tableServiceUrl,
    tableServiceAddress: workloads.tableServiceAddress,
    ...platform.outputs,
  };
}
