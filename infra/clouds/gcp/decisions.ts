import { type ClusterModel, createdCluster } from "../../model/cluster.ts";
import { operatorVersion } from "../../model/operator.ts";
import { gkeRayAddon } from "../../versions.ts";
import type { CloudDecisions } from "../cloud.ts";
import { check } from "./checks.ts";
import { type Accelerator, gcpMachines } from "./machines.ts";
import { dockerHubCache } from "./registry-names.ts";
import type { GcpConfig } from "./schema.ts";
import { verification } from "./verify.ts";

export const gcpDecisions: CloudDecisions<GcpConfig> = {
  placeholders: { region: "xx-placeholder1", project: "placeholder", bucket: { name: "placeholder" } },
  clusterModel,
  check,
  verification,
};

type Pool = GcpConfig["nodes"]["cpu"] & { readonly accelerator?: Accelerator | undefined };

function clusterModel(config: GcpConfig): ClusterModel {
  return createdCluster<Pool>(config, {
    machines: gcpMachines,
    machineKey: "machineType",
    machineNames: ({ machineType }) => [machineType],
    attachedGpus: ({ accelerator }) => accelerator?.count ?? 0,
    operatorVersion: operatorVersion(config.operator, gkeRayAddon.pairings[config.kubernetesVersion]),
    dockerHubCache: config.dockerHub.cache ? dockerHubCache(config) : undefined,
    // GKE installs its own, and two plugins conflict.
    devicePlugin: undefined,
  });
}
