/** Enumerated values against the clouds' own SDKs, which are generated from their APIs. */

import { _InstanceType, VolumeType } from "@aws-sdk/client-ec2";
import {
  AccessScopeType,
  AMITypes,
  AuthenticationMode,
  CapacityTypes,
  IpFamily,
  LogType,
  ResolveConflicts,
  SupportType,
  TaintEffect,
} from "@aws-sdk/client-eks";
import protos from "@google-cloud/container/build/protos/protos.json" with { type: "json" };
import type { Capture } from "../../../../infra/offline-plan/capture.ts";
import { leaves, withoutIndexes } from "../../../../infra/offline-plan/leaves.ts";
import { mask } from "../../../../infra/offline-plan/values.ts";
import { describe } from "../../../support/infra/graph.ts";

interface Node {
  readonly nested?: Readonly<Record<string, Node>>;
  readonly values?: Readonly<Record<string, number>>;
}

/** The names of an enumeration in the published protocol, by its path below google.container.v1. */
function google(...path: string[]): string[] {
  const found = ["google", "container", "v1", ...path].reduce<Node | undefined>(
    (node, name) => node?.nested?.[name],
    protos as Node,
  );
  if (found?.values === undefined) throw new Error(`${path.join(".")} is no enumeration of google.container.v1`);
  return Object.keys(found.values).filter((name) => !name.endsWith("UNSPECIFIED"));
}

const of = (values: Readonly<Record<string, string>>): string[] => Object.values(values);

/** Type and path to the values that the API takes. */
export const enumerations: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "aws:eks/cluster:Cluster": {
    "accessConfig.authenticationMode": of(AuthenticationMode),
    enabledClusterLogTypes: of(LogType),
    "upgradePolicy.supportType": of(SupportType),
    "kubernetesNetworkConfig.ipFamily": of(IpFamily),
  },
  "aws:eks/nodeGroup:NodeGroup": {
    amiType: of(AMITypes),
    capacityType: of(CapacityTypes),
    instanceTypes: of(_InstanceType),
    "taints.effect": of(TaintEffect),
  },
  "aws:eks/addon:Addon": {
    resolveConflictsOnCreate: of(ResolveConflicts),
    resolveConflictsOnUpdate: of(ResolveConflicts),
  },
  "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": { "accessScope.type": of(AccessScopeType) },
  // The API lists no values for it: docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html.
  "aws:eks/accessEntry:AccessEntry": {
    type: ["STANDARD", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX"],
  },
  "aws:ec2/launchTemplate:LaunchTemplate": {
    "blockDeviceMappings.ebs.volumeType": of(VolumeType),
    "metadataOptions.httpTokens": ["required"],
  },
  "gcp:container/cluster:Cluster": {
    "releaseChannel.channel": google("ReleaseChannel", "Channel"),
    datapathProvider: google("DatapathProvider"),
    "loggingConfig.enableComponents": google("LoggingComponentConfig", "Component"),
    "monitoringConfig.enableComponents": google("MonitoringComponentConfig", "Component"),
    "databaseEncryption.state": google("DatabaseEncryption", "State"),
    "securityPostureConfig.mode": google("SecurityPostureConfig", "Mode"),
    "securityPostureConfig.vulnerabilityMode": google("SecurityPostureConfig", "VulnerabilityMode"),
  },
  "gcp:container/nodePool:NodePool": {
    "nodeConfig.workloadMetadataConfig.mode": google("WorkloadMetadataConfig", "Mode"),
    "nodeConfig.taints.effect": google("NodeTaint", "Effect"),
    "nodeConfig.guestAccelerators.gpuDriverInstallationConfig.gpuDriverVersion": google(
      "GPUDriverInstallationConfig",
      "GPUDriverVersion",
    ),
    "autoscaling.locationPolicy": google("NodePoolAutoscaling", "LocationPolicy"),
    "upgradeSettings.strategy": google("NodePoolUpdateStrategy"),
  },
};

/** @returns a sentence for each value that the API does not take, and how many were compared */
export function unknownValues({ resources }: Pick<Capture, "resources">): { findings: string[]; compared: number } {
  const findings: string[] = [];
  let compared = 0;
  for (const resource of resources) {
    const properties = enumerations[resource.type] ?? {};
    for (const [path, leaf] of leaves(mask(resource.inputs))) {
      const allowed = properties[withoutIndexes(path)];
      if (allowed === undefined || leaf === "[]") continue;
      compared += 1;
      if (!allowed.includes(String(leaf))) findings.push(`${describe(resource)} ${path}: the API knows no ${leaf}`);
    }
  }
  return { findings, compared };
}
