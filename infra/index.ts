import { createCloud } from "./clouds/index.ts";
import { stackDefinition } from "./clouds/schema.ts";
import { loadConfig } from "./config/load.ts";
import { createWorkloads } from "./workloads/index.ts";

/** The Pulumi program: configuration, then the cloud, then the workloads. */
export default async function lakehead() {
  const { config, secrets } = loadConfig(stackDefinition);
  const cloud = await createCloud(config, secrets);
  const workloads = createWorkloads(config, secrets, cloud);
  const { tableServiceAddress } = workloads;
  const balanced = tableServiceAddress === undefined ? {} : cloud.useBalancer?.(tableServiceAddress);
  return {
    clusterName: cloud.clusterName,
    kubeconfig: cloud.kubeconfig,
    databaseUri: cloud.database.uri,
    namespace: workloads.namespace,
    clientParameters: workloads.clientParameters,
    clientSnippet: workloads.clientSnippet,
    clientRequirements: workloads.clientRequirements,
    clientCredentials: cloud.clientCredentials + workloads.catalogCredentials,
    catalogParameters: workloads.catalogParameters,
    rayAddress: workloads.rayAddress,
    functionsRayAddress: workloads.functionsRayAddress,
    tableServiceUrl: workloads.tableServiceUrl,
    tableServiceAddress,
    ...cloud.outputs,
    ...balanced,
  };
}
