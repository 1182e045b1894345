import { type ClusterModel, createdCluster } from "../../model/cluster.ts";
import { operatorVersion } from "../../model/operator.ts";
import type { CloudDecisions } from "../cloud.ts";
import { anyAccount, check } from "./checks.ts";
import { dnsSuffixOf } from "./identity/arn.ts";
import { dockerHubCache } from "./images/docker-hub-names.ts";
import { serviceCidr } from "./network/subnets.ts";
import { awsMachines } from "./nodes/machines.ts";
import type { AwsConfig } from "./schema.ts";
import { verification } from "./verify.ts";

export const awsDecisions: CloudDecisions<AwsConfig> = {
  placeholders: {
    region: "xx-placeholder-1",
    account: anyAccount,
    deployerArn: `arn:aws:iam::${anyAccount}:role/placeholder`,
    bucket: { name: "placeholder" },
  },
  clusterModel,
  check,
  verification,
};

type Nodes = AwsConfig["nodes"];
type Pool = Omit<Nodes["cpu"], "fallback"> & { readonly fallback?: Nodes["cpu"]["fallback"] };

function clusterModel(config: AwsConfig): ClusterModel {
  return createdCluster<Pool>(config, {
    machines: awsMachines,
    machineKey: "instanceTypes",
    machineNames: ({ instanceTypes }) => instanceTypes,
    fallbacks: ({ fallback = [], ...pool }) =>
      fallback.map((one) => ({ ...pool, size: undefined, ...one, min: 0, max: one.max ?? pool.max })),
    operatorVersion: operatorVersion(config.operator),
    dockerHubCache: config.dockerHub.cache ? dockerHubCache(config) : undefined,
    // The gateway endpoint of S3 costs nothing, and a proxy for all bytes of the tables would.
    ownNetworks: [
      config.network.cidr,
      serviceCidr(config.network.cidr),
      `s3.${config.region}.${dnsSuffixOf(config.region)}`,
    ],
    devicePlugin: config.devicePlugin.mode === "install" ? config.devicePlugin : undefined,
  });
}
