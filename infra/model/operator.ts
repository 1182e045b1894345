import type { Config } from "../clouds/schema.ts";
import { gkeRayAddon, kuberay, ray } from "../versions.ts";
import { isAtLeast } from "./semver.ts";

/** A judgement about one version: refused, doubtful, or undefined when it is fine. */
export interface VersionFinding {
  readonly level: "error" | "warning";
  readonly problem: string;
  readonly remedy: string;
}

/**
 * The KubeRay version that the stack will run with: configured, paired with GKE's add-on, or the default.
 * Undefined when it cannot be known, which the checks refuse.
 */
export function operatorVersion(config: Config): string | undefined {
  const { mode, version } = config.operator;
  switch (mode) {
    case "helm":
      return version ?? kuberay.default;
    case "existing":
      return version;
    case "addon":
      return version ?? (config.cloud === "gcp" ? gkeRayAddon.pairings[config.kubernetesVersion] : undefined);
  }
}

/** First operator version that knows a field; below it the field is left out rather than silently dropped. */
const since = { autoscalerVersion: "1.4.0", authOptions: "1.5.1", upgradeStrategy: "1.6.0" } as const;
export type OperatorFeature = keyof typeof since;

export function operatorFeatures(config: Config): Record<OperatorFeature, boolean> {
  const version = operatorVersion(config) ?? kuberay.minimum;
  const has = (feature: OperatorFeature) => isAtLeast(version, since[feature]);
  return {
    autoscalerVersion: has("autoscalerVersion"),
    authOptions: has("authOptions"),
    upgradeStrategy: has("upgradeStrategy"),
  };
}

export function judgeOperator(version: string): VersionFinding | undefined {
  if (!isAtLeast(version, kuberay.minimum)) {
    return {
      level: "error",
      problem: `the runtime needs KubeRay ${kuberay.minimum} or later`,
      remedy: `write "${kuberay.default}"`,
    };
  }
  if (!isAtLeast(version, kuberay.recommended)) {
    return {
      level: "warning",
      problem: `below ${kuberay.recommended} KubeRay ignores the autoscaler version that the runtime's client asks for`,
      remedy: `write "${kuberay.default}" unless the cluster cannot have it`,
    };
  }
  return undefined;
}

export function judgeRay(version: string): VersionFinding | undefined {
  if (!isAtLeast(version, ray.minimum)) {
    return {
      level: "error",
      problem: `the runtime needs Ray ${ray.minimum} or later`,
      remedy: `write "${ray.default}"`,
    };
  }
  if (!isAtLeast(version, ray.recommended)) {
    return {
      level: "warning",
      problem: `CVE-2026-27482 is fixed in Ray ${ray.recommended}`,
      remedy: `write "${ray.default}" as soon as the client is at that version too`,
    };
  }
  return undefined;
}
