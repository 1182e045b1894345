/** Everything that the client's parameters name is a resource of the same stack. */

import { type ClientParameters, clientParametersSchema } from "../../../../infra/model/client-parameters.ts";
import type { Capture } from "../../../../infra/offline-plan/capture.ts";
import { ofType } from "../../../support/infra/graph.ts";
import { type Manifest, manifests, revealed } from "../../kubernetes/manifests.ts";
import { nodePools, selects } from "./pods.ts";

/** The stack's output `clientParameters`. @throws when it does not fit the client's schema */
export function parametersOf({ resources }: Capture): ClientParameters {
  const stack = resources.find(({ kind }) => kind === "stack");
  if (stack === undefined) throw new Error("no stack");
  const outputs = revealed({ ...stack, inputs: stack.outputs ?? {} });
  const { clientParameters } = outputs;
  return clientParametersSchema.parse(
    typeof clientParameters === "string" ? JSON.parse(clientParameters) : clientParameters,
  );
}

export function unknownToStack(capture: Capture, parameters: ClientParameters): string[] {
  const objects = manifests(capture);
  const pools = nodePools(capture);
  const { resources } = capture;
  const has = (kind: string, test: (object: Manifest) => boolean): boolean =>
    objects.some((object) => object.kind === kind && test(object));
  const accounts = [parameters.head_group, ...parameters.worker_groups].map(({ service_account }) => service_account);
  const clusters = ofType(resources, "aws:eks/cluster:Cluster", "gcp:container/cluster:Cluster").map(revealed);
  const regions = [
    ...ofType(resources, "pulumi:providers:aws").map((provider) => revealed(provider).region),
    ...clusters.map(({ location }) => location),
  ].filter((region) => region !== undefined);
  const roles = ofType(resources, "aws:iam/role:Role").map((role) => revealed(role).name);
  return [
    ...(has("Namespace", ({ metadata }) => metadata.name === parameters.namespace)
      ? []
      : [`namespace ${parameters.namespace}`]),
    ...accounts
      .filter(
        (name) =>
          !has(
            "ServiceAccount",
            ({ metadata }) => metadata.name === name && metadata.namespace === parameters.namespace,
          ),
      )
      .map((name) => `service account ${name}`),
    ...(clusters.length === 0 || clusters.some(({ name }) => name === parameters.cluster_name)
      ? []
      : [`cluster ${parameters.cluster_name}`]),
    ...(clusters.length === 0 || regions.includes(parameters.region ?? "") ? [] : [`region ${parameters.region}`]),
    ...(parameters.role_name === undefined || roles.includes(parameters.role_name)
      ? []
      : [`role ${parameters.role_name}`]),
    ...(parameters.config_method === "EKS_AUTH" && parameters.role_name === undefined
      ? ["EKS_AUTH without a role"]
      : []),
    ...[parameters.head_group, ...parameters.worker_groups]
      .filter(
        ({ node_selector }) =>
          pools.length > 0 && pools.filter(({ labels }) => selects(node_selector, labels)).length !== 1,
      )
      .map(({ node_selector }) => `nodes with ${JSON.stringify(node_selector)}`),
  ];
}

/** Accounts of pods that ask a cloud for data carry the annotation that the runtime's client insists on. */
export function unannotated(capture: Capture, account: string): string[] {
  const cloud = ["eks.amazonaws.com/role-arn", "iam.gke.io/gcp-service-account"];
  return manifests(capture)
    .filter(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === account)
    .filter(({ metadata }) => !cloud.some((key) => (metadata.annotations?.[key] ?? "") !== ""))
    .map(({ metadata }) => `${metadata.name} carries no cloud identity`);
}
