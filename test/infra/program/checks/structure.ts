/** How the program is built: components, providers, names, and the same resources in a preview as in an update. */

import type { Capture, PlannedResource } from "../../../../infra/offline-plan/capture.ts";
import { Secret, type Value } from "../../../../infra/offline-plan/values.ts";
import { describe } from "../../../support/infra/graph.ts";
import type { StackCaptures } from "../../../support/infra/stacks.ts";

const isProvider = ({ type }: PlannedResource): boolean => type.startsWith("pulumi:providers:");
const managed = ({ resources }: Capture): PlannedResource[] =>
  resources.filter((resource) => resource.kind === "custom" || resource.kind === "remote");

/** A resource that is made inside an `apply` is missing from the preview. */
export function parity({ preview, update }: Pick<StackCaptures, "preview" | "update">): string[] {
  const urns = (capture: Capture) => new Set(capture.resources.map(({ urn }) => urn));
  const [planned, made] = [urns(preview), urns(update)];
  return [
    ...[...made].filter((urn) => !planned.has(urn)).map((urn) => `only in the update: ${urn}`),
    ...[...planned].filter((urn) => !made.has(urn)).map((urn) => `only in the preview: ${urn}`),
  ];
}

/** Every resource belongs to a component of the product's own; components and providers may stand at the top. */
export function parents(capture: Capture): string[] {
  const byUrn = new Map(capture.resources.map((resource) => [resource.urn, resource]));
  return capture.resources.flatMap((resource) => {
    const parent = byUrn.get(resource.parent ?? "");
    if (resource.kind === "stack" || isProvider(resource)) return [];
    if (parent === undefined) return [`${describe(resource)} has no parent`];
    if (parent.kind === "component" || (parent.kind === "stack" && resource.kind === "component")) return [];
    return [`${describe(resource)} is a child of ${describe(parent)}, which is no component`];
  });
}

/** `lakehead:<area>:<Kind>`, children named after the component, outputs registered. */
export function components(capture: Capture): string[] {
  return capture.resources
    .filter(({ kind }) => kind === "component")
    .flatMap((component) => [
      ...(/^lakehead:(aws|gcp|kubernetes):[A-Z]\w+$/.test(component.type) ? [] : [`${describe(component)}: odd type`]),
      ...(component.outputs === undefined ? [`${describe(component)} never registers its outputs`] : []),
    ]);
}

/** No resource is left to a default provider, and every explicit one is in the stack. */
export function providers(capture: Capture): string[] {
  const known = new Set(capture.resources.filter(isProvider).map(({ urn }) => urn));
  return managed(capture)
    .filter((resource) => !isProvider(resource))
    .flatMap((resource) => {
      if (resource.provider === undefined) return [`${describe(resource)} uses the default provider`];
      return known.has(resource.provider) ? [] : [`${describe(resource)} uses a provider that the stack does not have`];
    });
}

/** A Kubernetes provider without a cluster identifier may replace every object when its kubeconfig changes. */
export function kubernetesProviders(capture: Capture): string[] {
  return capture.resources
    .filter(({ type }) => type === "pulumi:providers:kubernetes")
    .flatMap((provider) => [
      ...(typeof provider.inputs.clusterIdentifier === "string" ? [] : [`${provider.name} has no clusterIdentifier`]),
      ...(provider.inputs.kubeconfig === undefined || provider.inputs.kubeconfig instanceof Secret
        ? []
        : [`${provider.name} holds its kubeconfig in the open`]),
    ]);
}

const text = (value: Value | undefined): string | undefined => (typeof value === "string" ? value : undefined);
const field = (value: Value | undefined, key: string): string | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && key in value
    ? text((value as Record<string, Value>)[key])
    : undefined;

/** The name that the cloud or the cluster knows the resource by, where the program chooses it. */
export function physicalName({ type, inputs }: PlannedResource): string | undefined {
  if (type.startsWith("kubernetes:")) {
    const name = field(inputs.metadata, "name") ?? text(inputs.name);
    const namespace = field(inputs.metadata, "namespace") ?? text(inputs.namespace) ?? "";
    return name === undefined ? undefined : `${type} ${namespace}/${name}`;
  }
  const scope = [inputs.clusterName, inputs.cluster, inputs.bucket, inputs.project, inputs.role].map(
    (value) => text(value) ?? "",
  );
  const name = text(inputs.name) ?? text(inputs.nodeGroupName) ?? text(inputs.addonName) ?? text(inputs.accountId);
  return name === undefined ? undefined : `${type} ${scope.join("/")}/${name}`;
}

/** Two resources of one type with one name fight over the same thing in the cloud. */
export function names(capture: Capture): string[] {
  const seen = Map.groupBy(
    managed(capture).filter((resource) => physicalName(resource) !== undefined),
    (resource) => physicalName(resource) ?? "",
  );
  return [...seen].flatMap(([name, resources]) =>
    resources.length === 1 ? [] : [`${name} is the name of ${resources.map(({ urn }) => urn).join(" and ")}`],
  );
}
