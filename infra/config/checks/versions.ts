import type { ClusterModel } from "../../model/cluster.ts";
import { judgeOperator, judgeRay, type VersionFinding } from "../../model/operator.ts";
import { compareVersions, isAtLeast } from "../../model/semver.ts";
import { type KubernetesRange, kuberay, rayHistory, ray as rayVersions } from "../../versions.ts";
import { errorIf, type Finding, warningIf } from "../report.ts";
import type { SharedConfig } from "../shared.ts";

/** The operator's and Ray's versions are supported, and work together. */
export function checkVersions({ operator, ray }: SharedConfig, { operatorVersion }: ClusterModel): Finding[] {
  const unsupported = [
    ...(isAtLeast(ray.version, "2.52") ? [] : [`Ray 2.52 (ray.version is ${ray.version})`]),
    ...(isAtLeast(operatorVersion ?? "0.0", "1.5.1") ? [] : [`KubeRay 1.5.1 (the operator is ${operatorVersion})`]),
  ];
  return [
    ...errorIf(
      operator.mode === "existing" && operator.version === undefined,
      "operator.version",
      "the key is required with operator.mode existing",
      "write the version of the operator that runs in the cluster",
    ),
    ...judged("operator.version", operatorVersion, judgeOperator),
    ...judged("ray.version", ray.version, judgeRay),
    ...checkNewest("operator.version", operatorVersion, kuberay.default),
    ...checkNewest("ray.version", ray.version, rayVersions.default),
    ...errorIf(
      ray.history.enabled && !isAtLeast(ray.version, rayHistory.minimumRay),
      "ray.history.enabled",
      `the history server needs Ray ${rayHistory.minimumRay} or later, and ray.version is ${ray.version}`,
      `write ray.version: "${rayHistory.minimumRay}" or later, and the same in the client, or ray.history.enabled: false`,
    ),
    ...warningIf(
      ray.history.enabled && ray.logsToStderr,
      "ray.logsToStderr",
      "Ray writes no log files, and its history has none",
      "write false",
    ),
    ...errorIf(
      ray.auth === "token" && unsupported.length > 0,
      "ray.auth",
      `token authentication needs ${unsupported.join(" and ")}`,
      'raise the version, or write "none"',
    ),
  ];
}

/** A later minor may work; another major has another API. */
function checkNewest(key: string, version: string | undefined, newest: string): Finding[] {
  if (version === undefined || compareVersions(minorOf(version), minorOf(newest)) <= 0) return [];
  if (version.split(".")[0] !== newest.split(".")[0])
    return errorIf(true, [key, version], `no such version is known, the newest is ${newest}`, `write "${newest}"`);
  const problem = `newer than ${newest}, the version that this release is tested with`;
  return warningIf(true, [key, version], problem, `write "${newest}", or try it in a development stack first`);
}

const minorOf = (version: string): string => version.split(".").slice(0, 2).join(".");

function judged(
  key: string,
  version: string | undefined,
  judge: (version: string) => VersionFinding | undefined,
): Finding[] {
  const finding = version === undefined ? undefined : judge(version);
  return finding === undefined ? [] : [{ ...finding, key, value: version }];
}

/**
 * A provider supports the Kubernetes version, and does so for at least 60 more days.
 * @param accepted a version outside the range that is only warned about
 */
export function checkKubernetes(version: string, range: KubernetesRange, today: Date, accepted = false): Finding[] {
  const key = "kubernetesVersion";
  const supported = Object.keys(range.supported).sort(compareVersions);
  const end = range.supported[version]?.standardSupportEnds;
  if (end === undefined) {
    const find = accepted ? warningIf : errorIf;
    const problem = "the provider's standard support does not include it";
    return find(true, key, problem, `write one of ${supported.join(", ")}`);
  }
  const days = Math.floor((Date.parse(end) - today.getTime()) / 86_400_000);
  const problem = `its standard support ${days < 0 ? "ended" : "ends"} on ${end}`;
  return warningIf(days < 60, key, problem, `upgrade to ${supported.at(-1)}`);
}
