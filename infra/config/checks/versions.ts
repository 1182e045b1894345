import type { Config } from "../../clouds/schema.ts";
import { judgeOperator, judgeRay, operatorVersion } from "../../model/operator.ts";
import { compareVersions, isAtLeast } from "../../model/semver.ts";
import { eks, gke, gkeRayAddon, type KubernetesRange } from "../../versions.ts";
import { doubt, type Finding, refuse } from "../report.ts";

/** Kubernetes, operator and Ray within what is supported and together. */
export function checkVersions(config: Config, today: Date): Finding[] {
  return [
    ...(config.cloud === "aws" ? checkKubernetes(config.kubernetesVersion, eks, today, false) : []),
    ...(config.cloud === "gcp"
      ? checkKubernetes(config.kubernetesVersion, gke, today, config.operator.mode === "addon")
      : []),
    ...checkOperator(config),
    ...judged("ray.version", config.ray.version, judgeRay(config.ray.version)),
    ...checkToken(config),
  ];
}

/**
 * @param paired whether a version outside the range is still accepted because GKE's add-on has a pairing for it
 */
function checkKubernetes(version: string, range: KubernetesRange, today: Date, paired: boolean): Finding[] {
  const key = "kubernetesVersion";
  const facts = range.supported[version];
  const all = Object.keys(range.supported).sort(compareVersions);
  const remedy = `write one of ${all.join(", ")}`;
  if (facts === undefined) {
    const level = paired && version in gkeRayAddon.pairings ? "warning" : "error";
    return [{ level, key, value: version, problem: "the provider's standard support does not cover it", remedy }];
  }
  const end = facts.standardSupportEnds;
  const days = Math.floor((Date.parse(end) - today.getTime()) / 86_400_000);
  if (days >= 60) return [];
  const problem = days < 0 ? `its standard support ended on ${end}` : `its standard support ends on ${end}`;
  return [doubt(key, version, problem, `move to ${all.at(-1)} in time`)];
}

function checkOperator(config: Config): Finding[] {
  const { mode, version } = config.operator;
  const key = "operator.version";
  if (mode === "existing" && version === undefined) {
    const remedy = "write the version of the operator that runs in the cluster";
    return [refuse(key, undefined, "needed with operator.mode existing", remedy)];
  }
  if (mode === "addon" && config.cloud === "gcp") {
    const paired = gkeRayAddon.pairings[config.kubernetesVersion];
    const pairs = Object.entries(gkeRayAddon.pairings).map(([minor, operator]) => `${minor} with ${operator}`);
    if (paired === undefined && version === undefined) {
      return [
        refuse(
          key,
          undefined,
          `no operator version is published for GKE ${config.kubernetesVersion}'s add-on (only ${pairs.join(", ")})`,
          "use operator.mode helm, or write the version that the add-on of your clusters brings",
        ),
      ];
    }
    if (paired !== undefined && version !== undefined && compareVersions(minor(version), paired) !== 0) {
      const problem = `GKE ${config.kubernetesVersion}'s add-on brings ${paired}`;
      return [refuse(key, version, problem, `leave it out, or write "${paired}"`)];
    }
  }
  const effective = operatorVersion(config);
  return effective === undefined ? [] : judged(key, effective, judgeOperator(effective));
}

function checkToken(config: Config): Finding[] {
  if (config.ray.auth === "none") return [];
  const operator = operatorVersion(config) ?? "0.0";
  const missing = [
    ...(isAtLeast(config.ray.version, "2.52") ? [] : [`Ray 2.52 (ray.version is ${config.ray.version})`]),
    ...(isAtLeast(operator, "1.5.1") ? [] : [`KubeRay 1.5.1 (the operator's is ${operator})`]),
  ];
  if (missing.length === 0) return [];
  const problem = `token authentication needs ${missing.join(" and ")}`;
  return [refuse("ray.auth", "token", problem, 'raise them, or write "none"')];
}

function minor(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

function judged(key: string, value: string, judgement: Omit<Finding, "key" | "value"> | undefined): Finding[] {
  return judgement === undefined ? [] : [{ ...judgement, key, value }];
}
