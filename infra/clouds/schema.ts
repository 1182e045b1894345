import { z } from "zod";
import { sharedChecks } from "../config/checks.ts";
import type { SecretValues } from "../config/load.ts";
import type { StackDefinition } from "../config/parse.ts";
import type { SharedConfig } from "../config/shared.ts";
import type { ClusterModel } from "../model/cluster.ts";
import { workersWait } from "../model/queue.ts";
import { awsDecisions } from "./aws/decisions.ts";
import { type AwsConfig, awsSchema } from "./aws/schema.ts";
import type { CloudDecisions, VerificationFacts } from "./cloud.ts";
import { existingDecisions } from "./existing/decisions.ts";
import { type ExistingConfig, existingSchema, existingSecrets } from "./existing/schema.ts";
import { gcpDecisions } from "./gcp/decisions.ts";
import { type GcpConfig, gcpSchema } from "./gcp/schema.ts";

/** The keys of one cloud's configuration among these. */
interface OneCloud {
  /** AWS alone; GKE sends the output of pods to Cloud Logging. */
  readonly podLogs?: { readonly enabled: boolean };
  readonly cloud: string;
  readonly budget?: object | undefined;
  readonly nodes: { readonly cpu?: Workers | undefined; readonly gpu?: Workers | undefined };
}

/** A pool of workers; of an existing cluster, its size alone. */
interface Workers {
  readonly enabled?: boolean;
  readonly fallback?: readonly object[];
  readonly [other: string]: unknown;
}

/** The keys of the pools of workers that have no fallback. */
const withoutFallback = (nodes: OneCloud["nodes"]): string[] =>
  Object.entries({ cpu: nodes.cpu, gpu: nodes.gpu }).flatMap(([key, pool]) =>
    pool?.enabled !== false && pool?.fallback?.length === 0 ? [`nodes.${key}.fallback`] : [],
  );

/** What costs, or what not every cluster needs, and is therefore off until its key turns it on. */
const whatIsOff = ({ monitoring, ray, quota, podLogs, cloud, budget, nodes }: SharedConfig & OneCloud): string[] => [
  ...(monitoring.mode === "none" ? ["metrics, alerts and dashboards (monitoring.mode)"] : []),
  ...("openCost" in monitoring && !monitoring.openCost.enabled ? ["costs of pods (monitoring.openCost)"] : []),
  ...(podLogs?.enabled === false ? ["logs that outlive their pods (podLogs.enabled)"] : []),
  ...(cloud !== "kubeconfig" && budget === undefined ? ["a budget with alerts (budget)"] : []),
  ...(withoutFallback(nodes).length > 0 ? [`machines to fall back to (${withoutFallback(nodes).join(", ")})`] : []),
  ...(workersWait({ quota }) ? [] : ["a queue of workers beyond the quota (quota.queue.mode)"]),
  ...(ray.history.enabled || cloud === "kubeconfig" ? [] : ["Ray's history when a RayCluster is gone (ray.history)"]),
  ...(ray.logsToStderr || ray.history.enabled ? [] : ["Ray's own logs among those of its pods (ray.logsToStderr)"]),
];

/** A stack's whole configuration, every key under the project's namespace (`lakehead:<key>`). */
export const configSchema = z.discriminatedUnion("cloud", [awsSchema, gcpSchema, existingSchema], {
  error: "one of aws, gcp, kubeconfig",
});
export type Config = z.output<typeof configSchema>;
export type CloudName = Config["cloud"];
export type { AwsConfig, ExistingConfig, GcpConfig };

const decisions: Readonly<Record<CloudName, CloudDecisions<Config>>> = {
  aws: awsDecisions,
  gcp: gcpDecisions,
  kubeconfig: existingDecisions,
};

/** Keys that are set by `pulumi config set --secret`, with their descriptions. */
export const secretKeys = {
  staticTokens:
    "Static bearer tokens of the table service, in place of `tableService.auth.issuer`, in the format of LAKEHEAD_AUTH_STATIC_TOKENS",
  dockerHubToken:
    "Access token of the account `dockerHub.username`, with permission to read (cloud: aws, gcp with dockerHub.cache)",
  functionSecrets:
    "Values of the secrets that `tableService.functions.secrets` names, as a JSON object of texts by name",
  ...existingSecrets,
} as const;
export type SecretKey = keyof typeof secretKeys;
export type Secrets = SecretValues<SecretKey>;

export function clusterModel(config: Config): ClusterModel {
  return decisions[config.cloud].clusterModel(config);
}

/** A stack's configuration, and what `verify/` must know that follows from it. */
export interface PlannedStack {
  readonly config: Config;
  readonly cluster: ClusterModel;
  readonly facts: VerificationFacts;
}

export function plannedStack(config: Config): PlannedStack {
  return { config, cluster: clusterModel(config), facts: decisions[config.cloud].verification(config) };
}

export const stackDefinition: StackDefinition<Config, SecretKey> = {
  namespace: "lakehead",
  page: "docs/stack-configuration.md",
  schema: configSchema,
  secrets: secretKeys,
  placeholders: (cloud) => Object.entries(decisions).find(([name]) => name === cloud)?.[1].placeholders ?? {},
  off: whatIsOff,
  check: (config, context) => [
    ...sharedChecks(config, clusterModel(config), context),
    ...decisions[config.cloud].check(config, context),
  ],
};
