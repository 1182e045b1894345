import type { ClusterModel } from "../model/cluster.ts";
import { checkPods } from "./checks/pods.ts";
import { checkPools } from "./checks/pools.ts";
import { checkVersions } from "./checks/versions.ts";
import {
  checkCatalog,
  checkFunctions,
  checkMaintenance,
  checkNames,
  checkOrphanCleanup,
  checkQuota,
  checkTableService,
} from "./checks/workloads.ts";
import { checkEgress } from "./egress.ts";
import type { CheckContext } from "./parse.ts";
import type { Finding } from "./report.ts";
import type { SharedConfig } from "./shared.ts";

/** The checks between keys that every cloud has. Each cloud adds its own in `clouds/<cloud>/checks.ts`. */
export function sharedChecks(config: SharedConfig, cluster: ClusterModel, { secrets }: CheckContext): Finding[] {
  return [
    ...checkVersions(config, cluster),
    ...checkPools(cluster),
    ...checkPods(config, cluster),
    ...checkNames(config, cluster),
    ...checkEgress(config.egress, cluster),
    ...checkQuota(config, cluster),
    ...checkTableService(config, secrets),
    ...checkOrphanCleanup(config),
    ...checkMaintenance(config),
    ...checkFunctions(config, secrets),
    ...checkCatalog(config),
  ];
}
