import type { SharedConfig } from "./shared.ts";

/** The keys of one cloud's configuration among these. */
interface OneCloud {
  /** AWS alone; GKE sends the output of pods to Cloud Logging. */
  readonly podLogs?: { readonly enabled: boolean };
  readonly cloud: string;
  readonly budget?: object | undefined;
}

/** What costs, or what not every cluster needs, and is therefore off until its key turns it on. */
export const whatIsOff = ({ monitoring, ray, podLogs, cloud, budget }: SharedConfig & OneCloud): string[] => [
  ...(monitoring.mode === "none" ? ["metrics, alerts and dashboards (monitoring.mode)"] : []),
  ...("openCost" in monitoring && !monitoring.openCost.enabled ? ["costs of pods (monitoring.openCost)"] : []),
  ...(podLogs?.enabled === false ? ["logs that outlive their pods (podLogs.enabled)"] : []),
  ...(cloud !== "kubeconfig" && budget === undefined ? ["a budget with alerts (budget)"] : []),
  ...(ray.logsToStderr ? [] : ["Ray's own logs among those of its pods (ray.logsToStderr)"]),
];
