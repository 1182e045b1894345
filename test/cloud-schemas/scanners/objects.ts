/** The Kubernetes objects of a plan for scanners, which know the kinds of Kubernetes alone. */

import type { PodTemplate, RayClusterSpec } from "../../../infra/model/ray-cluster.ts";
import type { Capture } from "../../../infra/offline-plan/capture.ts";
import { type Manifest, manifests } from "../../infra/kubernetes/manifests.ts";
import type { KubernetesObject } from "./findings.ts";

/** The pods that KubeRay makes of a RayCluster: one for the head, and one for each worker group, with KubeRay's labels. */
function rayPods({ metadata: { name, namespace }, body }: Manifest): object[] {
  const { headGroupSpec, workerGroupSpecs } = body.spec as RayClusterSpec;
  const pod = (group: string, type: "head" | "worker", { metadata, spec }: PodTemplate) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      name: `${name}-${group}`,
      namespace,
      labels: {
        "ray.io/is-ray-node": "yes",
        "ray.io/cluster": name,
        "ray.io/group": group,
        "ray.io/node-type": type,
      },
    },
    spec,
  });
  return [
    pod("head", "head", headGroupSpec.template),
    ...workerGroupSpecs.map(({ groupName, template }) => pod(groupName, "worker", template)),
  ];
}

/** @returns every object that the stack itself creates; the objects of its Helm charts are not in a plan */
export const objectsOf = (capture: Capture): KubernetesObject[] =>
  manifests(capture).flatMap((manifest) =>
    manifest.kind === "RayCluster" ? [manifest.body, ...rayPods(manifest)] : [manifest.body],
  );
