import type * as pulumi from "@pulumi/pulumi";
import type { Cloud } from "../clouds/cloud.ts";
import type { Config } from "../clouds/schema.ts";
import { KubeRayCrds } from "./kuberay-crds.ts";
import { KubeRayOperator } from "./kuberay-operator.ts";
import { Namespace } from "./namespace.ts";
import { NetworkPolicies } from "./network-policies.ts";
import { operatorPolicySpecs, type Scraper } from "./network-policy-specs.ts";

export interface OperatorPlacement {
  /** Version of the Pod Security Standards for its namespace. */
  readonly policyVersion: string;
  /** Whether its namespace admits only the connections that it needs. */
  readonly networkPolicies: boolean;
  /** The pods that read its metrics. */
  readonly scraper: Scraper | undefined;
  /** The runtime's namespace, which must outlive the operator. */
  readonly after: pulumi.Resource;
}

/**
 * KubeRay from its Helm chart with separate definitions. Nothing when the cloud's add-on provides the operator or the
 * cluster already has one, because two operators in one cluster conflict.
 * @returns what a RayCluster depends on
 */
export function createOperator(
  { mode, chart, image, crds: base, namespace }: Config["operator"],
  { crdProvider, cluster: { operatorVersion: version, systemNodeSelector: nodeSelector } }: Cloud,
  { policyVersion, networkPolicies, scraper, after }: OperatorPlacement,
  parent: pulumi.Resource,
): pulumi.Resource[] {
  if (mode !== "helm" || version === undefined) return [];

  const home = new Namespace(
    "operator-namespace",
    { name: namespace, enforce: "restricted", policyVersion },
    { parent },
  );
  // Each exists before the operator and goes after it, which then never runs without them.
  const policies = networkPolicies
    ? [
        new NetworkPolicies(
          "operator-network-policies",
          { namespace: home.namespaceName, specs: operatorPolicySpecs(scraper) },
          { parent, dependsOn: [after] },
        ),
      ]
    : [];
  // They depend only on the API server: the quota controller needs minutes to see new kinds.
  const crds = new KubeRayCrds("kuberay-crds", { base, version }, { parent, provider: crdProvider });
  const operator = new KubeRayOperator(
    "kuberay-operator",
    {
      chart,
      version,
      image: { repository: image, tag: `v${version}` },
      namespace: home.namespaceName,
      nodeSelector,
    },
    { parent, dependsOn: [crds, after, ...policies] },
  );
  return [operator, crds];
}
