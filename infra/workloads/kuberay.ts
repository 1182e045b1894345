import type * as pulumi from "@pulumi/pulumi";
import type { Platform } from "../clouds/index.ts";
import type { Config } from "../config/load.ts";
import { operatorVersion } from "../model/operator.ts";
import { KubeRayCrds } from "./kuberay-crds.ts";
import { KubeRayOperator } from "./kuberay-operator.ts";
import { Namespace } from "./namespace.ts";

export interface OperatorPlacement {
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Version of the Pod Security Standards for its namespace. */
  readonly policyVersion: string;
  /** The runtime's namespace, which must outlive the operator. */
  readonly after: pulumi.Resource;
}

/**
 * KubeRay as the configuration wants it: by Helm with its definitions apart, or not at all when the cloud's add-on or
 * somebody else brings it. Two operators in one cluster undo each other's work, so there is no way to have both.
 * @returns what a RayCluster must wait for and be deleted before
 */
export function createOperator(
  config: Config,
  platform: Platform,
  { nodeSelector, policyVersion, after }: OperatorPlacement,
  parent: pulumi.Resource,
): pulumi.Resource[] {
  const version = operatorVersion(config);
  if (config.operator.mode !== "helm" || version === undefined) return [];
  const { chart, image, crds: base, namespace } = config.operator;

  const home = new Namespace(
    "operator-namespace",
    { name: namespace, enforce: "restricted", policyVersion },
    { parent },
  );
  // They wait for nothing but the API server, and stay on destroy: what counts or watches their kinds needs minutes to see them.
  const crds = new KubeRayCrds("kuberay-crds", { base, version }, { parent, provider: platform.crdProvider });
  const operator = new KubeRayOperator(
    "kuberay-operator",
    {
      chart,
      version,
      image: { repository: image, tag: `v${version}` },
      namespace: home.namespaceName,
      nodeSelector,
    },
    { parent, dependsOn: [crds, after] },
  );
  return [operator, crds];
}
