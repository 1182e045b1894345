/** Nothing that the stack keeps secret stands anywhere in the open. */

import type { Capture } from "../../../../infra/offline-plan/capture.ts";
import { Computed, plaintext, Secret, type Value } from "../../../../infra/offline-plan/values.ts";
import { describe } from "../../../support/infra/graph.ts";

/** Every place outside of a secret where one of the texts shows. */
export function leaks(capture: Capture, texts: readonly string[]): string[] {
  const within = (where: string, value: Value | undefined): string[] =>
    [...plaintext(value ?? null)].flatMap(([path, found]) =>
      texts.some((text) => found.includes(text)) ? [`${where}: ${path}`] : [],
    );
  return [
    ...capture.resources.flatMap((resource) => [
      ...within(`input of ${describe(resource)}`, resource.inputs),
      ...within(`output of ${describe(resource)}`, resource.outputs),
    ]),
    ...capture.diagnostics.flatMap(({ message }) => within("message", message)),
  ];
}

const hidden = (value: Value): boolean =>
  value instanceof Secret ||
  value instanceof Computed ||
  (typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(hidden));

/** Inputs that the provider treats as secret must be secret to the engine as well, or the state shows them. */
export function openSecrets(capture: Capture): string[] {
  return capture.resources.flatMap((resource) =>
    resource.secretOutputs
      .filter((property) => property in resource.inputs && !hidden(resource.inputs[property] ?? null))
      .map((property) => `${describe(resource)} has ${property} in the open`),
  );
}

/** A kubeconfig must call a plugin for its token, never hold one. */
export function kubeconfigTokens(capture: Capture): string[] {
  return capture.resources
    .filter(({ type }) => type === "pulumi:providers:kubernetes")
    .flatMap(({ name, inputs }) => {
      const { kubeconfig } = inputs;
      const value = kubeconfig instanceof Secret ? kubeconfig.value : undefined;
      return typeof value === "string" && /"?(token|client-key-data|password)"?\s*:/.test(value)
        ? [`the kubeconfig of ${name} holds credentials`]
        : [];
    });
}
