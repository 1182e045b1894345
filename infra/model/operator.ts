import { client, kuberay, ray } from "../versions.ts";
import { isAtLeast } from "./semver.ts";

/** Why one version is refused or doubtful. */
export interface VersionFinding {
  readonly level: "error" | "warning";
  readonly problem: string;
  readonly remedy: string;
}

export interface OperatorSettings {
  readonly mode: "helm" | "addon" | "existing";
  readonly version?: string | undefined;
}

/**
 * The KubeRay version that runs with the stack.
 * @param paired the version that the cloud's add-on installs, where it is published
 * @returns undefined when the version is unknown, which the checks refuse
 */
export function operatorVersion({ mode, version }: OperatorSettings, paired?: string): string | undefined {
  return version ?? { helm: kuberay.default, addon: paired, existing: undefined }[mode];
}

/** The first operator version that knows a field. An older operator drops the field silently, so it is left out. */
const since = { autoscalerVersion: "1.4.0", authOptions: "1.5.1", upgradeStrategy: "1.6.0" } as const;
export type OperatorFeature = keyof typeof since;

export function operatorFeatures(version: string = kuberay.minimum): Record<OperatorFeature, boolean> {
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
      problem: `KubeRay before ${kuberay.recommended} ignores the autoscaler version that the runtime's client requests`,
      remedy: `write "${kuberay.default}" unless another application of the cluster needs the old version`,
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
      problem: `CVE-2026-27482 is fixed in Ray ${ray.recommended}, and geneva ${client.geneva} needs Ray ${client.minimumRay}`,
      remedy: `write "${ray.default}"`,
    };
  }
  return undefined;
}
