import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { storageAddress } from "../../service/contract.ts";
import type { Cloud } from "../clouds/cloud.ts";
import type { Config } from "../clouds/schema.ts";
import { ownsFunctionsCluster, runsFunctions } from "../config/functions.ts";
import { runsMaintenance } from "../config/maintenance.ts";
import { managedBy } from "../kubernetes/labels.ts";
import { historyServer } from "../model/history.ts";
import {
  functionsCluster,
  functionsRunner,
  maintenanceAccount,
  orphanCleanupAccount,
  tableServiceSelector,
} from "../model/names.ts";
import { maintainsOnRay } from "./maintenance.ts";
import type { NetworkPolicyRequest, PolicySpecs, Scraper } from "./network-policy-specs.ts";

/** The allowed connections in a namespace. The network plug-in must enforce them, as it does on EKS and GKE here. */
export class NetworkPolicies extends pulumi.ComponentResource {
  constructor(
    name: string,
    args: { readonly namespace: pulumi.Input<string>; readonly specs: PolicySpecs },
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super("lakehead:kubernetes:NetworkPolicies", name, {}, opts);
    for (const [policy, spec] of Object.entries(args.specs)) {
      new kubernetes.networking.v1.NetworkPolicy(
        `${name}-${policy}`,
        { metadata: { name: policy, namespace: args.namespace, labels: managedBy }, spec },
        { parent: this },
      );
    }
  }
}

/** The connections that a stack needs. */
export function policyRequest(config: Config, cloud: Cloud): NetworkPolicyRequest {
  const { tableService, operator, orphanCleanup } = config;
  const { egressCidrs, packageIndex } = tableService.functions;
  const { issuer, jwksUrl } = tableService.auth;
  const { proxy } = config.egress;
  const stores = [
    ...Object.entries(cloud.database.storageOptions).flatMap(([option, value]) =>
      storageAddress.test(option) ? [value] : [],
    ),
    ...(proxy === undefined ? [] : [proxy]),
  ];
  return {
    tableService: tableService.enabled
      ? {
          selector: tableServiceSelector,
          exposure: tableService.exposure.mode,
          probeSources: cloud.exposure.probeSources,
          calls: [issuer, jwksUrl, ...stores].filter((url) => url !== undefined),
        }
      : undefined,
    // A cloud's add-on runs its operator outside the cluster.
    operatorNamespace: operator.mode === "addon" ? undefined : operator.namespace,
    cleanup: orphanCleanup.enabled ? orphanCleanupAccount : undefined,
    maintenance: runsMaintenance(config)
      ? { name: maintenanceAccount, calls: stores, ray: maintainsOnRay(config, cloud) }
      : undefined,
    functions: runsFunctions(config)
      ? {
          name: functionsRunner,
          calls: [...stores, ...(packageIndex === undefined ? [] : [packageIndex])],
          own: ownsFunctionsCluster(config)
            ? {
                cluster: functionsCluster,
                cidrs: [...cloud.functions.privateServices, ...egressCidrs],
                metadataServer: cloud.functions.metadataServer,
              }
            : undefined,
        }
      : undefined,
    history: cloud.history === undefined ? undefined : historyServer,
    scraper: scraperOf(config.monitoring, cloud),
  };
}

/** The pods that read metrics; undefined where the user names them by the label of their namespace. */
export function scraperOf(monitoring: Config["monitoring"], { managedMetrics }: Cloud): Scraper | undefined {
  if (monitoring.mode === "none") return undefined;
  if (managedMetrics?.kinds === "google")
    return { namespace: "gmp-system", labels: { "app.kubernetes.io/name": "collector" } };
  // The operator's own labels: applicationNameLabelValue in its pkg/prometheus/server and pkg/prometheus/agent.
  const name = managedMetrics === undefined ? "prometheus" : "prometheus-agent";
  return {
    namespace: monitoring.namespace,
    labels: monitoring.mode === "existing" ? monitoring.prometheusLabels : { "app.kubernetes.io/name": name },
  };
}
