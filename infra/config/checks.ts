import type { Config } from "../clouds/schema.ts";
import { checkNetwork, checkPartitions } from "./checks/network.ts";
import { checkFit, checkPools } from "./checks/nodes.ts";
import { checkVersions } from "./checks/versions.ts";
import { checkCloudLimits, checkNames, checkQuota, checkSurroundings, checkTableService } from "./checks/workloads.ts";
import type { ParseOptions } from "./parse.ts";
import type { Finding } from "./report.ts";

/** Everything that one key alone cannot tell. */
export function checkConfig(config: Config, { secrets = new Set(), today = new Date() }: ParseOptions): Finding[] {
  return [
    ...checkVersions(config, today),
    ...checkNetwork(config),
    ...checkPartitions(config),
    ...checkPools(config),
    ...checkFit(config),
    ...checkNames(config),
    ...checkCloudLimits(config),
    ...checkQuota(config),
    ...checkTableService(config, secrets),
    ...checkSurroundings(config),
  ];
}
