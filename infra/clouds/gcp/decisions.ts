import { type ClusterModel, createdCluster } from "../../model/cluster.ts";
import { operatorVersion } from "../../model/operator.ts";
import { type RayRole, rayRoles, roleFacts } from "../../model/roles.ts";
import { gkeRayAddon } from "../../versions.ts";
import type { CloudDecisions, VerificationFacts } from "../cloud.ts";
import { check, rangesOf } from "./checks.ts";
import { dockerHubCache } from "./images/registry-names.ts";
import { gcpMachines } from "./nodes/machines.ts";
import { fallbacksOf, type PoolSettings } from "./nodes/settings.ts";
import type { GcpConfig } from "./schema.ts";

export const gcpDecisions: CloudDecisions<GcpConfig> = {
  placeholders: { region: "xx-placeholder1", project: "placeholder", bucket: { name: "placeholder" } },
  clusterModel,
  check,
  verification,
};

function clusterModel(config: GcpConfig): ClusterModel {
  return createdCluster<PoolSettings>(config, {
    machines: gcpMachines,
    machineKey: "machineType",
    machineNames: ({ machineType }) => [machineType],
    fallbacks: fallbacksOf,
    ...(config.computeClasses ? { computeClasses: classedRoles(config) } : {}),
    attachedGpus: ({ accelerator }) => accelerator?.count ?? 0,
    operatorVersion: operatorVersion(config.operator, gkeRayAddon.pairings[config.kubernetesVersion]),
    dockerHubCache: config.dockerHub.cache ? dockerHubCache(config) : undefined,
    // Private Google Access reaches Google's APIs from the network of the stack.
    ownNetworks:
      config.network.mode === "create" ? [...Object.values(rangesOf(config.network)), ".googleapis.com"] : [],
    // GKE installs its own, and two plugins conflict.
    devicePlugin: undefined,
  });
}

/** The roles with more than one pool. */
const classedRoles = ({ nodes }: GcpConfig): RayRole[] =>
  rayRoles.filter((role) => fallbacksOf(nodes[roleFacts[role].key]).length > 0);

function verification(): VerificationFacts {
  return {
    ownKubeconfig: undefined,
    ownsNodes: true,
    identityOutput: "runtimeServiceAccount",
    clientSubject: ({ clientServiceAccount }) =>
      typeof clientServiceAccount === "string"
        ? { user: clientServiceAccount, groups: ["system:authenticated"] }
        : undefined,
    gpuRemedy: "GKE installs the driver: kubectl -n kube-system get pods -l k8s-app=nvidia-gpu-device-plugin",
    ownNamespaces: /^(kube-system|gmp-.+|gke-.+)$/,
  };
}
